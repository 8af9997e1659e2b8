/**
 * The pump between a source and the fold, with a queue and without: the same
 * story ends in the same store, told in any runs; the queue keeps the order and
 * its bound; and whoever waits is let go when the other side stops.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import type { Point } from '../../src/ledgers/ledger.ts';
import { type FollowFoldOptions, follow } from '../../src/sources/follow.ts';
import type { ChainEvent, FollowOptions, Run, Source } from '../../src/sources/source.ts';
import { isUnspentError, UnspentError } from '../../src/util/errors.ts';
import { assertIsModel } from '../support/expected.ts';
import { assertSameDump, Devnet, devnetOptions, dump, type Flavour, memoryRig, type Rig, TEST_SEED } from '../support/harness.ts';

/** A chain with its reorganisations, as events. The devnet ends where the story ends. */
function story(seed: number, flavour: Flavour): { devnet: Devnet; events: ChainEvent[] } {
  const devnet = new Devnet(devnetOptions(seed, flavour));
  const random = new Random(seed, 5);
  const events: ChainEvent[] = [];
  for (let turn = 0; turn < 12; turn++) {
    for (let n = 1 + random.int(20); n > 0; n--) events.push({ kind: 'forward', raw: devnet.chain.mine(), intact: random.chance(0.5) });
    const depth = Math.min(random.int(9), devnet.chain.blocks.length);
    devnet.chain.rollback(depth);
    const point: Point | null = devnet.chain.tip ?? null;
    if (depth > 0) events.push({ kind: 'back', point });
  }
  return { devnet, events };
}

/** The events cut into runs; some are empty, and some say that this is the tip. */
function cut(events: readonly ChainEvent[], random: Random): Run[] {
  const runs: Run[] = [];
  for (let at = 0; at < events.length; ) {
    const size = random.int(12);
    runs.push({ events: events.slice(at, at + size), atTip: random.chance(0.3) });
    at += size;
  }
  return [...runs, { events: [], atTip: true }];
}

function scripted(body: (options: FollowOptions) => AsyncIterable<Run>): Source {
  return { name: 'script:', runs: body };
}

function telling(runs: readonly Run[]): Source {
  return scripted(async function* () {
    for (const run of runs) {
      // Now and then the source is slower than the fold.
      if (run.events.length % 3 === 0) await new Promise(setImmediate);
      yield run;
    }
  });
}

