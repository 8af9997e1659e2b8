/**
 * The sources against a small node over real sockets: the same blocks come out
 * as were made, through rollbacks, lost connections and restarts; and what must
 * not be followed is not.
 */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { afterEach, describe, it } from 'node:test';
import { DevnetChain, type DevnetOptions } from '../../../../src/chains/cardano/devnet/index.ts';
import { readHeader } from '../../../../src/ledgers/cardano/index.ts';
import type { Point } from '../../../../src/ledgers/ledger.ts';
import { type OuroborosOptions, type OuroborosSource, openOuroboros } from '../../../../src/sources/cardano/ouroboros/index.ts';
import type { ChainEvent, Run } from '../../../../src/sources/source.ts';
import { equalBytes, toHex } from '../../../../src/util/bytes.ts';
import { type ErrorCode, isUnspentError } from '../../../../src/util/errors.ts';
import { TestNode } from './node.ts';

const WIRES = ['n2n', 'n2c'] as const;
const SLOTS = 21_600;
const QUICK: OuroborosOptions = { magic: 42, byronEpochSlots: SLOTS, reconnectMs: [1, 20] };
const code =
  (wanted: ErrorCode, text = /./) =>
  (error: unknown) =>
    isUnspentError(error, wanted) && text.test(error.message);

const nodes: TestNode[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close();
});

function made(blocks: number, options: Partial<DevnetOptions> = {}, magic = 42): TestNode {
  const chain = new DevnetChain({ seed: 7, ...options });
  for (let i = 0; i < blocks; i++) chain.mine();
  const node = new TestNode(chain, magic);
  nodes.push(node);
  return node;
}

/** What a reader has after the events: hashes in chain order. */
class Chain {
  readonly points: Point[] = [];
  rollbacks = 0;

  take(events: readonly ChainEvent[]): void {
    for (const event of events) {
      if (event.kind === 'forward') {
        const { height, slot, hash, prevHash } = readHeader(event.raw, SLOTS);
        const last = this.points.at(-1);
        if (last !== undefined) assert.ok(prevHash !== null && equalBytes(prevHash, last.hash), 'follows');
        assert.equal(event.intact, true);
        this.points.push({ height, slot, hash });
      } else {
        this.rollbacks++;
        const at = event.point === null ? -1 : this.points.findIndex(({ hash }) => equalBytes(hash, event.point!.hash));
        assert.ok(event.point === null || at >= 0, 'goes back to where we were');
        if (event.point !== null) assert.equal(event.point.height, this.points[at].height);
        this.points.length = at + 1;
      }
    }
  }

  equals(node: TestNode): boolean {
    const { blocks } = node.chain;
    return blocks.length === this.points.length && this.points.every(({ hash }, i) => equalBytes(hash, blocks[i].hash));
  }
}

/** Follows until `done` says so at the tip, or the source ends. */
async function follow(source: OuroborosSource, chain: Chain, done: (run: Run) => boolean, from: readonly Point[] = []): Promise<void> {
  const stop = new AbortController();
  for await (const run of source.runs({ from, follow: true, signal: stop.signal })) {
    chain.take(run.events);
    if (run.atTip && done(run)) break;
  }
}

async function sync(source: OuroborosSource, from: readonly Point[] = []): Promise<Chain> {
  const chain = new Chain();
  chain.points.push(...[...from].reverse());
  for await (const run of source.runs({ from, follow: false, signal: new AbortController().signal })) chain.take(run.events);
  return chain;
}

