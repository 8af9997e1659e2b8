/**
 * Which block an answer is at: named in its headers, asked for with `at`, waited
 * for with `min_slot`, and recognised by a client that has it already.
 */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BalanceJson, UtxoJson } from '../../../src/query/json.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { KEEP_ALL } from '../../support/harness.ts';
import { leaveOut } from '../../support/keep.ts';
import { until } from '../../support/patience.ts';
import { type Answer, assertProblem, Served } from '../../support/served.ts';

const anAddress = (served: Served): string => [...served.devnet.chain.utxos.values()][0].addressHex;

/** Every read of the chain, at some present thing. */
function reads(served: Served): string[] {
  const [{ addressHex, txId, index }] = served.devnet.chain.utxos.values();
  const credential = addressHex.slice(2, 58);
  return [
    `/addresses/${addressHex}/utxos`,
    `/addresses/${addressHex}/balance`,
    `/credentials/${credential}/utxos`,
    `/stake/${credential}/utxos`,
    `/stake/${credential}/balance`,
    `/policies/${credential}/utxos`,
    `/utxos/${toHex(txId)}/${index}`,
    '/blocks/latest',
    '/blocks/0',
  ];
}

describe('the point of an answer', () => {
  test('is on every answer, good or bad', async () => {
    const served = await Served.open();
    const tip = served.devnet.chain.tip!;
    const wanted = { height: tip.height, slot: tip.slot, hash: toHex(tip.hash) };
    const more = ['/status', '/status/engine', '/health', '//ready', `/utxos/${'ab'.repeat(32)}/0`, '/blocks/99999'];
    for (const path of [...reads(served), ...more]) assert.deepEqual((await served.get(path)).point, wanted, path);
    served.forward(1);
    for (const path of reads(served)) assert.equal((await served.get(path)).point?.height, tip.height + 1);
    served.back(2);
    for (const path of reads(served)) assert.equal((await served.get(path)).point?.height, tip.height - 1);
    await served.close();
  });

  test('an answer that takes several turns stays at its point', async () => {
    const served = await Served.open({ blocks: 150, server: { rowsMax: 100_000 } });
    const address = anAddress(served);
    const before = await served.get(`/addresses/${address}/utxos?limit=100000`);
    // The request is under way when the blocks come.
    const pending = Array.from({ length: 20 }, () => served.get(`/addresses/${address}/utxos?limit=all`));
    await sleep(0);
    served.forward(5);
    for (const answer of await Promise.all(pending)) {
      const same = answer.point?.hash === before.point?.hash;
      const now = same ? before : await served.get(`/addresses/${address}/utxos?limit=100000`);
      assert.deepEqual(answer.json(), now.json());
    }
    await served.close();
  });
});

