/**
 * What the log says while a chain is followed: of a node that is never reached,
 * lost and found again, of blocks, rollbacks, pruning, filling and what is slow;
 * by a clock of its own, and once with a real node that goes away.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { LiveDevnet } from '../../src/chains/cardano/devnet/live.ts';
import { serveChain } from '../../src/chains/cardano/responder/index.ts';
import { FollowLog, NO_PROGRESS } from '../../src/cli/follow-log.ts';
import { openOuroboros } from '../../src/sources/cardano/ouroboros/index.ts';
import type { FollowProgress } from '../../src/sources/follow.ts';
import type { PeerStatus } from '../../src/sources/peer.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { UnspentError } from '../../src/util/errors.ts';
import { LOG_PROGRESS_MS, LOG_PRUNED_MS, SLOW_BLOCK_MS, SLOW_COMMIT_MS } from '../../src/util/limits.ts';
import { Log } from '../../src/util/log.ts';
import { openFollower, SMALL } from '../chains/cardano/responder/net.ts';
import { DevnetStore } from '../support/devnet-store.ts';
import { until } from '../support/patience.ts';
import { temporary } from './run.ts';

/** `warn sources lost: text`. */
function loggedTo(lines: string[]): Log {
  return new Log({ level: 'debug' }, ({ level, room, event, text }) => lines.push(`${level} ${room} ${event}: ${text}`));
}

async function opened(t: TestContext, blocks: number, ...set: string[]): Promise<{ store: OpenStore; lines: string[]; log: FollowLog }> {
  const devnet = new DevnetStore(join(temporary(), 'data'), 3, set);
  devnet.mine(blocks);
  const store = await devnet.open();
  t.after(() => store.close());
  const lines: string[] = [];
  return { store, lines, log: new FollowLog(store, loggedTo(lines)) };
}