/** Until the reader leaves. */
function wait(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function pump(rig: Rig, source: Source, options: Partial<FollowFoldOptions>): ReturnType<typeof follow> {
  return follow(source, rig.fold, rig.devnet.ledger, {
    until: { kind: 'end' },
    follow: false,
    groupBlocks: 10,
    signal: new AbortController().signal,
    ...options,
  });
}

describe('follow', () => {
  for (const [i, flavour] of (['conway', 'ancient', 'conway', 'ancient'] as const).entries()) {
    it(`ends in the same store whatever the groups (${flavour}, story ${i})`, async () => {
      const seed = TEST_SEED + i;
      const { devnet, events } = story(seed, flavour);
      const random = new Random(seed, 6);
      const results = [];
      for (const groupBlocks of [1, 3, 7, 10, 1000]) {
        const rig = memoryRig(devnet);
        const turns: string[] = [];
        const onRollback = (to: Point | null, undone: number) => turns.push(`${to?.height ?? 'origin'} -${undone}`);
        const { blocks, rollbacks, undone, reason } = await pump(rig, telling(cut(events, random)), { groupBlocks, onRollback });
        assertIsModel(rig, `groups of ${groupBlocks}`);
        results.push({ dump: dump(rig.engine), told: { turns, blocks, rollbacks, undone, reason } });
      }
      for (const { dump: other, told } of results) {
        assertSameDump(other, results[0].dump, `seed ${seed}`);
        assert.deepEqual(told, results[0].told);
      }
      assert.equal(results[0].told.rollbacks, events.filter(({ kind }) => kind === 'back').length);
    });
  }

  it('leaves a branch that a settled source, coming from behind, does not have', async () => {
    const devnet = new Devnet(devnetOptions(1, 'conway'));
    devnet.mine(30);
    const rig = memoryRig(devnet);
    const settled = (): Source => ({
      ...scripted(async function* () {
        yield { events: devnet.chain.blocks.map(({ raw }) => ({ kind: 'forward' as const, raw, intact: true })), atTip: true };
      }),
      final: true,
    });
    await pump(rig, settled(), {});
    devnet.chain.rollback(7);
    const lagging = await pump(rig, settled(), { groupBlocks: 1000 });
    assert.deepEqual([lagging.blocks, lagging.rollbacks, rig.fold.head?.height], [0, 0, 29], 'a source behind us takes nothing away');
    devnet.mine(9);
    const turned = await pump(rig, settled(), { groupBlocks: 1000 });
    assert.deepEqual([turned.rollbacks, turned.undone, turned.blocks], [1, 7, 9]);
    assertIsModel(rig);
  });

  it(`commits what it has when the source says it is at its tip`, async () => {
    const devnet = new Devnet(devnetOptions(1, 'conway'));
    devnet.mine(5);
    const rig = memoryRig(devnet);
    const stop = new AbortController();
    const source = scripted(async function* ({ signal }) {
      yield { events: devnet.chain.blocks.map(({ raw }) => ({ kind: 'forward' as const, raw, intact: true })), atTip: false };
      yield { events: [], atTip: true };
      await wait(signal);
    });
    const following = pump(rig, source, { groupBlocks: 1000, follow: true, signal: stop.signal });
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    const { head } = rig.fold;
    stop.abort();
    assert.equal((await following).reason, 'interrupted');
    assert.equal(head?.height, 4, 'before the reader was stopped');
  });

  it(`lets a waiting source go when it has what it came for`, async () => {
    const devnet = new Devnet(devnetOptions(1, 'conway'));
    devnet.mine(8);
    const rig = memoryRig(devnet);
    const source = scripted(async function* ({ signal }) {
      yield { events: devnet.chain.blocks.map(({ raw }) => ({ kind: 'forward' as const, raw, intact: true })), atTip: true };
      await wait(signal);
    });
    const pumped = await pump(rig, source, { follow: true, until: { kind: 'height', height: 6 } });
    assert.equal(pumped.reason, 'until');
    assert.equal(rig.fold.head?.height, 6);
  });

  it(`tells of a bad block at once, and keeps the good ones`, async () => {
    const devnet = new Devnet(devnetOptions(1, 'conway'));
    devnet.mine(9);
    const rig = memoryRig(devnet);
    const raws = devnet.chain.blocks.map(({ raw }) => raw);
    for (const [bad, code] of [
      [raws[8], 'BLOCK_UNLINKED'],
      [raws[4].subarray(0, 100), 'BLOCK_INVALID'],
    ] as const) {
      const source = scripted(async function* ({ signal }) {
        yield { events: [...raws.slice(0, 4), bad].map((raw) => ({ kind: 'forward' as const, raw, intact: true })), atTip: true };
        await wait(signal);
      });
      await assert.rejects(pump(rig, source, { follow: true }), (error) => isUnspentError(error, code));
      assert.equal(rig.fold.head?.height, 3);
    }
  });

  it(`passes on what goes wrong in the source, behind what came before`, async () => {
    const devnet = new Devnet(devnetOptions(1, 'conway'));
    devnet.mine(9);
    const rig = memoryRig(devnet);
    const source = scripted(async function* () {
      yield { events: devnet.chain.blocks.map(({ raw }) => ({ kind: 'forward' as const, raw, intact: true })), atTip: false };
      throw new UnspentError('SOURCE_DAMAGED', 'the disk is old');
    });
    await assert.rejects(pump(rig, source, {}), (error) => isUnspentError(error, 'SOURCE_DAMAGED'));
    assertIsModel(rig);
  });
});
