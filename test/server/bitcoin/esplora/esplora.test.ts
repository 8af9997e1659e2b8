/** Every route of the Esplora API over blocks, against a model that reads no store. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { formatAddress } from '../../../../src/ledgers/bitcoin/index.ts';
import { fromHex, toHex } from '../../../../src/util/bytes.ts';
import { checkMerkleBlock, rootFromBranch } from './merkle-check.ts';
import { scriptHashOf } from './model.ts';
import { coinsOf, EsploraRig, LOCKS } from './rig.ts';

const NOWHERE = '00'.repeat(31).concat('ab');

interface Vin {
  inner_redeemscript_asm?: string;
  inner_witnessscript_asm?: string;
}

/** The transaction without the scripts inside of its inputs, which the model does not look for. */
function withoutInner(tx: { vin: Vin[] }): unknown {
  return { ...tx, vin: tx.vin.map(({ inner_redeemscript_asm: _r, inner_witnessscript_asm: _w, ...input }) => input) };
}

async function expectTxs(rig: EsploraRig, path: string, wanted: readonly unknown[]): Promise<void> {
  const answer = await rig.get(path);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json<{ vin: Vin[] }[]>().map(withoutInner), wanted, path);
}

/** Everything the chain says of every script, block and transaction. */
async function checkAll(rig: EsploraRig): Promise<void> {
  const { model } = rig;
  const all = model.txs();
  for (const { script } of Object.values(LOCKS)) await checkScript(rig, script);
  for (let height = 0; height <= rig.height; height++) await checkBlock(rig, height);
  for (const placed of all) {
    const id = placed.tx.getId();
    const answer = await rig.get(`/tx/${id}`);
    assert.deepEqual(withoutInner(answer.json()), model.tx(placed, all));
    await rig.expect(`/tx/${id}/status`, model.status(placed.height));
    await rig.expectText(`/tx/${id}/hex`, placed.tx.toHex());
    assert.equal(toHex((await rig.get(`/tx/${id}/raw`)).bytes), placed.tx.toHex());
    const spends = placed.tx.outs.map((_, vout) => model.outspend(id, vout, all));
    await rig.expect(`/tx/${id}/outspends`, spends);
    for (const [vout, spend] of spends.entries()) await rig.expect(`/tx/${id}/outspend/${vout}`, spend);
  }
}

async function checkScript(rig: EsploraRig, script: Uint8Array): Promise<void> {
  const { model, network } = rig;
  const all = model.txs();
  const txs = model
    .historyOf(script, all)
    .reverse()
    .map((placed) => ({ confirmed: placed.height !== null, json: model.tx(placed, all) }));
  const confirmed = txs.filter((tx) => tx.confirmed).map(({ json }) => json);
  const unconfirmed = txs.filter((tx) => !tx.confirmed).map(({ json }) => json);
  const names = { scripthash: scriptHashOf(script), address: formatAddress(network.parameters, script) };
  for (const [by, name] of Object.entries(names)) {
    if (name === null) continue;
    const path = `/${by}/${name}`;
    await rig.expect(path, { [by]: name, chain_stats: model.stats(script, true), mempool_stats: model.stats(script, false) });
    await rig.expect(`${path}/utxo`, model.utxos(script));
    await expectTxs(rig, `${path}/txs`, [...unconfirmed.slice(0, 50), ...confirmed.slice(0, 25)]);
    await expectTxs(rig, `${path}/txs/mempool`, unconfirmed.slice(0, 50));
    await expectTxs(rig, `${path}/txs/chain`, confirmed.slice(0, 25));
    for (let at = 25; at < confirmed.length + 25; at += 25) {
      const last = confirmed[Math.min(at, confirmed.length) - 1]?.['txid'];
      if (last === undefined) break;
      await expectTxs(rig, `${path}/txs/chain/${last}`, confirmed.slice(at, at + 25));
    }
  }
}

async function checkBlock(rig: EsploraRig, height: number): Promise<void> {
  const { model } = rig;
  const [block, hash, all] = [model.block(height), model.hash(height), model.txs()];
  const txs = all.filter((placed) => placed.height === height);
  const ids = txs.map(({ tx }) => tx.getId());
  const [wanted, given] = [model.blockJson(height), (await rig.get(`/block/${hash}`)).json<Record<string, unknown>>()];
  const ratio = Number(given['difficulty']) / Number(wanted['difficulty']);
  assert.ok(Math.abs(ratio - 1) < 1e-12, `difficulty is off by ${ratio}`);
  assert.deepEqual({ ...given, difficulty: 0 }, { ...wanted, difficulty: 0 });
  await rig.expectText(`/block/${hash}/header`, toHex(model.blocks[height].subarray(0, 80)));
  await rig.expect(`/block/${hash}/status`, {
    in_best_chain: true,
    height,
    next_best: height === rig.height ? null : model.hash(height + 1),
  });
  await rig.expect(`/block/${hash}/txids`, ids);
  await rig.expectText(`/block/${hash}/txid/${ids.length - 1}`, ids[ids.length - 1]);
  assert.deepEqual((await rig.get(`/block/${hash}/raw`)).bytes, model.blocks[height]);
  await rig.expectText(`/block-height/${height}`, hash);
  await expectTxs(
    rig,
    `/block/${hash}/txs`,
    txs.slice(0, 25).map((placed) => model.tx(placed, all)),
  );
  for (const [position, id] of ids.entries()) {
    const proof = (await rig.get(`/tx/${id}/merkle-proof`)).json<{ block_height: number; merkle: string[]; pos: number }>();
    assert.deepEqual([proof.block_height, proof.pos], [height, position]);
    assert.equal(rootFromBranch(id, proof.merkle, position), toHex(block.merkleRoot!));
    checkMerkleBlock((await rig.get(`/tx/${id}/merkleblock-proof`)).text, hash, id, position, ids.length);
  }
}