describe('the log of following', () => {
  test('tells a node that was never reached from one that was lost and found again', async (t) => {
    const { lines, log } = await opened(t, 1);
    t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 });
    const peer = 'n2n://node:3001';
    const unreachable = new UnspentError('SOURCE_UNREACHABLE', `${peer}: nobody listens there`);
    const status: PeerStatus = {
      ...{ state: 'connecting', peer, version: '', tip: null, at: null, lagBlocks: null },
      ...{ lastRollback: null, connections: 0, lost: 0, lastError: null, refusals: 0 },
    };
    log.peer(status);
    log.peer({ ...status, state: 'waiting', lost: 1, lastError: unreachable });
    assert.deepEqual(log.rows().slice(1), [
      ['peer', `${peer}, waiting`],
      ['never connected', `${peer}: nobody listens there`],
      ['last rollback', 'none'],
    ]);
    const found = { ...status, state: 'following', version: 'N2N 15', connections: 1, lost: 1, lastError: unreachable } as const;
    log.peer(found);
    // Told again that it is so: nothing has happened.
    log.peer(found);
    t.mock.timers.tick(65_000);
    const gone = new UnspentError('SOURCE_UNREACHABLE', `${peer}: the connection was closed`);
    log.peer({ ...found, state: 'waiting', version: '', lost: 2, lastError: gone });
    log.peer({ ...found, state: 'connecting', version: '', lost: 2, lastError: gone });
    log.peer({ ...found, state: 'waiting', version: '', lost: 3, lastError: unreachable });
    log.peer({ ...found, connections: 2, lost: 3 });
    assert.deepEqual(lines, [
      'warn sources unreachable: cannot connect to n2n://node:3001: nobody listens there, never connected so far; trying again',
      'info sources connected: connected to n2n://node:3001 (N2N 15)',
      'warn sources lost: lost n2n://node:3001 after 1m 5s: the connection was closed; trying again',
      'warn sources unreachable: cannot connect to n2n://node:3001: nobody listens there; trying again',
      'info sources connected: connected again to n2n://node:3001 (N2N 15)',
    ]);
    assert.deepEqual(log.rows()[2], ['lost', '3 connections, the last one: n2n://node:3001: nobody listens there']);
  });

  test('says how far it is while behind, when it has caught up, each block at the tip, and a rollback', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 });
    const { store, lines, log } = await opened(t, 6);
    const head = store.fold.head!;
    assert.deepEqual(log.rows()[0], ['lag', 'the source has not told its tip yet']);
    const at = (blocks: number, tip: number, more: Partial<FollowProgress> = {}): void =>
      log.progress({ ...NO_PROGRESS, blocks, txs: 3 * blocks, tip: { height: tip, slot: head.slot + 20 * (tip - head.height) }, ...more });
    at(1, 105);
    t.mock.timers.tick(LOG_PROGRESS_MS / 5);
    at(20, 105);
    t.mock.timers.tick(LOG_PROGRESS_MS - 1);
    at(30, 105);
    t.mock.timers.tick(1);
    at(40, 105);
    t.mock.timers.tick(1000);
    at(140, 5);
    t.mock.timers.tick(20_000);
    at(141, 5, { txs: 423, created: 9, spent: 4 });
    const utxos = store.totals()!.utxos;
    const place = `height 5, slot ${head.slot}`;
    assert.deepEqual(lines, [
      `info state progress: ${place}: 100 blocks and 33m 20s behind the tip (slot ${(head.slot + 2000).toLocaleString('en')}), 10 blocks/s`,
      `info state progress: ${place}: 100 blocks and 33m 20s behind the tip (slot ${(head.slot + 2000).toLocaleString('en')}), 2 blocks/s`,
      `info state block: 100 blocks up to 5, slot ${head.slot}: 300 transactions, +0 -0; ${utxos} unspent`,
      `info state caught up: caught up with the tip at ${place}, after 13s`,
      `info state block: block 5, slot ${head.slot}: 3 transactions, +9 -4; ${utxos} unspent`,
    ]);
    lines.length = 0;
    const to = store.locate('height:3')!;
    log.onRollback(to, store.rollback(to));
    t.mock.timers.tick(90_000);
    assert.deepEqual(lines, [`info state rolled back: rollback: 2 blocks undone, back at height 3, slot ${to.slot}`]);
    assert.deepEqual(log.rows().at(-1), ['last rollback', `2 blocks to height 3, slot ${to.slot}, 1m 30s ago`]);
  });

  test('adds up what was pruned, and says what was slow', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 });
    const { store, lines, log } = await opened(t, 12, 'utxo.pruneDepth=2', 'utxo.rollbackWindow=4');
    const counts = store.prune();
    assert.ok(counts.done && counts.deltas > 0);
    const horizon = store.horizon()!;
    const place = `the horizon is height ${horizon.height}, slot ${horizon.slot}`;
    assert.deepEqual(lines, [`info state pruned: pruned ${counts.spentKeys} spent outputs and ${counts.deltas} undo records; ${place}`]);
    lines.length = 0;
    const more = { ...counts, spentKeys: 3, deltas: 1 };
    log.pruned(more, 0);
    t.mock.timers.tick(LOG_PRUNED_MS);
    log.pruned({ ...more, done: false }, 0);
    assert.deepEqual(lines, [], 'not each, and not in the middle');
    log.pruned(more, 0);
    log.applied({ blocks: 1 } as Parameters<FollowLog['applied']>[0], SLOW_BLOCK_MS / 1000 - 0.001);
    log.applied({ blocks: 900 } as Parameters<FollowLog['applied']>[0], SLOW_COMMIT_MS / 1000 - 0.001);
    log.applied({ blocks: 1 } as Parameters<FollowLog['applied']>[0], SLOW_BLOCK_MS / 1000);
    log.applied({ blocks: 900 } as Parameters<FollowLog['applied']>[0], SLOW_COMMIT_MS / 1000);
    log.rolledBack(null, 7, SLOW_COMMIT_MS / 1000);
    t.mock.timers.tick(LOG_PRUNED_MS);
    log.pruned({ ...more, spentKeys: 0, deltas: 0 }, SLOW_COMMIT_MS / 1000);
    assert.deepEqual(lines, [
      `info state pruned: pruned 9 spent outputs and 3 undo records; ${place}`,
      'warn state slow: slow: block 11 took 2.0s to apply',
      'warn state slow: slow: 900 blocks took 10s to apply',
      'warn state slow: slow: 7 blocks took 10s to undo',
      'warn state slow: slow: a batch of pruning took 10s',
    ]);
    log.close();
    store.prune();
    assert.ok(!store.fold.watchers.has(log));
  });

  test('says of a node that goes away and comes back, and of what is filled meanwhile', async (t) => {
    const devnet = new LiveDevnet(SMALL);
    devnet.mine(5);
    const data = temporary();
    const before = await openFollower(t, data, 'store', devnet);
    before.fold.apply([before.network.ledger.decode(devnet.blocks[0].raw)]);
    await before.close();
    const store = await openFollower(t, data, 'store', devnet, ['utxo.balances=true']);
    const lines: string[] = [];
    const log = new FollowLog(store, loggedTo(lines));
    let responder = await serveChain(devnet, { port: 0 });
    const { port } = responder;
    const { magic, byronEpochSlots } = devnet.network;
    const onPeer = (status: PeerStatus): void => log.peer(status);
    const source = openOuroboros([`n2n://127.0.0.1:${port}`], { magic, byronEpochSlots, reconnectMs: [5, 40], onPeer });
    const stop = new AbortController();
    t.after(async () => {
      stop.abort();
      await ended;
      await responder.close();
      await devnet.close();
    });
    const ended = store.follow(source, {
      follow: true,
      signal: stop.signal,
      onProgress: (now) => log.progress(now),
      onRollback: (to, undone) => log.onRollback(to, undone),
    });
    const said = (pattern: RegExp): Promise<void> =>
      until(
        () => lines.some((line) => pattern.test(line)),
        () => `${pattern} in ${lines.join('\n')}`,
      );
    await said(/caught up: caught up with the tip at height 4/);
    await said(/filled: balance.stake is filled and ready$/);
    await responder.close();
    await said(/^warn sources lost: lost n2n:\S+ after [\d.]+s: .+; trying again$/);
    await said(/^warn sources unreachable: cannot connect to n2n:\S+: nobody listens there; trying again$/);
    devnet.fork(2);
    responder = await serveChain(devnet, { port: port! });
    await said(/^info sources connected: connected again to n2n:\S+ \(N2N 15\)$/);
    await said(/^info state rolled back: rollback: 2 blocks undone, back at height 2, slot \d+$/);
    await said(/^info state block: .*up to 5, slot \d+|^info state block: block 5, /);
    assert.equal(lines.filter((line) => line.includes(' filled: ')).length, 2, 'each of both kinds of balance once');
  });
});
