/** Unconfirmed transactions: the mempool's routes, handing transactions on, and what is left when no history is kept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Transaction } from 'bitcoinjs-lib';
import { decodeTx, formatId } from '../../../../src/ledgers/bitcoin/index.ts';
import { toHex } from '../../../../src/util/bytes.ts';
import { ESPLORA_BODY_BYTES_MAX } from '../../../../src/util/limits.ts';
import { scriptHashOf } from './model.ts';
import { coinsOf, EsploraRig, LOCKS } from './rig.ts';

const idOf = (raw: Uint8Array): string => formatId(decodeTx(raw).id);

/** A chain with many coins of one kind, none of them spent. */
function wealthy(options: ConstructorParameters<typeof EsploraRig>[0] = {}): EsploraRig {
  const rig = new EsploraRig(options);
  rig.mine();
  rig.mine([
    rig.spend(
      [...rig.coins],
      1,
      Array.from({ length: 80 }, () => LOCKS.p2wpkh),
    ),
  ]);
  return rig;
}

test('the mempool as a whole', async () => {
  const rig = wealthy();
  const coins = [...rig.coins].filter(({ value }) => value < 100_000_000n);
  const fees = [200n, 5000n, 100_000n, 777n, 1000n, 2n, 40_000n, 1n, 900n, 12_345n, 55_555n, 3n];
  const txs = fees.map((fee) => rig.spend(coins, 1, [LOCKS.p2tr], fee));
  rig.announce(...txs);
  const vsizes = txs.map((raw) => Transaction.fromBuffer(Buffer.from(raw)).virtualSize());
  const { fee_histogram: histogram, ...rest } = (await rig.get('/mempool')).json<{ fee_histogram: [number, number][] }>();
  const total = vsizes.reduce((sum, size) => sum + size, 0);
  assert.deepEqual(rest, { count: 12, vsize: total, total_fee: Number(fees.reduce((sum, fee) => sum + fee, 0n)) });
  assert.equal(
    histogram.reduce((sum, [, vsize]) => sum + vsize, 0),
    total,
    'every virtual byte is at one rate',
  );
  assert.deepEqual(
    histogram.map(([rate]) => rate),
    histogram.map(([rate]) => rate).sort((a, b) => b - a),
  );
  await rig.expect('/mempool/txids', txs.map(idOf));
  const newest = txs.map((raw, i) => ({ txid: idOf(raw), fee: Number(fees[i]), vsize: vsizes[i], value: Number(coinsOf(raw)[0].value) }));
  await rig.expect('/mempool/recent', newest.reverse().slice(0, 10));
  const estimates = (await rig.get('/fee-estimates')).json<Record<string, number>>();
  assert.deepEqual(Object.keys(estimates).map(Number), [...Array.from({ length: 25 }, (_, i) => i + 1), 144, 504, 1008]);
  for (const [target, rate] of Object.entries(estimates)) assert.ok(rate >= 1 && rate <= estimates['1'], `${target}: ${rate}`);
  await rig.close();
});

test('an empty mempool', async () => {
  const rig = new EsploraRig();
  await rig.expect('/mempool', { count: 0, vsize: 0, total_fee: 0, fee_histogram: [] });
  await rig.expect('/mempool/txids', []);
  await rig.expect('/mempool/recent', []);
  assert.equal((await rig.get('/fee-estimates')).json<Record<string, number>>()['1'], 1);
  await rig.close();
});

test('fifty unconfirmed transactions of a script at most, and paging goes on behind the confirmed ones', async () => {
  const rig = wealthy();
  const coins = [...rig.coins].filter(({ value }) => value < 100_000_000n);
  const txs = Array.from({ length: 60 }, () => rig.spend(coins, 1, [LOCKS.p2wpkh]));
  rig.announce(...txs);
  const path = `/scripthash/${scriptHashOf(LOCKS.p2wpkh.script)}`;
  const ids = async (part: string) => (await rig.get(`${path}${part}`)).json<{ txid: string }[]>().map(({ txid }) => txid);
  const confirmed = rig.model.historyOf(LOCKS.p2wpkh.script).flatMap(({ tx, height }) => (height === null ? [] : [tx.getId()]));
  const newestFirst = txs.map(idOf).reverse().slice(0, 50);
  assert.deepEqual(await ids('/txs'), [...newestFirst, ...confirmed.reverse()]);
  assert.deepEqual(await ids('/txs/mempool'), newestFirst);
  assert.deepEqual(await ids(`/txs/chain/${idOf(txs[3])}`), [], 'nothing is confirmed behind what is not');
  assert.deepEqual(await ids(`/txs?after_txid=${confirmed[0]}`), confirmed.slice(1));
  await rig.close();
});

