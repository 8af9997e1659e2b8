/**
 * A node's mempool over RPC: what a listener was told always adds up to what the
 * node has; and transactions handed to the node.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { decodeTx, formatId } from '../../../src/ledgers/bitcoin/index.ts';
import { openRpc } from '../../../src/sources/bitcoin/rpc/index.ts';
import type { NodeSource } from '../../../src/sources/peer.ts';
import type { MempoolChange, MempoolFeed } from '../../../src/sources/source.ts';
import { concatBytes, equalBytes, fromHex } from '../../../src/util/bytes.ts';
import { forgeTx, OP_TRUE } from '../../ledgers/bitcoin/forge.ts';
import { regtest } from '../../ledgers/bitcoin/samples.ts';
import { eventually } from '../../support/patience.ts';
import { extend } from './blk-folder.ts';
import { Following, stopAll } from './pump.ts';
import { FakeError, FakeNode } from './rpc-fake.ts';

const txOf = (n: number): Uint8Array =>
  forgeTx({ inputs: [{ txId: new Uint8Array(32).fill(n), index: n >> 8 }], outputs: [{ value: BigInt(n), script: OP_TRUE }] });
const idOf = (raw: Uint8Array): string => formatId(decodeTx(raw).id);

/** What a listener knows, by what it was told alone. */
class Heard {
  readonly txs = new Map<string, Uint8Array>();
  readonly words: string[] = [];

  readonly listen = (change: MempoolChange): void => {
    this.words.push(change.kind);
    if (change.kind === 'reset') this.txs.clear();
    if (change.kind === 'add') {
      for (const raw of change.txs) {
        assert.ok(!this.txs.has(idOf(raw)), 'told twice');
        this.txs.set(idOf(raw), raw);
      }
    }
    if (change.kind === 'remove') for (const id of change.ids) assert.ok(this.txs.delete(formatId(id)), 'taken away what was never told');
  };

  async becomes(ids: Iterable<string>): Promise<void> {
    const wanted = [...ids].sort();
    await eventually(() => assert.deepEqual([...this.txs.keys()].sort(), wanted));
  }
}

let node: FakeNode;
let source: NodeSource;
let feed: MempoolFeed;
beforeEach(async () => {
  node = await new FakeNode().start();
  source = openRpc(node.url, regtest, { pollMs: 2, mempoolMs: 4, reconnectMs: [1, 10] });
  feed = source.mempool ?? assert.fail('no mempool');
});
afterEach(async () => {
  await stopAll();
  await node.stop();
});

