/**
 * A node's RPC as a source, against a node that is a script: the chain in order,
 * every turn of it from the exact fork point, and all that can go wrong on the
 * way of an answer.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { genesisBlock } from '../../../src/ledgers/bitcoin/index.ts';
import type { RpcClient } from '../../../src/sources/bitcoin/rpc/client.ts';
import { openRpc, type RpcOptions } from '../../../src/sources/bitcoin/rpc/index.ts';
import { RpcNode } from '../../../src/sources/bitcoin/rpc/node.ts';
import { AnswerTooLong } from '../../../src/sources/bitcoin/rpc/post.ts';
import type { PeerStatus } from '../../../src/sources/peer.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { forgeBlock, forgeCoinbase } from '../../ledgers/bitcoin/forge.ts';
import { bitcoin, regtest } from '../../ledgers/bitcoin/samples.ts';
import { eventually } from '../../support/patience.ts';
import { extend, newChain } from './blk-folder.ts';
import { Following, hashOf, memoryFold, ownChain, pointOf, pump, steps, stopAll, tell } from './pump.ts';
import { FakeError, FakeNode } from './rpc-fake.ts';

const QUICK: RpcOptions = { pollMs: 5, reconnectMs: [1, 20], attempts: 3 };
const forwards = (chain: readonly Uint8Array[], first = 0): string[] => chain.slice(first).map((raw, i) => `+${first + i} ${hashOf(raw)}`);
const last = <T>(items: readonly T[]): T => items[items.length - 1];

let node: FakeNode;
beforeEach(async () => {
  node = await new FakeNode().start();
});
afterEach(async () => {
  await stopAll();
  await node.stop();
});
const open = (options: RpcOptions = {}, network = regtest) => openRpc(node.url, network, { ...QUICK, ...options });
const follow = (options: RpcOptions = {}): Following => new Following(open(options), regtest);

describe('rpc source: reading', () => {
  test('the whole chain in order, with heights, and then the tip', async () => {
    node.chain = newChain(700);
    const { runs, error } = await tell(open());
    assert.equal(error, undefined);
    assert.deepEqual(steps(runs), forwards(node.chain));
    assert.equal(last(runs).atTip, true);
    assert.ok(runs.slice(0, -1).every(({ atTip }) => !atTip));
    assert.ok(runs.every(({ tip }) => tip?.height === 700));
    // Small blocks come in large batches, and all of it over a few connections.
    assert.ok(node.largest('getblock') >= 200, `${node.largest('getblock')} at once`);
    assert.ok(node.connections <= 4, `${node.connections} connections`);
  });

  test('into the fold', async () => {
    node.chain = newChain(120);
    const fold = memoryFold(regtest);
    const { blocks, reason } = await pump(open(), fold, regtest);
    assert.deepEqual([blocks, reason, fold.head?.height, fold.head?.utxos], [121, 'end', 120, 120]);
  });

  test('batches follow the size of the blocks: large ones come a few at a time', async () => {
    const script = new Uint8Array(9000).fill(0x51);
    const outputs = Array.from({ length: 40 }, () => ({ value: 1n, script }));
    for (let height = 11; height <= 70; height++) {
      node.chain.push(forgeBlock(pointOf(last(node.chain), 0).hash, [forgeCoinbase(height, outputs)]));
    }
    const { runs, error } = await tell(open());
    assert.equal(error, undefined);
    assert.deepEqual(steps(runs), forwards(node.chain));
    const counts = node.requests.map((calls) => calls.filter(({ method }) => method === 'getblock').length).filter((count) => count > 0);
    assert.ok(last(counts) <= 6, `blocks of 360 kB, ${last(counts)} at once`);
  });

  test('an answer that would be too long is asked for in halves', async () => {
    const asked: number[] = [];
    const client = {
      name: 'rpc://fake',
      batch: async (calls: readonly { readonly params: readonly unknown[] }[]) => {
        asked.push(calls.length);
        if (calls.length > 2) throw new AnswerTooLong('rpc://fake', 1);
        return calls.map(({ params: [hash] }) => toHex(node.chain.find((raw) => hashOf(raw) === hash) ?? assert.fail()));
      },
    } as unknown as RpcClient;
    const hashes = node.chain.map((raw) => pointOf(raw, 0).hash);
    const raws = await new RpcNode(client, new AbortController().signal).blocks(hashes);
    assert.deepEqual(
      raws.map((raw) => hashOf(raw ?? assert.fail())),
      node.chain.map(hashOf),
    );
    assert.deepEqual(asked.slice(0, 4), [11, 5, 2, 3]);
  });

  test('goes on behind the newest point it knows', async () => {
    const from = [pointOf(node.chain[6], 6), pointOf(node.chain[0], 0)];
    assert.deepEqual(steps((await tell(open(), { from })).runs), forwards(node.chain, 7));
    const atTip = await tell(open(), { from: [pointOf(node.chain[10], 10)] });
    assert.deepEqual(atTip.runs, [{ events: [], tip: { slot: 10, height: 10 }, atTip: true }]);
  });

  test('a chain of the first block alone', async () => {
    node.chain = [genesisBlock(regtest)];
    const { runs } = await tell(open());
    assert.deepEqual([steps(runs), last(runs).atTip], [forwards(node.chain), true]);
  });

  test('the fork point is exact, whatever the points are', async () => {
    const story = fc.record({ ours: fc.integer({ min: 1, max: 30 }), shared: fc.nat(30), theirs: fc.nat(30), sparse: fc.boolean() });
    const property = fc.asyncProperty(story, async ({ ours, shared, theirs, sparse }) => {
      const fork = Math.min(shared, ours);
      const chain = newChain(ours);
      node.chain = extend(chain.slice(0, fork + 1), theirs, 7);
      const points = chain.map(pointOf).reverse();
      const own = ownChain(chain, [points[0], points[points.length - 1]]);
      const from = sparse ? own.recentPoints() : points;
      const { runs, error } = await tell(open(), sparse ? { from, chain: own } : { from });
      assert.equal(error, undefined);
      assert.deepEqual(steps(runs), [...(fork === ours ? [] : [`-${fork}`]), ...forwards(node.chain, fork + 1)]);
    });
    await fc.assert(property, { numRuns: 50 });
  });
});

describe('rpc source: following', () => {
  test('new blocks, turns of any depth, a step back alone, all into the fold', async () => {
    const following = follow();
    await following.reach(hashOf(last(node.chain)));
    node.chain = extend(node.chain, 3);
    await following.reach(hashOf(last(node.chain)));
    node.chain = extend(node.chain.slice(0, 9), 8, 1);
    await following.reach(hashOf(last(node.chain)));
    node.chain = node.chain.slice(0, 12);
    await following.reach(hashOf(last(node.chain)));
    node.chain = extend(node.chain.slice(0, 1), 20, 2);
    await following.reach(hashOf(last(node.chain)));
    assert.deepEqual(following.turns, ['8 -5', '11 -5', '0 -11']);
    await following.stop();
  });

  test('however the chain turns, also while it is read, the reader ends at its tip', async () => {
    const turn = fc.record({ keep: fc.nat(12), grow: fc.integer({ min: 1, max: 12 }), pauseMs: fc.nat(12) });
    const property = fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 8 }), async (turns) => {
      node.chain = newChain(30);
      const following = new Following(open(), regtest);
      for (const [i, { keep, grow, pauseMs }] of turns.entries()) {
        await sleep(pauseMs);
        node.chain = extend(node.chain.slice(0, Math.max(1, node.chain.length - keep)), grow, 1 + i);
      }
      await following.reach(hashOf(last(node.chain)));
      await following.stop();
    });
    await fc.assert(property, { numRuns: 20 });
  });

  test('a node that goes away and comes back is followed on, and the status tells', async () => {
    const states: string[] = [];
    const source = open({ onPeer: ({ state }: PeerStatus) => states.push(state) });
    const following = new Following(source, regtest);
    await following.reach(hashOf(last(node.chain)));
    await eventually(() => assert.equal(source.status().state, 'following'));
    assert.deepEqual([source.status().version, source.status().lagBlocks, source.status().lost], ['RPC 210201', 0, 0]);
    await node.stop();
    await eventually(() => assert.equal(source.status().lastError?.code, 'SOURCE_UNREACHABLE'));
    node.chain = extend(node.chain.slice(0, 6), 9, 1);
    await node.start();
    await following.reach(hashOf(last(node.chain)));
    assert.deepEqual(following.turns, ['5 -5']);
    const { peer, at, tip, lost, lastRollback } = source.status();
    assert.deepEqual([peer, at?.height, tip?.height, lost > 0, lastRollback?.to?.height], [node.name, 14, 14, true, 5]);
    await following.stop();
    assert.equal(source.status().state, 'stopped');
    assert.ok(states.includes('waiting') && states.includes('connecting'));
  });

  test('a block that is gone between its hash and itself is asked for again', async () => {
    node.withheld.add(hashOf(node.chain[7]));
    const source = open();
    const following = new Following(source, regtest);
    await eventually(() => assert.deepEqual([source.status().at?.height, source.status().lost > 0], [6, true]));
    node.withheld.clear();
    await following.reach(hashOf(last(node.chain)));
    await following.stop();
  });

  test('a node that is loading is waited for', async () => {
    const until = Date.now() + 400;
    node.answers.set('getnetworkinfo', () => {
      if (Date.now() < until) throw new FakeError(-28, 'Verifying blocks...');
      return { version: 1 };
    });
    const { runs, error } = await tell(open({ attempts: 1 }));
    assert.deepEqual([error, steps(runs).length, Date.now() >= until], [undefined, 11, true]);
  });

  test('connections cut at any time lose and repeat nothing', async () => {
    node.chain = newChain(300);
    let turn = 0;
    node.fault = () => {
      if (++turn % 7 !== 0) return false;
      node.dropAll();
      return true;
    };
    const following = follow();
    await following.reach(hashOf(node.chain[300]));
    assert.deepEqual(following.turns, []);
    await following.stop();
  });
});

describe('rpc source: what is said', () => {
  const failure = async (options: RpcOptions = {}, network = regtest): Promise<string> => {
    const { error } = await tell(open(options, network));
    assert.ok(!/p%40ss|p%2540ss|p@ss/.test(`${error?.message} ${JSON.stringify(error?.meta)}`), 'no password in it');
    return `${error?.code}: ${error?.message}`;
  };

  test('another network', async () => {
    assert.match(await failure({}, bitcoin), /^NETWORK_WRONG: .*0f9188f1.*'bitcoin' begins with 000000000019d668/);
  });

  test('another chain, and a node that is behind all we have', async () => {
    const from = newChain(12, 3).map(pointOf).slice(5).reverse();
    const { error } = await tell(open(), { from });
    assert.equal(error?.code, 'SOURCE_FORK');
    assert.match(error?.message ?? '', /none of our 8 points.*its tip is at height 10; our newest is 12/);
    const behind = await tell(open(), { from: newChain(40).map(pointOf).slice(20).reverse() });
    assert.deepEqual([behind.error?.code, /behind all of our points/.test(behind.error?.message ?? '')], ['SOURCE_UNREACHABLE', true]);
  });

  test('a password that is not taken, at once and with what to do', async () => {
    node.password = 'u:other';
    const following = follow();
    const { code, message } = await following.failure();
    assert.equal(code, 'SOURCE_UNREACHABLE');
    assert.match(message, /does not take that user and password: use its rpcuser/);
    assert.match(await failure(), /does not take that user and password/);
  });

  test('nobody there', async () => {
    const { port } = node;
    await node.stop();
    assert.match(await failure(), new RegExp(`^SOURCE_UNREACHABLE: rpc://127.0.0.1:${port}: nobody listens there`));
    await node.start();
  });

  test('a pruned block', async () => {
    node.answers.set('getblock', () => {
      throw new FakeError(-1, 'Block not available (pruned data)');
    });
    assert.match(await failure(), /^SOURCE_UNREACHABLE: .*Block not available \(pruned data\).*prunes/);
  });

  test('answers that are none of what was asked', async () => {
    for (const [method, answer] of [
      ['getnetworkinfo', null],
      ['getnetworkinfo', { version: 'new' }],
      ['getblockchaininfo', { blocks: -1, bestblockhash: '00'.repeat(32) }],
      ['getblockchaininfo', { blocks: 3, bestblockhash: 'zz' }],
      ['getblockhash', 7],
      ['getblock', 'abc'],
      ['getblock', ''],
      ['getblock', 'ff'.repeat(300)],
      ['getblock', { hash: 1 }],
    ] as const) {
      node.answers.clear();
      node.answers.set(method, () => answer);
      assert.match(await failure(), /^PROTOCOL: /, `${method} ${JSON.stringify(answer)}`);
    }
  });
});
