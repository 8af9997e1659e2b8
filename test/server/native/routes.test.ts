/**
 * Every route once or more, against the devnet's own model: what it gives, and
 * what it says when there is nothing to give. That each answer is what the
 * OpenAPI document says is checked by `Served` itself.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ModelUtxo } from '../../../src/chains/cardano/devnet/model.ts';
import { formatAddress, readAddress, stakeAddressOf } from '../../../src/ledgers/cardano/index.ts';
import type { BalanceJson, BlockJson, SeenJson, UtxoJson } from '../../../src/query/json.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { keep } from '../../support/keep.ts';
import { type Answer, assertProblem, Served } from '../../support/served.ts';

const nameOf = ({ tx_hash, output_index }: UtxoJson): string => `${tx_hash}#${output_index}`;
const names = (answer: Answer): string[] => answer.json<UtxoJson[]>().map(nameOf);
const keys = (utxos: readonly ModelUtxo[]): string[] => utxos.map(({ key }) => key);
const sorted = (list: readonly string[]): string[] => [...list].sort();

describe('routes', () => {
  let served: Served;
  let utxos: readonly ModelUtxo[];
  let rows: readonly UtxoJson[];

  before(async () => {
    served = await Served.open({ flavour: 'ancient', blocks: 130 });
    utxos = [...served.devnet.chain.utxos.values()];
    rows = (await served.post('/utxos', keys(utxos).slice(0, 400))).json<UtxoJson[]>();
  });
  after(() => served.close());

  const holdersOf = (wanted: (utxo: ModelUtxo) => boolean): string[] => sorted(keys(utxos.filter(wanted)));
  const all = async (path: string): Promise<string[]> => sorted(names(await served.get(`${path}?limit=all`)));

  test('outputs of an address, however it is written', async () => {
    for (const hex of new Set(utxos.map((utxo) => utxo.addressHex))) {
      const wanted = holdersOf((utxo) => utxo.addressHex === hex);
      for (const text of [hex, hex.toUpperCase(), formatAddress(fromHex(hex))]) {
        assert.deepEqual(await all(`/addresses/${text}/utxos`), wanted, text);
      }
    }
    assert.deepEqual((await served.get(`/addresses/${toHex(new Uint8Array(29).fill(0x61))}/utxos`)).json(), []);
  });

  test('outputs of a payment credential and of a stake credential', async () => {
    for (const hex of new Set(utxos.map((utxo) => utxo.addressHex))) {
      const { payment, stake } = readAddress(fromHex(hex));
      const has = (part: 'payment' | 'stake', hash: Uint8Array) => (utxo: ModelUtxo) => {
        const own = readAddress(fromHex(utxo.addressHex))[part];
        return own !== null && toHex(own.hash) === toHex(hash);
      };
      if (payment !== null)
        assert.deepEqual(await all(`/credentials/${toHex(payment.hash)}/utxos`), holdersOf(has('payment', payment.hash)));
      const stakeAddress = stakeAddressOf(fromHex(hex));
      if (stake === null || stakeAddress === null) continue;
      for (const text of [toHex(stake.hash), formatAddress(stakeAddress), toHex(stakeAddress)])
        assert.deepEqual(await all(`/stake/${text}/utxos`), holdersOf(has('stake', stake.hash)), text);
    }
  });

  test('outputs that hold an asset, or assets of a policy, or an asset at an address', async () => {
    const units = new Set(utxos.flatMap((utxo) => [...utxo.assets.keys()]));
    assert.ok(units.size > 2, 'the chain has assets');
    for (const unit of units) {
      const [policy, name] = unit.split('.');
      const wanted = holdersOf((utxo) => utxo.assets.has(unit));
      assert.deepEqual(await all(`/assets/${policy}${name}/utxos`), wanted);
      const ofPolicy = holdersOf((utxo) => [...utxo.assets.keys()].some((own) => own.startsWith(policy)));
      assert.deepEqual(await all(`/policies/${policy}/utxos`), ofPolicy);
      const { addressHex } = utxos.find((utxo) => utxo.assets.has(unit))!;
      const there = holdersOf((utxo) => utxo.addressHex === addressHex && utxo.assets.has(unit));
      assert.deepEqual(await all(`/addresses/${addressHex}/utxos/${policy}${name}`), there);
      const paged = await served.get(`/addresses/${addressHex}/utxos/${policy}${name}?limit=1`);
      assert.equal(paged.json<UtxoJson[]>().length, 1);
      assert.equal(paged.headers['x-next-after'] !== undefined, there.length > 1, 'a page that is not the last says so');
    }
  });

  test('outputs with a datum or a reference script, and both by their hash', async () => {
    const scripts = new Map(rows.flatMap((row) => (row.reference_script_hash === undefined ? [] : [[row.reference_script_hash, row]])));
    const datums = rows.filter((row) => row.inline_datum !== undefined);
    assert.ok(scripts.size > 0 && datums.length > 0, 'the chain has both');
    for (const [hash, row] of scripts) {
      const holders = await served.get(`/scripts/${hash}/utxos?limit=all`);
      assert.ok(names(holders).includes(nameOf(row)));
      assert.ok(holders.json<UtxoJson[]>().every((holder) => holder.reference_script_hash === hash));
      const script = (await served.get(`/scripts/${hash}`)).json<SeenJson>();
      assert.deepEqual([script.hash, script.cbor], [hash, row.script_ref]);
    }
    const hash = rows.find((row) => row.data_hash !== undefined)?.data_hash;
    assert.ok(hash !== undefined);
    assert.ok((await all(`/datums/${hash}/utxos`)).length > 0);
    const brought = served.devnet.chain.blocks.flatMap((block) => served.devnet.brought(block));
    const datum = brought.find(({ kind }) => kind === 'datum');
    assert.ok(datum !== undefined);
    const seen = (await served.get(`/datums/${toHex(datum.hash)}`)).json<SeenJson>();
    assert.equal(seen.cbor, toHex(datum.bytes));
    assertProblem(await served.get(`/datums/${'00'.repeat(32)}`), 'NOT_FOUND', 404);
    assertProblem(await served.get(`/scripts/${'00'.repeat(28)}`), 'NOT_FOUND', 404);
  });

  test('balances are the sums of the outputs', async () => {
    for (const hex of new Set(utxos.map((utxo) => utxo.addressHex))) {
      const own = utxos.filter((utxo) => utxo.addressHex === hex);
      const balance = (await served.get(`/addresses/${hex}/balance`)).json<BalanceJson>();
      const lovelace = own.reduce((sum, utxo) => sum + utxo.lovelace, 0n);
      assert.deepEqual([balance.utxo_count, balance.lovelace_amount], [own.length, lovelace.toString()]);
      const assets = new Map<string, bigint>();
      for (const utxo of own) for (const [unit, quantity] of utxo.assets) assets.set(unit, (assets.get(unit) ?? 0n) + quantity);
      const [first, ...others] = balance.amounts;
      assert.deepEqual(first, { unit: 'lovelace', quantity: lovelace.toString() });
      assert.deepEqual(
        new Map(others.map(({ policy_id, asset_name, quantity }) => [`${policy_id}.${asset_name}`, BigInt(quantity)])),
        assets,
      );
      const stakeAddress = stakeAddressOf(fromHex(hex));
      if (stakeAddress === null) continue;
      const staked = (await served.get(`/stake/${formatAddress(stakeAddress)}/balance`)).json<BalanceJson>();
      assert.ok(staked.utxo_count >= own.length);
    }
  });

  test('an output, unspent or spent, and many at once in the order asked for', async () => {
    const { blocks } = served.devnet.chain;
    const spend = blocks.at(-1 - blocks.toReversed().findIndex(({ txs }) => txs.some((tx) => tx.spends.length > 0)))!;
    const tx = spend.txs.find(({ spends }) => spends.length > 0)!;
    const [gone] = tx.spends;
    const spent = (await served.get(`/utxos/${toHex(gone.txId)}/${gone.index}`)).json<UtxoJson>();
    assert.deepEqual([nameOf(spent), spent.spent_tx_hash, spent.spent_at_slot], [gone.key, tx.id, spend.slot]);
    const [unspent] = utxos;
    const unknown = `${'ab'.repeat(32)}#7`;
    // As many as a page may have, however they are spelled.
    const most = Array<string>(served.context.config.server.rowsMax).fill(`${'ab'.repeat(32)}#65535`);
    for (const text of [JSON.stringify(most), JSON.stringify(most, null, 2)])
      assert.equal((await served.post('/utxos', text)).json<unknown[]>().length, most.length);
    assertProblem(await served.post('/utxos', [...most, most[0]]), 'USAGE', 400, 'body');
    const answer = await served.post('/utxos', [unspent.key, unknown, gone.key, unspent.key]);
    const many = answer.json<(UtxoJson | null)[]>();
    assert.deepEqual(
      many.map((row) => row && nameOf(row)),
      [unspent.key, null, gone.key, unspent.key],
    );
    assert.deepEqual(many[2], spent);
    assertProblem(await served.get(`/utxos/${'ab'.repeat(32)}/0`), 'NOT_FOUND', 404);
  });

  test('the outputs of a transaction', async () => {
    for (const { txs } of served.devnet.chain.blocks.slice(-20)) {
      for (const { id, creates } of txs) assert.deepEqual(names(await served.get(`/txs/${id}/utxos`)), keys(creates));
    }
    assertProblem(await served.get(`/txs/${'ab'.repeat(32)}/utxos`), 'NOT_FOUND', 404);
  });

  test('blocks by hash, height and slot', async () => {
    const { blocks, tip } = served.devnet.chain;
    const latest = (await served.get('/blocks/latest')).json<BlockJson>();
    assert.equal(latest.hash, toHex(tip!.hash));
    for (const { hash, height, slot, boundary, txs } of blocks.slice(-40)) {
      const byHash = (await served.get(`/blocks/${toHex(hash)}`)).json<BlockJson>();
      assert.deepEqual([byHash.hash, byHash.height, byHash.slot, byHash.tx_count], [toHex(hash), height, slot, txs.length]);
      if (boundary) continue;
      for (const id of [`${height}`, `height:${height}`, `slot:${slot}`])
        assert.deepEqual((await served.get(`/blocks/${id}`)).json(), byHash, id);
    }
    assertProblem(await served.get('/blocks/99999'), 'POINT_UNKNOWN', 404);
    assertProblem(await served.get(`/blocks/${'ab'.repeat(32)}`), 'POINT_UNKNOWN', 404);
    assertProblem(await served.get('/blocks/newest'), 'USAGE', 400, 'block');
  });

  test('what cannot be a key is refused, with the part that is wrong', async () => {
    const vkh = 'addr_vkh1pn7tmqxhlqj2mqz5l7mjcdsnstqy3gu6k8k7sdr7kfh5cz7t8z0';
    for (const [path, field] of [
      ['/addresses/addr_test1nothing/utxos', 'address'],
      ['/addresses/xyz/balance', 'address'],
      [`/addresses/${'00'.repeat(29)}/utxos/abc`, 'asset'],
      ['/credentials/abcd/utxos', 'credential'],
      [`/credentials/${vkh}x/utxos`, 'credential'],
      ['/stake/abcd/utxos', 'stake'],
      ['/assets/abcd/utxos', 'unit'],
      ['/policies/abcd/utxos', 'policy'],
      ['/scripts/abcd/utxos', 'hash'],
      ['/datums/abcd/utxos', 'hash'],
      ['/datums/abcd', 'hash'],
      ['/utxos/abcd/0', 'tx'],
      [`/utxos/${'ab'.repeat(32)}/4294967296`, 'index'],
      [`/utxos/${'ab'.repeat(32)}/-1`, 'index'],
      ['/txs/abcd/utxos', 'tx'],
    ]) {
      assertProblem(await served.get(path), 'USAGE', 400, field);
    }
    for (const body of [[], {}, ['abcd#0'], [`${'ab'.repeat(32)}#4294967296`], [7], '{"a":', 'null'])
      assertProblem(await served.post('/utxos', body), 'USAGE', 400);
    assertProblem(await served.post('/utxos', [`${'ab'.repeat(32)}#0`], { 'content-type': 'text/plain' }), 'USAGE', 400);
  });

  test('a parameter that no route has is a mistake, not a wish', async () => {
    const [{ addressHex }] = utxos;
    assertProblem(await served.get(`/addresses/${addressHex}/utxos?limt=3`), 'USAGE', 400, 'limt');
    assertProblem(await served.get('/blocks/latest?at=5'), 'USAGE', 400, 'at');
    assertProblem(await served.get(`/addresses/${addressHex}/utxos?limit=1&limit=2`), 'USAGE', 400, 'limit');
  });

  test('no route, no answer; other methods neither', async () => {
    for (const path of ['//nothing', '/nothing', '/utxos', '///api/v1/nothing', '/addresses//utxos'])
      assertProblem(await served.get(path), 'NO_ROUTE', 404);
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const)
      assertProblem(await served.ask({ method, url: '/api/v1/status' }), 'NO_ROUTE', 404);
  });

  test('HEAD is GET without the body', async () => {
    const [{ addressHex, txId, index }] = utxos;
    for (const path of ['/status', '/blocks/latest', `/utxos/${toHex(txId)}/${index}`, `/addresses/${addressHex}/utxos?limit=3`]) {
      const get = await served.get(path);
      const head = await served.ask({ method: 'HEAD', url: `/api/v1${path}` });
      assert.deepEqual([head.status, head.text, head.headers['etag']], [200, '', get.headers['etag']]);
      assert.equal(head.headers['content-length'], get.headers['content-length']);
    }
    const all = await served.ask({ method: 'HEAD', url: `/api/v1/addresses/${addressHex}/utxos?limit=all` });
    assert.deepEqual([all.status, all.text, all.headers['content-length']], [200, '', undefined]);
  });
});

describe('a store that keeps less', () => {
  test('says which switch is off, and never that there is nothing', async () => {
    const served = await Served.open({ blocks: 10, store: { keeps: keep('index.address', 'setHash', 'csmt') } });
    const hash28 = '00'.repeat(28);
    for (const path of [`/credentials/${hash28}/utxos`, `/stake/${hash28}/utxos`, `/assets/${hash28}/utxos`, `/policies/${hash28}/utxos`])
      assertProblem(await served.get(path), 'UNSUPPORTED', 501);
    for (const path of [`/scripts/${hash28}`, `/datums/${'00'.repeat(32)}`, `/datums/${'00'.repeat(32)}/utxos`, `/scripts/${hash28}/utxos`])
      assertProblem(await served.get(path), 'UNSUPPORTED', 501);
    // A balance that is not kept is added up.
    const [{ addressHex }] = [...served.devnet.chain.utxos.values()];
    assert.ok((await served.get(`/addresses/${addressHex}/balance`)).json<BalanceJson>().utxo_count > 0);
    await served.close();
  });

  test('a store without a block answers, and names none', async () => {
    const served = await Served.open({ blocks: 0 });
    const empty = await served.get(`/addresses/${'61'.repeat(29)}/utxos`);
    assert.deepEqual([empty.status, empty.json(), empty.point], [200, [], null]);
    assertProblem(await served.get('/blocks/latest'), 'NOT_FOUND', 404);
    assert.equal((await served.get('/status')).json<{ tip: unknown }>().tip, null);
    await served.close();
  });
});