describe('a chain of forty blocks', () => {
  const rig = new EsploraRig();
  before(() => rig.mineSome(40));
  after(() => rig.close());

  test('is told as the model tells it', async () => {
    await checkAll(rig);
    assert.ok(rig.model.historyOf(LOCKS.p2wpkh.script).length > 5, 'there was something to tell');
  });

  test('the newest block, and lists of blocks downwards', async () => {
    const jsonOf = async (height: number) => (await rig.get(`/block/${rig.model.hash(height)}`)).json();
    await rig.expectText('/blocks/tip/height', '40');
    await rig.expectText('/blocks/tip/hash', rig.model.hash(40));
    await rig.expect('/blocks', await Promise.all([40, 39, 38, 37, 36, 35, 34, 33, 32, 31].map(jsonOf)));
    await rig.expect('/blocks/12', await Promise.all([12, 11, 10, 9, 8, 7, 6, 5, 4, 3].map(jsonOf)));
    await rig.expect('/blocks/2', await Promise.all([2, 1, 0].map(jsonOf)));
  });

  test('after a rollback, and on another branch', async () => {
    const lost = rig.model.hash(36);
    const lostTx = rig.model.block(36).transactions![0].getId();
    rig.back(6);
    await checkAll(rig);
    await rig.expectText(`/block/${lost}`, 'Block not found', 404);
    await rig.expect(`/block/${lost}/status`, { in_best_chain: false, height: null, next_best: null });
    await rig.expectText(`/tx/${lostTx}`, 'Transaction not found', 404);
    await rig.expect(`/tx/${lostTx}/status`, { confirmed: false });
    // Had it gone on, the rest of the history would have looked like all of it.
    await rig.expectText(`/scripthash/${scriptHashOf(LOCKS.bare.script)}/txs/chain/${lostTx}`, 'Transaction not found', 404);
    rig.mineSome(9);
    await checkAll(rig);
    // Nobody asks until the other branch is the longer one.
    rig.back(4);
    rig.random();
    rig.mineSome(6);
    for (const { script } of Object.values(LOCKS)) await checkScript(rig, script);
  });

  test('what is unconfirmed stands in front', async () => {
    const coins = [...rig.coins];
    const parent = rig.spend(coins, 2, [LOCKS.p2tr, LOCKS.p2wpkh]);
    const child = rig.spend(coinsOf(parent), 1, [LOCKS.p2wpkh]);
    rig.announce(parent, child, rig.spend(coins, 1, [LOCKS.p2wpkh]));
    await checkAll(rig);
    rig.mine([parent]);
    await checkAll(rig);
    assert.equal(rig.mempool.size, 2);
  });
});

test('scripts that only their hash names are shown by whoever spends them', async () => {
  const rig = new EsploraRig();
  for (const lock of [LOCKS.p2sh, LOCKS.wrapped, LOCKS.p2wsh, LOCKS.p2wpkh]) rig.mine([], lock);
  const coins = [...rig.coins];
  const inner = async (lock: { readonly script: Uint8Array }) => {
    const mine = coins.filter((coin) => coin.lock.script === lock.script);
    rig.mine([rig.spend(mine, 1)]);
    const id = rig.model.block(rig.height).transactions![1].getId();
    const [{ inner_redeemscript_asm: redeem, inner_witnessscript_asm: witness }] = (await rig.get(`/tx/${id}`)).json<{ vin: Vin[] }>().vin;
    return [redeem, witness];
  };
  const witnessScript = `OP_0 OP_PUSHBYTES_32 ${toHex(LOCKS.p2wsh.script.subarray(2))}`;
  assert.deepEqual(await inner(LOCKS.p2sh), ['OP_PUSHNUM_1', undefined]);
  assert.deepEqual(await inner(LOCKS.wrapped), [witnessScript, 'OP_PUSHNUM_1']);
  assert.deepEqual(await inner(LOCKS.p2wsh), [undefined, 'OP_PUSHNUM_1']);
  assert.deepEqual(await inner(LOCKS.p2wpkh), [undefined, undefined]);
  await rig.close();
});

