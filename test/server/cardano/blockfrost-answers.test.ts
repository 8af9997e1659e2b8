/**
 * How the Blockfrost API answers, whatever is asked: its failures, what is empty
 * and what is missing, paths as clients write them, pages, datums and scripts.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { blake2b224, blake2b256 } from '../../../src/crypto/hash.ts';
import { formatAddress } from '../../../src/ledgers/cardano/index.ts';
import { concatBytes, fromHex, toHex } from '../../../src/util/bytes.ts';
import { ask, type BlockfrostOutput, everyPage, read } from '../../support/blockfrost-output.ts';
import { CLIENT_KEEPS } from '../../support/client-stage.ts';
import { makeOutputs, QUANTITY_MAX } from '../../support/kupo-match.ts';
import { Served } from '../../support/served.ts';

const OWNER = `60${'ab'.repeat(28)}`;
const OWNER_TEXT = formatAddress(fromHex(OWNER));
const POLICY = '11'.repeat(28);
/** `all` of a key and two times. */
const NATIVE_SCRIPT = `820183${`8200581c${'22'.repeat(28)}`}8204018205${'1903e8'}`;

describe('the Blockfrost API', () => {
  let served: Served;
  let tx: string;
  before(async () => {
    served = await Served.open({ blocks: 20, store: { keeps: CLIENT_KEEPS } });
    const plain = Array.from({ length: 205 }, (_, i) => ({ address: OWNER, lovelace: BigInt(i + 1), assets: {} }));
    tx = makeOutputs(served, [
      { address: OWNER, lovelace: 45_000_000_000_000_000n, assets: { [`${POLICY}.`]: QUANTITY_MAX, [`${POLICY}.aa`]: 2n ** 53n } },
      { address: `60${'cd'.repeat(28)}`, lovelace: 1n, assets: {}, inlineDatum: 'd8799f182aff', scriptRef: `8200${NATIVE_SCRIPT}` },
      ...plain,
    ]);
  });
  after(() => served.close());

  test('is at several paths, whatever slashes there are', async () => {
    const wanted = await read(served, `/addresses/${OWNER_TEXT}/utxos`);
    for (const base of ['/blockfrost', '/blockfrost/api/v0']) {
      for (const path of [`/addresses/${OWNER_TEXT}/utxos`, `//addresses/${OWNER_TEXT}/utxos`, `//addresses//${OWNER_TEXT}/utxos`]) {
        const answer = await served.get(`/${base}${path}`, { project_id: 'whatever' });
        assert.deepEqual([answer.status, answer.json()], [200, wanted]);
        assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
      }
    }
    const again = await served.get(`//blockfrost/blocks/latest`);
    assert.equal((await served.get('//blockfrost/blocks/latest', { 'if-none-match': again.headers['etag']! })).status, 304);
  });

  test('has pages of a hundred, and an empty one behind the last', async () => {
    const path = `/addresses/${OWNER_TEXT}/utxos`;
    const pages = await Promise.all([1, 2, 3, 4, 9].map((page) => read<BlockfrostOutput[]>(served, `${path}?page=${page}`)));
    assert.deepEqual(
      pages.map(({ length }) => length),
      [100, 100, 6, 0, 0],
    );
    assert.deepEqual(pages.flat(), await everyPage(served, path, 13));
    const all = pages.flat();
    for (const [page, count] of [
      [3, 50],
      [2, 100],
      [41, 5],
    ])
      assert.deepEqual(await read(served, `${path}?page=${page}&count=${count}`), all.slice((page - 1) * count, page * count));
    for (const query of ['count=0', 'count=101', 'page=0', 'page=x', 'order=up', 'count=1&count=2']) {
      const answer = await ask(served, `${path}?${query}`);
      assert.equal(answer.status, 400, `${query}: ${answer.text}`);
    }
    assert.equal((await ask(served, `${path}?page=9999999`)).status, 413, 'too far behind what was read');
  });

  test('keeps every quantity, and an asset without a name', async () => {
    const [{ amount }] = await read<BlockfrostOutput[]>(served, `/addresses/${OWNER_TEXT}/utxos?count=1`);
    assert.deepEqual(amount, [
      { unit: 'lovelace', quantity: '45000000000000000' },
      { unit: POLICY, quantity: `${QUANTITY_MAX}` },
      { unit: `${POLICY}aa`, quantity: '9007199254740992' },
    ]);
    assert.equal((await read<object[]>(served, `/addresses/${OWNER_TEXT}/utxos/${POLICY}`)).length, 1);
    assert.equal((await read<object[]>(served, `/addresses/${OWNER_TEXT}/utxos/lovelace`)).length, 100);
    assert.deepEqual(await read(served, `/assets/${POLICY}/addresses?count=2`), [{ address: OWNER_TEXT, quantity: `${QUANTITY_MAX}` }]);
    const asset = await read<Record<string, unknown>>(served, `/assets/${POLICY}`);
    assert.deepEqual([asset['asset_name'], asset['quantity']], [null, `${QUANTITY_MAX}`]);
    assert.deepEqual(await read(served, `/assets/policy/${POLICY}?order=desc`), [
      { asset: `${POLICY}aa`, quantity: '9007199254740992' },
      { asset: POLICY, quantity: `${QUANTITY_MAX}` },
    ]);
  });

  test('gives datums and scripts as bytes and as JSON', async () => {
    const datum = toHex(blake2b256(fromHex('d8799f182aff')));
    assert.deepEqual(await read(served, `/scripts/datum/${datum}/cbor`), { cbor: 'd8799f182aff' });
    assert.deepEqual(await read(served, `/scripts/datum/${datum}`), { json_value: { constructor: 0, fields: [{ int: 42 }] } });
    const script = toHex(blake2b224(concatBytes(Uint8Array.of(0), fromHex(NATIVE_SCRIPT))));
    assert.deepEqual(await read(served, `/scripts/${script}`), { script_hash: script, type: 'timelock', serialised_size: null });
    assert.deepEqual(await read(served, `/scripts/${script}/cbor`), { cbor: null });
    assert.deepEqual(await read(served, `/scripts/${script}/json`), {
      json: {
        type: 'all',
        scripts: [
          { type: 'sig', keyHash: '22'.repeat(28) },
          { type: 'after', slot: 1 },
          { type: 'before', slot: 1000 },
        ],
      },
    });
  });

  test('tells what is not there from what it cannot know', async () => {
    const nobody = formatAddress(fromHex(`60${'00'.repeat(28)}`));
    assert.deepEqual(await read(served, `/addresses/${nobody}/utxos`), [], 'some clients take 404 for a failure');
    const [none, hash28, hash32] = ['33'.repeat(28), '00'.repeat(28), '00'.repeat(32)];
    const missing = [
      `/assets/${none}`,
      `/assets/${none}/addresses`,
      `/assets/policy/${none}`,
      `/scripts/${hash28}`,
      `/scripts/datum/${hash32}`,
      `/txs/${hash32}/utxos`,
      `/txs/${hash32}/cbor`,
      `/blocks/${hash32}`,
      '/blocks/99999',
      '/epochs/77',
    ];
    for (const path of missing) assert.equal((await ask(served, path)).status, 404, path);
    const stake = formatAddress(fromHex(`e0${'00'.repeat(28)}`));
    const unknown = ['/network', `/accounts/${stake}`, '/epochs/latest/parameters', '/epochs/5/parameters', '/mempool', '/pools'];
    for (const path of unknown) {
      const answer = await ask(served, path);
      assert.deepEqual(
        [answer.status, answer.json<{ code: string }>().code],
        [501, 'UNSUPPORTED'],
        `${path}: 404 would say that there is none`,
      );
    }
    const mainnet = formatAddress(fromHex(`61${'ab'.repeat(28)}`));
    const wrong = [
      '/addresses/nobody/utxos',
      `/addresses/${stake}/utxos`,
      `/addresses/${mainnet}/utxos`,
      `/accounts/${OWNER_TEXT}/utxos`,
      `/addresses/${OWNER_TEXT}/utxos/xyz`,
      '/assets/xyz',
      '/scripts/xyz',
      '/txs/xyz/utxos',
      '/blocks/xyz',
    ];
    for (const path of wrong) assert.equal((await ask(served, path)).status, 400, path);
  });

  test('knows that a transaction is in a block, which clients wait for', async () => {
    assert.deepEqual((await served.get(`//blockfrost/txs/${tx}/cbor`)).json(), { cbor: null });
    assert.equal((await served.get(`//blockfrost/txs/${tx}/metadata/cbor`)).text, 'null');
  });

  test('says who it is', async () => {
    for (const path of ['/', '/health', '/health/clock', '/genesis', '/epochs/latest', '/epochs/0', '/blocks/latest'])
      assert.equal((await ask(served, path)).status, 200, path);
  });
});