for (const wire of WIRES) {
  describe(`${wire} follows a node`, () => {
    it('300 blocks, a rollback of 20, more blocks, and the tip is told', async () => {
      const node = made(300);
      const source = openOuroboros([await node.listen(wire)], QUICK);
      const chain = new Chain();
      const steps = [() => node.fork(20), () => node.mine(5), () => node.fork(1), () => node.fork(299)];
      await follow(source, chain, (run) => {
        assert.ok(chain.equals(node), 'at the tip we have what the node has');
        assert.deepEqual(run.tip, { slot: node.chain.tip!.slot, height: node.chain.tip!.height });
        const step = steps.shift();
        step?.();
        return step === undefined;
      });
      assert.equal(chain.rollbacks, 3);
      assert.equal(source.status().lagBlocks, 0);
      assert.equal(source.status().lastRollback?.to?.height, 307 - 299 - 1);
      assert.equal(source.status().state, 'stopped');
    });

    it('ends at the tip when not following', async () => {
      const node = made(30);
      assert.ok((await sync(openOuroboros([await node.listen(wire)], QUICK))).equals(node));
    });

    it('a chain of all eras, boundary blocks included', async () => {
      const node = made(300, { byron: { epochs: 3, slotsPerEpoch: 200 } });
      const source = openOuroboros([await node.listen(wire)], { ...QUICK, byronEpochSlots: 200 });
      let blocks = 0;
      for await (const run of source.runs({ from: [], follow: false, signal: new AbortController().signal })) {
        for (const event of run.events) {
          assert.ok(event.kind === 'forward' && equalBytes(event.raw, node.chain.blocks[blocks++].raw));
        }
      }
      assert.equal(blocks, 300);
    });

    it('goes on after our newest point, and back when it is not there', async () => {
      const node = made(100);
      const points = node.chain.blocks.map(({ height, slot, hash }) => ({ height, slot, hash }));
      const url = await node.listen(wire);
      const onward = await sync(openOuroboros([url], QUICK), points.slice(0, 51).reverse());
      assert.ok(onward.equals(node));
      assert.equal(onward.rollbacks, 0);
      node.fork(10);
      const back = await sync(openOuroboros([url], QUICK), points.toReversed());
      assert.ok(back.equals(node));
      assert.equal(back.rollbacks, 1);
    });

    it('stops clearly when the node has none of our points', async () => {
      const node = made(100);
      const other = new DevnetChain({ seed: 8 });
      for (let i = 0; i < 50; i++) other.mine();
      const source = openOuroboros([await node.listen(wire)], QUICK);
      await assert.rejects(sync(source, [other.tip!]), code('SOURCE_FORK', /none of our 1 points.*new store/));
      assert.equal(node.connections, 1);
    });

    it('tells of another network at once, with both magics', async () => {
      const node = made(1, {}, 764_824_073);
      const source = openOuroboros([await node.listen(wire)], QUICK);
      await assert.rejects(sync(source), code('NETWORK_WRONG', /764824073.*42/));
      assert.equal(node.connections, 1);
    });

    it('survives cuts at any message, and hands over every block once', async () => {
      const node = made(250);
      const source = openOuroboros([await node.listen(wire)], QUICK);
      const chain = new Chain();
      node.before = (answers, mux) => {
        if (answers % 397 === 396) void mux.close();
      };
      await follow(source, chain, () => {
        if (chain.points.length < 700) node.mine(10);
        return chain.points.length >= 700;
      });
      assert.ok(chain.equals(node));
      assert.ok(source.status().lost > 0);
    });

    it('a rollback while the connection is lost', async () => {
      const node = made(60);
      const source = openOuroboros([await node.listen(wire)], QUICK);
      const chain = new Chain();
      let told = 0;
      await follow(source, chain, () => {
        if (told++ > 0) return chain.equals(node);
        node.cut();
        node.chain.fork(17);
        return false;
      });
      assert.ok(chain.equals(node));
      assert.equal(chain.rollbacks, 1);
    });

    it('refuses a block whose body was changed, and takes the good one after', async () => {
      const node = made(40);
      let spoilt = 0;
      node.spoil = (raw) => {
        if (raw !== node.chain.blocks[25].raw || spoilt++ > 0) return raw;
        const bad = raw.slice();
        bad[bad.length - 5] ^= 1;
        return bad;
      };
      const source = openOuroboros([await node.listen(wire)], QUICK);
      assert.ok((await sync(source)).equals(node));
      assert.equal(source.status().lastError?.code, 'PROTOCOL');
      assert.equal(node.connections, 2);
    });

    it('an abort ends it and leaves nothing open', async () => {
      const node = made(10);
      const source = openOuroboros([await node.listen(wire)], QUICK);
      const stop = new AbortController();
      let runs = 0;
      for await (const run of source.runs({ from: [], follow: true, signal: stop.signal })) {
        runs++;
        if (run.atTip) setTimeout(() => stop.abort(), 10);
      }
      assert.ok(runs > 0);
      assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
    });
  });
}

