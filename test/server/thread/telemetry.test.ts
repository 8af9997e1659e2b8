/**
 * What the following side tells the serving side: everything, in few messages at
 * full speed, and at once at the tip.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openNetwork } from '../../../src/families/networks.ts';
import { type LiveStatus, type LiveUpdate, NOT_FOLLOWING } from '../../../src/server/thread/live.ts';
import { Telemetry } from '../../../src/server/thread/telemetry.ts';
import type { Source } from '../../../src/sources/source.ts';
import type { Fold, FoldWatcher } from '../../../src/state/fold.ts';
import type { FollowState, OpenStore } from '../../../src/store/store.ts';
import { LIVE_UPDATE_MS } from '../../../src/util/limits.ts';
import { until } from '../../support/patience.ts';

class Desk {
  readonly updates: LiveUpdate[] = [];
  readonly watchers = new Set<FoldWatcher>();
  readonly store: Pick<OpenStore, 'fold' | 'following' | 'followFailure' | 'fills' | 'network' | 'txs' | 'publishing'> & {
    readonly consumers: { readonly wallets: null };
  };
  fills: { projection: string; done: number; rows: number }[] = [];
  readonly telemetry: Telemetry;

  constructor(first?: LiveStatus) {
    const network = openNetwork('preview', null);
    this.store = {
      fold: { watchers: this.watchers } as Fold,
      following: null,
      followFailure: null,
      fills: () => this.fills,
      network,
      txs: null,
      publishing: null,
      consumers: { wallets: null },
    };
    this.telemetry = new Telemetry(this.store, (update) => this.updates.push(structuredClone(update)), first);
  }

  get last(): LiveUpdate {
    return this.updates.at(-1)!;
  }

  commit(blocks: number): void {
    for (const watcher of this.watchers) watcher.applied?.({ blocks, created: 3 * blocks, spent: 2 * blocks }, 0.001);
  }

  /** A node that is followed, and what it says of itself. */
  follow(peer: object | null, progress: Partial<NonNullable<FollowState['progress']>>): FollowState {
    const source = { name: 'n2n://user:secret@host:1', runs: () => assert.fail(), ...(peer === null ? {} : { status: () => peer }) };
    const counts = { blocks: 0, bytes: 0, txs: 0, created: 0, spent: 0, rollbacks: 0, undone: 0, queued: 0, tip: undefined };
    const following = { source: source as Source, progress: { ...counts, ...progress } };
    (this.store as { following: FollowState | null }).following = following;
    return following;
  }
}