test('a block of many transactions comes in pages of 25', async () => {
  const rig = new EsploraRig();
  rig.mine();
  const fan = rig.spend(
    [...rig.coins],
    1,
    Array.from({ length: 60 }, () => LOCKS.p2wpkh),
  );
  rig.mine([fan]);
  const coins = [...rig.coins].filter((coin) => coin.value < 100_000_000n);
  rig.mine(Array.from({ length: 60 }, () => rig.spend(coins, 1, [LOCKS.p2wpkh])));
  const all = rig.model.txs();
  const hash = rig.model.hash(3);
  const wanted = all.filter(({ height }) => height === 3).map((placed) => rig.model.tx(placed, all));
  assert.equal(wanted.length, 61);
  for (const start of [0, 25, 50]) await expectTxs(rig, `/block/${hash}/txs/${start}`, wanted.slice(start, start + 25));
  await rig.expectText(`/block/${hash}/txs/75`, 'start index out of range', 400);
  await rig.expectText(`/block/${hash}/txs/10`, 'start index must be a multiple of 25', 400);
  await checkScript(rig, LOCKS.p2wpkh.script);
  await rig.close();
});

test('what is wrong, and what is not there, in the words of these servers', async () => {
  const rig = new EsploraRig();
  rig.mine();
  const [id] = rig.model.txs().map(({ tx }) => tx.getId());
  for (const path of ['/tx/xyz', '/tx/12', `/tx/${id}0`, '/block/qq', '/block/qq/raw', `/tx/${id.slice(1)}g/outspends`])
    await rig.expectText(path, 'Invalid hex string', 400);
  for (const path of [`/tx/${id}/outspend/x`, '/block-height/-1', '/blocks/tip', `/block/${rig.model.hash(1)}/txid/1.5`])
    await rig.expectText(path, 'Invalid number', 400);
  for (const path of [`/tx/${NOWHERE}`, `/tx/${NOWHERE}/hex`, `/tx/${NOWHERE}/raw`, `/tx/${NOWHERE}/outspends`])
    await rig.expectText(path, 'Transaction not found', 404);
  for (const part of ['', '/header', '/txs', '/txids', '/txid/0', '/raw'])
    await rig.expectText(`/block/${NOWHERE}${part}`, 'Block not found', 404);
  for (const path of ['/block-height/2', '/blocks/7']) await rig.expectText(path, 'Block not found', 404);
  for (const part of ['merkle-proof', 'merkleblock-proof'])
    await rig.expectText(`/tx/${NOWHERE}/${part}`, 'Transaction not found or is unconfirmed', 404);
  await rig.expectText(`/block/${rig.model.hash(1)}/txid/1`, 'tx index out of range', 404);
  for (const part of ['', '/txs', '/utxo', '/txs/mempool']) await rig.expectText(`/scripthash/abcd${part}`, 'Invalid scripthash', 400);
  // Of the main network, mistyped, and no address at all.
  for (const text of ['1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt081', 'hello'])
    assert.deepEqual([(await rig.get(`/address/${text}`)).status, (await rig.get(`/address/${text}/utxo`)).type], [400, 'text/plain']);
  await rig.expect(`/tx/${NOWHERE}/outspend/0`, { spent: false });
  await rig.expect(`/tx/${id}/outspend/70000`, { spent: false });
  assert.deepEqual((await rig.get('/address-prefix/bcrt1')).json<{ code: string }>().code, 'NO_ROUTE');
  assert.equal((await rig.get('/v1/blocks/latest')).status, 200, 'our own API stays where it is');
  await rig.close();
});

test('before the first block there is none', async () => {
  const rig = new EsploraRig({ empty: true });
  for (const path of ['/blocks', '/blocks/tip/height', '/blocks/tip/hash', '/block-height/0'])
    await rig.expectText(path, 'Block not found', 404);
  const name = scriptHashOf(fromHex('51'));
  await rig.expect(`/scripthash/${name}/utxo`, []);
  await rig.expect(`/scripthash/${name}/txs`, []);
  assert.equal((await rig.get(`/scripthash/${name}`)).json<{ chain_stats: { tx_count: number } }>().chain_stats.tx_count, 0);
  await rig.close();
});

test('who has the answer already is told so, until a block or the mempool changes it', async () => {
  const rig = new EsploraRig();
  rig.mineSome(4);
  const [chain, both] = [`/block/${rig.model.hash(2)}`, `/scripthash/${scriptHashOf(LOCKS.p2wpkh.script)}/utxo`];
  const tags = async () => [(await rig.get(chain)).headers['etag']!, (await rig.get(both)).headers['etag']!];
  const again = async (path: string, tag: string) => (await rig.get(path, { 'if-none-match': tag })).status;
  const [ofChain, ofBoth] = await tags();
  assert.deepEqual([await again(chain, ofChain), await again(both, ofBoth)], [304, 304]);
  rig.announce(rig.spend([...rig.coins], 1, [LOCKS.p2wpkh]));
  assert.deepEqual([await again(chain, ofChain), await again(both, ofBoth)], [304, 200]);
  rig.mine();
  assert.deepEqual([await again(chain, ofChain), await again(both, ofBoth)], [200, 200]);
  assert.equal((await rig.get('/tx/zz', { 'if-none-match': ofChain })).headers['etag'], undefined, 'a failure has none');
  assert.equal((await rig.get(chain)).headers['x-block-height'], '5');
  await rig.close();
});