describe('a client that has the answer', () => {
  test('is told so, until the chain moves', async () => {
    const served = await Served.open();
    for (const path of reads(served)) {
      const first = await served.get(path);
      const etag = first.headers['etag'] ?? '';
      assert.match(etag, /^W\/".+"$/, path);
      assert.equal(first.headers['cache-control'], 'no-cache');
      for (const given of [etag, `"x", ${etag}`, etag.slice(2)]) {
        const again = await served.get(path, { 'if-none-match': given });
        assert.deepEqual([again.status, again.text, again.headers['etag']], [304, '', etag]);
        assert.deepEqual(again.point, first.point);
      }
      for (const given of ['*', '"x"', 'W/"x"', '']) assert.equal((await served.get(path, { 'if-none-match': given })).status, 200);
      const cbor = await served.get(path, { 'if-none-match': etag, accept: 'application/cbor' });
      assert.equal(cbor.status, cbor.headers['content-type'] === 'application/cbor' ? 200 : 304, 'another form is another answer');
    }
    const paths = reads(served);
    const old = await Promise.all(paths.map(async (path) => (await served.get(path)).headers['etag'] ?? ''));
    served.forward(1);
    for (const [i, path] of paths.entries()) assert.notEqual((await served.get(path, { 'if-none-match': old[i] })).status, 304, path);
    served.back(1);
    for (const [i, path] of paths.entries()) assert.equal((await served.get(path, { 'if-none-match': old[i] })).status, 304, path);
    await served.close();
  });

  test('gets no work done for it', async () => {
    const served = await Served.open({ store: { keeps: [...leaveOut(KEEP_ALL, 'index'), 'index.address'] } });
    const etag = (await served.get('/blocks/latest')).headers['etag'] ?? '';
    // Were it answered, it would be refused.
    const path = `/policies/${'00'.repeat(28)}/utxos`;
    assert.equal((await served.get(path, { 'if-none-match': etag })).status, 304);
    assertProblem(await served.get(path), 'UNSUPPORTED', 501);
    await served.close();
  });

  test('a remembered answer is that of its own question, and forgotten when the chain moves', async () => {
    const served = await Served.open();
    const path = `/addresses/${anAddress(served)}/utxos?limit=2`;
    const [first, second, other] = [await served.get(path), await served.get(path), await served.get(`${path}&order=desc`)];
    const same = ({ text, headers }: Answer) => ({ text, next: headers['x-next-after'], link: headers['link'], etag: headers['etag'] });
    assert.deepEqual(same(second), same(first));
    assert.notEqual(other.text, first.text);
    const cbor = await served.get(path, { accept: 'application/cbor' });
    assert.equal(cbor.headers['content-type'], 'application/cbor');
    served.forward(1);
    const moved = await served.get(path);
    assert.notEqual(moved.headers['x-next-after'], first.headers['x-next-after'], 'a cursor names its block');
    await served.close();
  });
});

describe('at', () => {
  test('answers as of an earlier block, however it is named', async () => {
    const served = await Served.open({ blocks: 50 });
    const address = anAddress(served);
    const before = new Map<number, { list: UtxoJson[]; balance: BalanceJson; point: Answer['point']; slot: number }>();
    for (let i = 0; i < 30; i++) {
      const list = await served.get(`/addresses/${address}/utxos?limit=all`);
      const balance = (await served.get(`/addresses/${address}/balance`)).json<BalanceJson>();
      before.set(list.point!.height, { list: list.json(), balance, point: list.point, slot: list.point!.slot });
      served.forward(1);
    }
    for (const [height, { list, balance, point, slot }] of before) {
      for (const at of [`height:${height}`, `slot:${slot}`, `${slot}`, point!.hash]) {
        const answer = await served.get(`/addresses/${address}/utxos?limit=all&at=${at}`);
        assert.deepEqual(answer.json(), list, at);
        assert.deepEqual(answer.point, point, at);
      }
      assert.deepEqual((await served.get(`/addresses/${address}/balance?at=height:${height}`)).json(), balance);
    }
    await served.close();
  });

  test('an output that is spent now is unspent then, and not there before', async () => {
    const served = await Served.open({ blocks: 60 });
    const { blocks } = served.devnet.chain;
    const spending = blocks.findLast(({ txs }) => txs.some(({ spends }) => spends.some((utxo) => utxo.height > 0)))!;
    const spent = spending.txs.flatMap(({ spends }) => spends).find((utxo) => utxo.height > 0 && utxo.height < spending.height)!;
    const path = `/utxos/${toHex(spent.txId)}/${spent.index}`;
    assert.equal((await served.get(path)).json<UtxoJson>().spent_at_block, spending.height);
    const then = await served.get(`${path}?at=height:${spending.height - 1}`);
    assert.equal(then.json<UtxoJson>().spent_at_block, undefined);
    assertProblem(await served.get(`${path}?at=height:${spent.height - 1}`), 'NOT_FOUND', 404);
    await served.close();
  });

  test('refuses what is not on the chain, not a place, or forgotten', async () => {
    const served = await Served.open({ blocks: 60, store: { pruneDepth: 10, rollbackWindow: 20 } });
    const path = `/addresses/${anAddress(served)}/utxos`;
    const tip = served.devnet.chain.tip!;
    assertProblem(await served.get(`${path}?at=height:${tip.height + 1}`), 'POINT_UNKNOWN', 404);
    assertProblem(await served.get(`${path}?at=slot:${tip.slot + 1}`), 'POINT_UNKNOWN', 404);
    assertProblem(await served.get(`${path}?at=${'ab'.repeat(32)}`), 'POINT_UNKNOWN', 404);
    for (const at of ['yesterday', 'height:', 'slot:-1', '']) assertProblem(await served.get(`${path}?at=${at}`), 'USAGE', 400);
    served.prune();
    const pruned = await served.get(`${path}?at=height:${tip.height - 30}`);
    assertProblem(pruned, 'PRUNED', 410);
    assert.ok(pruned.json<{ known_from: number }>().known_from > tip.height - 30, 'it says from where on');
    assert.equal((await served.get(`${path}?at=height:${tip.height - 5}`)).status, 200);
    await served.close();
  });

  test('the newest block is the present', async () => {
    const served = await Served.open();
    const path = `/addresses/${anAddress(served)}/utxos`;
    const present = await served.get(path);
    const named = await served.get(`${path}?at=${present.point!.hash}`);
    assert.deepEqual([named.text, named.headers['etag']], [present.text, present.headers['etag']]);
    assert.deepEqual((await served.get(`${path}?at=origin`)).json(), []);
    assert.equal((await served.get(`${path}?at=origin`)).point, null);
    await served.close();
  });
});

