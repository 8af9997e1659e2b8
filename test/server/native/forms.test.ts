/**
 * The other form: rows as interchange records in CBOR, for whoever asks for it
 * by `Accept` or by `format`, with the same rows in the same order as in JSON.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { decode } from 'cborg';
import type { BlockJson, UtxoJson } from '../../../src/query/json.ts';
import { type BlockDelta, decodeBlockDelta, encodeBlockDelta } from '../../../src/query/record-delta.ts';
import { decodeOutputEntry, encodeOutputEntry } from '../../../src/query/records.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { blockRunBy, ROOT } from '../../docs/page-blocks.ts';
import { type Answer, Served } from '../../support/served.ts';

const CBOR = { accept: 'application/cbor' };
/** A second opinion on the bytes: another library. */
const read = (answer: Answer): unknown => decode(answer.bytes, { useMaps: true, allowIndefinite: true });

type Entry = [txId: Uint8Array, index: number, record: Map<number, unknown>];

function assertSameRow([txId, index, record]: Entry, row: UtxoJson): void {
  assert.deepEqual([toHex(txId), index], [row.tx_hash, row.output_index]);
  const spent = row.spent_at_slot !== undefined;
  const utxo = (spent ? record.get(6) : record) as Map<number, unknown>;
  assert.equal(String(utxo.get(1)), row.lovelace_amount);
  assert.deepEqual([utxo.get(8), utxo.get(9)], [row.slot, row.block]);
  if (spent) assert.deepEqual([record.get(1), record.get(2)], [row.spent_at_slot, row.spent_at_block]);
}

describe('records in CBOR', () => {
  let served: Served;
  let address: string;
  before(async () => {
    served = await Served.open({ blocks: 80 });
    [{ addressHex: address }] = served.devnet.chain.utxos.values();
  });
  after(() => served.close());

  test('docs/reference/records.md shows how a program reads them', async () => {
    const url = await served.app.listen({ port: 0, host: '127.0.0.1' });
    const library = pathToFileURL(join(ROOT, 'src/records.ts')).href;
    const text = blockRunBy('test/server/native/forms.test.ts', 'docs/reference/records.md').replace("'unspent/records'", `'${library}'`);
    const program = `const server = '${url}';\n${text}\nexport { created, spent };`;
    const { created, spent } = (await import(`data:text/javascript,${encodeURIComponent(program)}`)) as BlockDelta;
    const own = decodeBlockDelta((await served.get('/blocks/latest?delta=self-contained', CBOR)).bytes);
    assert.ok(created.length > 0);
    assert.deepEqual([created, spent], [own.created, own.spent]);
  });

  test('a list is an array of them, page or stream', async () => {
    for (const query of ['limit=30', 'limit=3', 'limit=all', 'limit=all&order=desc', 'limit=2&page=3']) {
      const json = (await served.get(`/addresses/${address}/utxos?${query}`)).json<UtxoJson[]>();
      const answer = await served.get(`/addresses/${address}/utxos?${query}`, CBOR);
      assert.equal(answer.headers['content-type'], 'application/cbor');
      assert.equal(answer.headers['vary'], 'accept');
      const rows = read(answer) as Entry[];
      assert.equal(rows.length, json.length);
      for (const [i, row] of json.entries()) assertSameRow(rows[i], row);
    }
    const none = await served.get(`/addresses/${'61'.repeat(29)}/utxos?limit=all`, CBOR);
    assert.deepEqual(read(none), []);
  });

  test('one output, and many with nothing for what is not known', async () => {
    const [utxo] = served.devnet.chain.utxos.values();
    const path = `/utxos/${toHex(utxo.txId)}/${utxo.index}`;
    const row = (await served.get(path)).json<UtxoJson>();
    const one = await served.get(path, CBOR);
    assertSameRow(read(one) as Entry, row);
    assert.deepEqual(encodeOutputEntry(decodeOutputEntry(one.bytes)), one.bytes, 'our own reader takes it');
    const many = read(await served.post('/utxos', [utxo.key, `${'ab'.repeat(32)}#0`], CBOR)) as (Entry | null)[];
    assert.equal(many.length, 2);
    assertSameRow(many[0] as Entry, row);
    assert.equal(many[1], null);
    const txs = served.devnet.chain.blocks.flatMap((block) => block.txs);
    const { id } = txs.find(({ creates }) => creates.some(({ key }) => served.devnet.chain.spentBy(key) !== undefined))!;
    const [json, cbor] = [await served.get(`/txs/${id}/utxos`), await served.get(`/txs/${id}/utxos`, CBOR)];
    for (const [i, each] of (read(cbor) as Entry[]).entries()) assertSameRow(each, json.json<UtxoJson[]>()[i]);
  });

  test('a block is what it did', async () => {
    for (const { height, txs, hash } of served.devnet.chain.blocks.slice(-15)) {
      const [names, whole] = await Promise.all(
        ['', '?delta=self-contained'].map(async (query) => decodeBlockDelta((await served.get(`/blocks/${height}${query}`, CBOR)).bytes)),
      );
      assert.deepEqual((await served.get(`/blocks/${height}?delta=compact`, CBOR)).bytes, encodeBlockDelta(names));
      assert.equal(names.form, 'compact');
      const wanted = (list: { key: string }[]) => list.map(({ key }) => key);
      const named = (list: BlockDelta['created']) => list.map(({ txId, index }) => `${toHex(txId)}#${index}`);
      for (const { created, spent, blockHash } of [names, whole]) {
        assert.equal(toHex(blockHash), toHex(hash));
        assert.deepEqual(named(created), wanted(txs.flatMap((tx) => [...tx.creates])));
        assert.deepEqual(named(spent), wanted(txs.flatMap((tx) => [...tx.spends])));
      }
      if (whole.form === 'self-contained')
        assert.deepEqual(
          whole.spent.map(({ spentBy }) => toHex(spentBy!)),
          txs.flatMap((tx) => tx.spends.map(() => tx.id)),
        );
      else assert.equal(txs.length, 0);
    }
    const misplaced = await served.get('/blocks/latest?delta=compact');
    assert.deepEqual([misplaced.status, misplaced.json<{ field: string }>().field], [400, 'delta']);
    assert.equal((await served.get('/blocks/latest?format=json', CBOR)).json<BlockJson>().height, served.devnet.chain.tip?.height);
  });

  test('only who asks for it gets it', async () => {
    const path = `/addresses/${address}/utxos?limit=1`;
    const typeWith = async (accept: string, query = ''): Promise<string> =>
      (await served.get(path + query, { accept })).headers['content-type']?.split(';')[0] ?? '';
    for (const accept of ['*/*', 'application/json', 'text/html', '', 'application/json, application/cbor;q=0.5', 'application/cbor;q=0'])
      assert.equal(await typeWith(accept), 'application/json', accept);
    for (const accept of [
      'application/cbor',
      'Application/CBOR',
      'application/cbor, */*;q=0.1',
      'application/json;q=0.5, application/cbor',
    ])
      assert.equal(await typeWith(accept), 'application/cbor', accept);
    assert.equal(await typeWith('application/json', '&format=cbor'), 'application/cbor');
    assert.equal(await typeWith('application/cbor', '&format=json'), 'application/json');
    const missing = await served.get(`/utxos/${'ab'.repeat(32)}/0`, CBOR);
    assert.equal(missing.headers['content-type'], 'application/problem+json; charset=utf-8', 'a problem is JSON for everybody');
  });
});