it('an unreachable node is a typed error; with a second one, that is taken', async () => {
  const node = made(20);
  const url = await node.listen('n2n');
  const nobody = 'n2n://127.0.0.1:1';
  await assert.rejects(sync(openOuroboros([nobody], { ...QUICK, attempts: 2 })), code('SOURCE_UNREACHABLE', /nobody listens/));
  await assert.rejects(
    sync(openOuroboros(['n2c:/nowhere/node.socket'], { ...QUICK, attempts: 1 })),
    code('SOURCE_UNREACHABLE', /no such socket/),
  );
  const peers: string[] = [];
  const source = openOuroboros([nobody, url], { ...QUICK, onPeer: ({ state, peer }) => peers.push(`${state} ${peer}`) });
  assert.ok((await sync(source)).equals(node));
  assert.deepEqual(peers.slice(0, 4), [`connecting ${nobody}`, `waiting ${nobody}`, `connecting ${url}`, `following ${url}`]);
});

it('blocks withheld during a switch are asked for again', async () => {
  const node = made(50);
  const source = openOuroboros([await node.listen('n2n')], QUICK);
  const chain = new Chain();
  let switched = 0;
  node.before = (_answers, _mux, kind) => {
    // Headers are out, their blocks are not: the branch changes between the two.
    if (kind === 'requestRange' && switched++ === 0) node.fork(5);
  };
  await follow(source, chain, () => true);
  assert.ok(chain.equals(node));
  assert.equal(chain.rollbacks, 0, 'nothing of the lost branch was handed over');
  assert.ok(node.withheld > 0);
  assert.equal(node.connections, 1);
});

it('a node that falls silent is left, and met again', async () => {
  const node = made(60);
  const source = openOuroboros([await node.listen('n2n')], { ...QUICK, timeScale: 0.005 });
  let stalled = false;
  node.before = (_answers, _mux, kind) => {
    if (stalled || kind !== 'requestRange') return;
    stalled = true;
    node.stall = true;
  };
  assert.ok((await sync(source)).equals(node));
  // On a busy machine the header that was asked for beside the blocks may be missed first.
  assert.match(source.status().lastError?.message ?? '', /did not answer in 0\.(3 s \(block-fetch, busy|05 s \(chain-sync, canAwait)\)/);
});

it('a hundred lost connections leave nothing behind', async () => {
  const node = made(5);
  const source = openOuroboros([await node.listen('n2n')], QUICK);
  const stop = new AbortController();
  const sockets = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  const before = sockets();
  let most = 0;
  for await (const run of source.runs({ from: [], follow: true, signal: stop.signal })) {
    most = Math.max(most, getEventListeners(stop.signal, 'abort').length);
    if (run.atTip) node.cut();
    if (node.connections > 100) stop.abort();
  }
  await node.close();
  assert.ok(most <= 2, `${most} listeners at once`);
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
  assert.equal(sockets(), before);
});

it('bad addresses are told before anything is tried', () => {
  for (const url of ['n2n://', 'n2n://host', 'n2n://host:99999', 'n2n://host:1/path', 'n2c:', 'n2n:host:1', 'n2n://u@h:1']) {
    assert.throws(() => openOuroboros([url], QUICK), code('USAGE'), url);
  }
  assert.equal(openOuroboros(['n2n://[::1]:3001'], QUICK).name, 'n2n://[::1]:3001');
  assert.throws(() => openOuroboros([], QUICK), code('USAGE'));
});

it('hashes come out as they went in', async () => {
  const node = made(3);
  const chain = await sync(openOuroboros([await node.listen('n2c')], QUICK));
  assert.deepEqual(
    chain.points.map(({ hash }) => toHex(hash)),
    node.chain.blocks.map(({ hash }) => toHex(hash)),
  );
});