describe('min_slot', () => {
  test('has it already', async () => {
    const served = await Served.open();
    const { slot } = served.devnet.chain.tip!;
    assert.equal((await served.get(`/blocks/latest?min_slot=${slot}`)).status, 200);
    await served.close();
  });

  test('waits until the slot is there, and not a block longer', async () => {
    const served = await Served.open();
    const { slot, height } = served.devnet.chain.tip!;
    let answered = false;
    const answer = served.get(`/blocks/latest?min_slot=${slot + 1}`).finally(() => {
      answered = true;
    });
    await sleep(30);
    assert.equal(answered, false);
    served.back(1);
    await sleep(10);
    assert.equal(answered, false, 'a rollback is no progress');
    served.forward(1);
    // The block that replaces the lost one may be at any slot; go on until it is there.
    while (served.devnet.chain.tip!.slot <= slot) served.forward(1);
    assert.ok((await answer).point!.slot > slot);
    assert.ok((await answer).point!.height >= height);
    await served.close();
  });

  test('a caller that hangs up is not waited for', async () => {
    const served = await Served.open();
    const listeners: (() => void)[] = [];
    const onMove = served.reads.onMove.bind(served.reads);
    served.reads.onMove = (listener) => {
      const stop = onMove(listener);
      listeners.push(listener);
      return () => {
        listeners.splice(listeners.indexOf(listener), 1);
        return stop();
      };
    };
    const { port } = await served.listen();
    const before = listeners.length;
    const asking = request({ host: '127.0.0.1', port, path: '/api/v1/blocks/latest?min_slot=99999999', agent: false });
    asking.on('error', () => {}).end();
    await until(() => listeners.length === before + 1, 'it waits');
    asking.destroy();
    await until(() => listeners.length === before, 'it waits no longer');
    await served.close();
  });

  test('gives up in time, and says where it is', async () => {
    const served = await Served.open({ server: { waitSecondsMax: 0 } });
    const { slot, height } = served.devnet.chain.tip!;
    const late = await served.get(`/addresses/${anAddress(served)}/utxos?min_slot=${slot + 1000}`);
    assertProblem(late, 'NOT_YET', 504);
    assert.equal(late.point?.height, height);
    for (const bad of ['-1', 'x', '1.5', '9007199254740993'])
      assertProblem(await served.get(`/blocks/latest?min_slot=${bad}`), 'USAGE', 400, 'min_slot');
    await served.close();
  });
});