describe('rpc mempool', () => {
  test('what is there, what comes, what goes, and what takes the place of another', async () => {
    const heard = new Heard();
    feed.watch(heard.listen);
    const first = node.addTx(txOf(1));
    new Following(source, regtest);
    await heard.becomes([first]);
    node.addTx(txOf(2));
    await heard.becomes(node.mempool.keys());
    node.mempool.delete(first);
    await heard.becomes(node.mempool.keys());
    node.mempool.clear();
    node.addTx(txOf(3));
    await heard.becomes(node.mempool.keys());
    assert.deepEqual(heard.words, ['reset', 'add', 'add', 'remove', 'remove', 'add']);
    assert.ok(equalBytes(heard.txs.get(idOf(txOf(3))) ?? assert.fail(), txOf(3)));
  });

  test('whatever happens to it, and however the connection is cut', async () => {
    const step = fc.record({
      add: fc.array(fc.nat(60), { maxLength: 6 }),
      drop: fc.array(fc.nat(60), { maxLength: 6 }),
      cut: fc.boolean(),
      ms: fc.nat(10),
    });
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (story) => {
      node.mempool.clear();
      const heard = new Heard();
      const stop = feed.watch(heard.listen);
      const following = new Following(source, regtest);
      for (const { add, drop, cut, ms } of story) {
        for (const n of add) node.addTx(txOf(n));
        for (const n of drop) node.mempool.delete(idOf(txOf(n)));
        if (cut) node.dropAll();
        await sleep(ms);
      }
      await heard.becomes(node.mempool.keys());
      await eventually(() => assert.equal(heard.words.filter((word) => word === 'reset').length, 1));
      stop();
      await following.stop();
    });
    await fc.assert(property, { numRuns: 25 });
  });

  test('many come in pieces, in the order of the node', async () => {
    for (let n = 0; n < 1300; n++) node.addTx(txOf(n));
    const heard = new Heard();
    feed.watch(heard.listen);
    new Following(source, regtest);
    await heard.becomes(node.mempool.keys());
    assert.deepEqual([...heard.txs.keys()], [...node.mempool.keys()]);
    assert.ok(node.largest('getrawtransaction') <= 500);
  });

  test('one that left between the list and itself is not told', async () => {
    const heard = new Heard();
    feed.watch(heard.listen);
    const gone = idOf(txOf(7));
    node.answers.set('getrawmempool', () => [gone, ...node.mempool.keys()]);
    const here = node.addTx(txOf(8));
    new Following(source, regtest);
    await heard.becomes([here]);
  });

  test('one of which we can read nothing is passed over, and asked for once', async () => {
    const strange = concatBytes(fromHex('0200000000080000'), fromHex('01'), fromHex('00000000'));
    const id = 'ab'.repeat(32);
    node.mempool.set(id, strange);
    const heard = new Heard();
    feed.watch(heard.listen);
    new Following(source, regtest);
    const here = node.addTx(txOf(8));
    await heard.becomes([here]);
    node.mempool.delete(id);
    node.addTx(txOf(9));
    await heard.becomes(node.mempool.keys());
    assert.equal(node.requests.flat().filter(({ method, params }) => method === 'getrawtransaction' && params[0] === id).length, 1);
  });

  test('another transaction than the one asked for is a broken promise', async () => {
    node.mempool.set('cd'.repeat(32), txOf(1));
    feed.watch(new Heard().listen);
    new Following(source, regtest);
    await eventually(() => assert.match(source.status().lastError?.message ?? '', /asked for transaction cdcd/));
    assert.equal(source.status().lastError?.code, 'PROTOCOL');
  });

  test('a second listener hears all of it, the first begins anew; one that left hears nothing', async () => {
    const heard = [new Heard(), new Heard()];
    const stop = feed.watch(heard[0].listen);
    new Following(source, regtest);
    node.addTx(txOf(1));
    await heard[0].becomes(node.mempool.keys());
    feed.watch(heard[1].listen);
    await heard[1].becomes(node.mempool.keys());
    await heard[0].becomes(node.mempool.keys());
    stop();
    node.addTx(txOf(2));
    await heard[1].becomes(node.mempool.keys());
    assert.equal(heard[0].txs.size, 1);
  });

  test('nobody listens, nobody asks; nor without following', async () => {
    const following = new Following(source, regtest);
    await sleep(50);
    await following.stop();
    feed.watch(new Heard().listen);
    await sleep(30);
    assert.equal(node.largest('getrawmempool'), 0);
  });

  test('a new block is handed over while a large mempool is fetched', async () => {
    for (let n = 0; n < 3000; n++) node.addTx(txOf(n));
    const heard = new Heard();
    let heardBefore = 0;
    feed.watch((change) => {
      heard.listen(change);
      if (change.kind === 'add' && node.chain.length === 11) node.chain = extend(node.chain, 1);
    });
    const following = new Following(source, regtest);
    following.fold.watchers.add({
      applied: () => {
        if (following.fold.head?.height === 11) heardBefore = heard.txs.size;
      },
    });
    await eventually(() => assert.equal(following.fold.head?.height, 11));
    assert.ok(heardBefore > 0 && heardBefore < 3000, `the block did not wait for all of them: ${heardBefore}`);
    await heard.becomes(node.mempool.keys());
  });
});

describe('rpc mempool: handing in', () => {
  test('the id of what the node took, before it is followed too', async () => {
    const id = await feed.submit(txOf(5));
    assert.deepEqual([formatId(id), node.submitted.length], [idOf(txOf(5)), 1]);
  });

  test('the words of a node that does not take it', async () => {
    node.answers.set('sendrawtransaction', () => {
      throw new FakeError(-26, 'insufficient fee, rejecting replacement');
    });
    await assert.rejects(feed.submit(txOf(5)), { code: 'TX_REFUSED', message: /insufficient fee, rejecting replacement/ });
    for (const code of [-31, -32601]) {
      node.answers.set('sendrawtransaction', () => {
        throw new FakeError(code, 'not now');
      });
      await assert.rejects(feed.submit(txOf(5)), { code: 'PROTOCOL', message: /not now/ }, `${code} says nothing about the transaction`);
    }
    node.answers.set('sendrawtransaction', () => 17);
    await assert.rejects(feed.submit(txOf(5)), { code: 'PROTOCOL' });
    await node.stop();
    await assert.rejects(feed.submit(txOf(5)), { code: 'SOURCE_UNREACHABLE' });
    await node.start();
  });
});