test('a replaced transaction is gone, and what it spent is spent by the other', async () => {
  const rig = wealthy();
  const [coin] = rig.coins.filter(({ value }) => value < 100_000_000n);
  const [first, second] = [rig.spend([coin], 1, [LOCKS.p2tr], 500n), rig.spend([coin], 1, [LOCKS.p2pkh], 5000n)];
  rig.announce(first);
  rig.model.mempool = [];
  rig.announce(second);
  await rig.expectText(`/tx/${idOf(first)}`, 'Transaction not found', 404);
  const spend = { spent: true, txid: idOf(second), vin: 0, status: { confirmed: false } };
  await rig.expect(`/tx/${formatId(coin.txId)}/outspend/${coin.index}`, spend);
  await rig.expect(`/scripthash/${scriptHashOf(LOCKS.p2tr.script)}/utxo`, []);
  await rig.expect(`/scripthash/${scriptHashOf(LOCKS.p2pkh.script)}/utxo`, rig.model.utxos(LOCKS.p2pkh.script));
  await rig.expectText(`/tx/${idOf(second)}/merkle-proof`, 'Transaction not found or is unconfirmed', 404);
  await rig.close();
});

test('a transaction handed over', async () => {
  const rig = wealthy();
  const raw = rig.spend([...rig.coins], 1);
  const foreign = await rig.post('/tx', toHex(raw), { 'content-type': 'text/plain', origin: 'https://evil.example' });
  assert.deepEqual([foreign.status, rig.submitted.length], [403, 0], 'not from a page of another origin');
  for (const type of [undefined, 'text/plain', 'application/x-www-form-urlencoded', 'application/json']) {
    const answer = await rig.post('/tx', `${toHex(raw)}\n`, type === undefined ? {} : { 'content-type': type });
    assert.deepEqual([answer.status, answer.type, answer.text], [200, 'text/plain', idOf(raw)], type);
  }
  assert.deepEqual(rig.submitted[0], raw);
  assert.equal((await rig.get(`/tx/${idOf(raw)}`)).status, 200);
  rig.refuse = () => 'sendrawtransaction RPC error -26: min relay fee not met, 1 < 141';
  const refused = await rig.post('/tx', toHex(raw));
  assert.deepEqual([refused.status, refused.type, refused.text], [400, 'text/plain', rig.refuse(raw)]);
  const before = rig.submitted.length;
  for (const [body, words] of [
    ['zz', /^Invalid hex string$/],
    ['', /^Invalid hex string$/],
    [toHex(raw).slice(2), /TX decode failed/],
    ['00', /TX decode failed/],
  ] as const) {
    const answer = await rig.post('/tx', body);
    assert.deepEqual([answer.status, answer.type], [400, 'text/plain'], body);
    assert.match(answer.text, words);
  }
  const long = await rig.post('/tx', 'a'.repeat(ESPLORA_BODY_BYTES_MAX + 1));
  assert.deepEqual([long.status, long.text], [413, 'Request body too large']);
  assert.equal(rig.submitted.length, before, 'none of these reached the node');
  await rig.close();
});

