/**
 * How changes of a mempool flow to the server: gathered, bounded, one message
 * at a time, only near the tip; and that what is packed comes out again.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { MempoolChange } from '../../../src/ledgers/mempool-change.ts';
import { MempoolLink } from '../../../src/server/mempool/link.ts';
import { packChanges, unpackChanges } from '../../../src/server/mempool/pack.ts';
import { NodeLink } from '../../../src/server/thread/node-link.ts';
import type { FollowState } from '../../../src/store/store.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { MEMPOOL_BEHIND_BLOCKS_MAX, MEMPOOL_UPDATE_BYTES_MAX, READY_BLOCKS_BEHIND_MAX } from '../../../src/util/limits.ts';
import { TEST_SEED } from '../../support/harness.ts';
import { until } from '../../support/patience.ts';

type Watched = ConstructorParameters<typeof MempoolLink>[0];

/** A node with a mempool, where and how far the test says. */
class Node {
  tell: ((change: MempoolChange) => void) | null = null;
  tip: number | null = 100;
  readonly following: FollowState;

  constructor() {
    const watch = (listener: (change: MempoolChange) => void): (() => void) => {
      this.tell = listener;
      return () => {
        this.tell = null;
      };
    };
    const submit = (): Promise<Uint8Array> => Promise.resolve(Uint8Array.of(7));
    const status = () => ({ tip: this.tip === null ? null : { slot: this.tip, height: this.tip } });
    const source = { name: 'a node', mempool: { watch, submit }, status, runs: () => assert.fail('nobody follows') };
    this.following = { source, progress: null };
  }
}

/** A link whose other side says when it has taken something. */
class Flow {
  following: FollowState | null = null;
  height = 100;
  readonly taken: (readonly MempoolChange[])[] = [];
  private next: (() => void) | null = null;
  readonly link: MempoolLink;

  constructor() {
    const flow = this;
    const store = {
      get following() {
        return flow.following;
      },
      fold: {
        get head() {
          return { height: flow.height };
        },
      },
    };
    this.link = new MempoolLink(store as unknown as Watched);
    this.link.start((changes) => {
      assert.equal(this.next, null, 'one at a time');
      this.taken.push(changes);
      return new Promise((resolve) => {
        this.next = resolve;
      });
    });
  }

  async release(): Promise<void> {
    await until(() => this.next !== null, 'something comes');
    const { next } = this;
    this.next = null;
    next?.();
  }
}

const add = (...sizes: readonly number[]): MempoolChange => ({ kind: 'add', txs: sizes.map((size) => new Uint8Array(size)) });
const sizes = (changes: readonly MempoolChange[]): unknown[] =>
  changes.map((change) =>
    change.kind === 'reset' ? 'reset' : (change.kind === 'add' ? change.txs : change.ids).map(({ length }) => length),
  );

async function withFlow(body: (flow: Flow, node: Node) => Promise<void>): Promise<void> {
  const flow = new Flow();
  const node = new Node();
  flow.following = node.following;
  try {
    await until(() => node.tell !== null, 'it is watched');
    await body(flow, node);
  } finally {
    flow.link.close();
    assert.equal(node.tell, null, 'nobody listens any more');
  }
}

describe('changes of a mempool on their way', () => {
  it('come together, in their order, and the next wait until they are taken', () =>
    withFlow(async (flow, node) => {
      node.tell?.(add(1, 2));
      node.tell?.({ kind: 'remove', ids: [new Uint8Array(32)] });
      node.tell?.(add(3));
      await until(() => flow.taken.length === 1, 'the first message');
      node.tell?.(add(4));
      await new Promise((resolve) => setTimeout(resolve, 120));
      assert.deepEqual(flow.taken.map(sizes), [[[1, 2], [32], [3]]]);
      await flow.release();
      await until(() => flow.taken.length === 2, 'the second message');
      assert.deepEqual(sizes(flow.taken[1]), [[4]]);
    }));

  it('come in messages of a bounded size, whatever is told at once, and a reset voids what waits', () =>
    withFlow(async (flow, node) => {
      const third = Math.floor(MEMPOOL_UPDATE_BYTES_MAX / 3);
      node.tell?.(add(...Array.from({ length: 8 }, () => third), 2 * MEMPOOL_UPDATE_BYTES_MAX, 5));
      for (let i = 0; i < 3; i++) await flow.release();
      await until(() => flow.taken.length === 4, 'the last message that was waiting');
      assert.deepEqual(flow.taken.map(sizes), [
        [[third, third, third]],
        [[third, third, third]],
        [[third, third]],
        [[2 * MEMPOOL_UPDATE_BYTES_MAX]],
      ]);
      node.tell?.({ kind: 'reset' });
      node.tell?.(add(9));
      await flow.release();
      await until(() => flow.taken.length === 5, 'what came behind');
      assert.deepEqual(sizes(flow.taken[4]), ['reset', [9]]);
    }));

  it('begin near the tip, end far from it, and begin anew with another source', async () => {
    const flow = new Flow();
    const node = new Node();
    node.tip = null;
    flow.following = node.following;
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(node.tell, null, 'a node that has not said where it is');
    node.tip = flow.height + READY_BLOCKS_BEHIND_MAX + 1;
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(node.tell, null, 'far from its tip');
    node.tip--;
    await until(() => node.tell !== null, 'it is watched near the tip');
    node.tip = flow.height + MEMPOOL_BEHIND_BLOCKS_MAX;
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.notEqual(node.tell, null, 'a burst of blocks does not end it');
    node.tip++;
    await until(() => node.tell === null, 'it is not watched any more');
    await flow.release();
    assert.deepEqual(flow.taken, [[{ kind: 'reset' }]]);
    const other = new Node();
    flow.following = other.following;
    await until(() => other.tell !== null, 'the other one is watched');
    flow.following = null;
    await until(() => other.tell === null, 'nothing is');
    await flow.release();
    assert.equal(flow.taken.length, 2);
    flow.link.close();
  });

  it('are not asked of a source without a mempool, and it takes no transactions', async () => {
    const flow = new Flow();
    await assert.rejects(new NodeLink(flow).submit(Uint8Array.of(1)), (error) => isUnspentError(error, 'UNSUPPORTED'));
    flow.following = { source: { name: 'a file', runs: () => assert.fail('nobody follows') }, progress: null };
    await new Promise((resolve) => setTimeout(resolve, 250));
    await assert.rejects(new NodeLink(flow).submit(Uint8Array.of(1)), /a file is followed, and it takes no transactions/);
    flow.following = new Node().following;
    assert.deepEqual(await new NodeLink(flow).submit(Uint8Array.of(1)), Uint8Array.of(7));
    await assert.rejects(new NodeLink(flow).ledger(), /a node is followed, and it says nothing of its ledger/);
    flow.link.close();
  });

  it('come out of their packet as they went in', () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 5 });
    const change = fc.oneof(
      fc.constant<MempoolChange>({ kind: 'reset' }),
      parts.map((txs): MempoolChange => ({ kind: 'add', txs })),
      parts.map((ids): MempoolChange => ({ kind: 'remove', ids })),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), (changes) => {
        const packed = structuredClone(packChanges(changes));
        assert.deepEqual(unpackChanges(packed), changes);
      }),
      { seed: TEST_SEED },
    );
  });
});