describe('telemetry', () => {
  it('is connecting from the start where something will be followed, and stopped when that ends', () => {
    const idle = new Desk();
    assert.equal(idle.last.status.state, 'idle');
    const desk = new Desk({ ...NOT_FOLLOWING, state: 'connecting' });
    assert.deepEqual([desk.last.status.state, desk.last.status.sourceTip], ['connecting', null]);
    desk.follow(null, { tip: { slot: 9, height: 3 } });
    assert.deepEqual(desk.telemetry.status().state, 'following');
    (desk.store as { following: FollowState | null }).following = null;
    assert.equal(desk.telemetry.status().state, 'stopped');
    for (const { telemetry } of [idle, desk]) telemetry.close();
  });

  it('one commit is told at once, a thousand in a few messages, and nothing is lost', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    const desk = new Desk();
    const before = desk.updates.length;
    desk.commit(1);
    // Long before the next sign of life.
    t.mock.timers.tick(LIVE_UPDATE_MS);
    assert.equal(desk.updates.length, before + 1);
    assert.equal(desk.last.moved, true);
    assert.deepEqual(desk.last.timings, [{ what: 'apply', seconds: 0.001, blocks: 1 }]);

    for (let i = 1; i <= 1000; i++) {
      desk.commit(10);
      if (i % 100 === 0) t.mock.timers.tick(LIVE_UPDATE_MS);
    }
    const messages = desk.updates.slice(before + 1);
    assert.equal(messages.length, 10);
    assert.equal(desk.last.status.blocks, 10_001);
    assert.equal(desk.last.status.created, 30_003);
    assert.equal(desk.last.status.spent, 20_002);
    assert.equal(
      messages.flatMap(({ timings }) => timings).reduce((sum, { blocks }) => sum + blocks, 0),
      10_000,
    );
    desk.telemetry.close();
    assert.equal(desk.watchers.size, 0);
  });

  it('what is followed, the peer, and what came of it', async () => {
    const desk = new Desk();
    assert.equal(desk.last.status.state, 'idle');
    const peer = { state: 'waiting', peer: 'n2n://host:1', version: '', tip: null, lost: 2, lastError: new Error('gone') };
    desk.follow(peer, { txs: 5, bytes: 100, queued: 7, tip: { slot: 90, height: 9 } });
    desk.commit(1);
    await until(() => desk.last.moved, 'the message');
    const { status } = desk.last;
    assert.deepEqual(
      [status.state, status.peer, status.version, status.sourceTip, status.txs, status.bytes, status.queued],
      ['waiting', 'n2n://host:1', null, { slot: 90, height: 9 }, 5, 100, 7],
    );
    assert.deepEqual([status.connectionsLost, status.lastError], [2, 'gone']);

    // Another source: what was counted before stays counted.
    desk.follow(null, { txs: 3, bytes: 10 });
    desk.fills = [{ projection: 'datums', done: 0.5, rows: 4 }];
    assert.deepEqual([desk.telemetry.status().txs, desk.telemetry.status().bytes, desk.telemetry.status().connectionsLost], [8, 110, 2]);
    assert.equal(desk.telemetry.status().state, 'following');
    assert.deepEqual(desk.telemetry.status().fills, [{ projection: 'datums', done: 0.5 }]);
    (desk.store as { following: null }).following = null;
    assert.deepEqual([desk.telemetry.status().state, desk.telemetry.status().txs, desk.telemetry.status().lastError], ['stopped', 8, null]);
    (desk.store as { followFailure: Error }).followFailure = new Error('the disk is gone');
    assert.equal(desk.telemetry.status().lastError, 'the disk is gone');
    desk.telemetry.close();
  });

  it('the last rollbacks, pruning, and a fill, after which readers must look again', async () => {
    const desk = new Desk();
    for (let i = 1; i <= 25; i++)
      for (const watcher of desk.watchers) watcher.rolledBack?.({ height: i, slot: 10 * i, hash: new Uint8Array([i]) }, i, 0.01);
    for (const watcher of desk.watchers) {
      watcher.pruned?.({ blocks: 4, spentKeys: 9, deltas: 2, visited: 6, done: true }, 0.02);
      watcher.filled?.(100, 0.03);
      watcher.rolledBack?.(null, 1, 0.01);
    }
    await until(() => desk.last.moved, 'the message');
    const { status, timings } = desk.last;
    assert.equal(status.rollbacks.length, 20);
    assert.deepEqual(
      status.rollbacks.slice(-2).map(({ to, undone }) => ({ to, undone })),
      [
        { to: { height: 25, slot: 250, hash: '19' }, undone: 25 },
        { to: null, undone: 1 },
      ],
    );
    assert.equal(status.undone, (25 * 26) / 2 + 1);
    assert.equal(status.prunedKeys, 9);
    assert.deepEqual(timings.slice(-3), [
      { what: 'prune', seconds: 0.02, blocks: 6 },
      { what: 'fill', seconds: 0.03, blocks: 0 },
      { what: 'rollback', seconds: 0.01, blocks: 1 },
    ]);
    desk.telemetry.close();
  });

  it('a sign now and then, though nothing moves', async () => {
    const desk = new Desk();
    const before = desk.updates.length;
    await until(() => desk.updates.length > before, 'the next message');
    assert.equal(desk.last.moved, false);
    desk.telemetry.close();
  });
});