test('a package is handed over one by one', async () => {
  const rig = wealthy();
  const coins = [...rig.coins];
  const parent = rig.spend(coins, 1, [LOCKS.p2wpkh], 300n);
  const child = rig.spend(coinsOf(parent), 1, [LOCKS.p2tr], 700n);
  const wtxid = (raw: Uint8Array) => formatId(decodeTx(raw).witnessId);
  const vsize = (raw: Uint8Array) => Transaction.fromBuffer(Buffer.from(raw)).virtualSize();
  const body = JSON.stringify([parent, child].map((raw) => toHex(raw)));
  assert.deepEqual((await rig.post('/txs/package', body)).json(), {
    package_msg: 'success',
    'tx-results': {
      [wtxid(parent)]: { txid: idOf(parent), vsize: vsize(parent), fees: { base: 0.000003 } },
      [wtxid(child)]: { txid: idOf(child), vsize: vsize(child), fees: { base: 0.000007 } },
    },
    'replaced-transactions': [],
  });
  assert.deepEqual(rig.submitted, [parent, child]);
  const [low, next] = [rig.spend(coins, 1), rig.spend(coins, 1)];
  rig.refuse = () => 'min relay fee not met';
  const refused = (await rig.post('/txs/package', JSON.stringify([low, next].map((raw) => toHex(raw))))).json<Record<string, unknown>>();
  assert.equal(refused['package_msg'], 'transaction failed');
  assert.deepEqual(refused['tx-results'], {
    [wtxid(low)]: { txid: idOf(low), error: 'min relay fee not met' },
    [wtxid(next)]: { txid: idOf(next), error: 'package-not-validated' },
  });
  for (const wrong of ['', '{}', '[]', '[1]', '["zz"]', '["00"]', JSON.stringify(Array.from({ length: 26 }, () => toHex(low)))])
    assert.equal((await rig.post('/txs/package', wrong)).status, 400, wrong);
  assert.equal((await rig.post('/txs/package?maxfeerate=1', body)).status, 501);
  await rig.close();
});

test('without a history: unspent outputs, blocks, the mempool; the rest names the setting', async () => {
  const rig = wealthy({ history: false });
  const coins = [...rig.coins];
  const spend = rig.spend(coins, 2);
  rig.mine([spend]);
  const unconfirmed = rig.spend(coins, 1);
  rig.announce(unconfirmed);
  const path = `/scripthash/${scriptHashOf(LOCKS.p2wpkh.script)}`;
  await rig.expect(`${path}/utxo`, rig.model.utxos(LOCKS.p2wpkh.script));
  const [{ tx }] = rig.model.txs().filter(({ height }) => height === 2 && height !== null);
  await rig.expect(`/tx/${tx.getId()}/status`, rig.model.status(2));
  await rig.expect(`/tx/${idOf(unconfirmed)}`, (await rig.get(`${path}/txs/mempool`)).json<unknown[]>()[0]);
  assert.equal((await rig.get(`/block/${rig.model.hash(2)}`)).status, 200);
  const fan = rig.model.block(2).transactions![1];
  for (let vout = 0; vout < fan.outs.length; vout++)
    await rig.expect(`/tx/${fan.getId()}/outspend/${vout}`, rig.model.outspend(fan.getId(), vout));
  const hash = rig.model.hash(2);
  const needed = [path, `${path}/txs`, `${path}/txs/chain`, `/tx/${fan.getId()}`, `/tx/${fan.getId()}/hex`, `/tx/${fan.getId()}/outspends`];
  for (const url of [...needed, `/tx/${fan.getId()}/merkle-proof`, `/block/${hash}/txs`, `/block/${hash}/txids`, `/block/${hash}/raw`]) {
    const answer = await rig.get(url);
    assert.deepEqual([answer.status, answer.json<{ code: string; setting: string }>().code], [501, 'UNSUPPORTED'], url);
    assert.match(answer.text, /utxo\.history/);
  }
  await rig.close();
});

test('without a history, what was forgotten is not called unspent', async () => {
  const rig = wealthy({ history: false, pruneDepth: 2 });
  const [coin] = rig.coins;
  const url = `/tx/${formatId(coin.txId)}/outspend/${coin.index}`;
  const spend = rig.spend([coin], 1);
  rig.mine([spend]);
  const spent = { spent: true, txid: idOf(spend), vin: 0, status: rig.model.status(3) };
  await rig.expect(url, spent);
  for (let i = 0; i < 5; i++) rig.mine();
  rig.prune();
  assert.equal((await rig.get(url)).status, 501);
  await rig.close();
});
