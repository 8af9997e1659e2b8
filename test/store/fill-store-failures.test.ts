/**
 * Switches of a store when something goes wrong: a crash at any moment of the
 * change, and a source that fails, ends or turns beside the fill.
 */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { before, beforeEach, describe, it } from 'node:test';
import { type Identity, readIdentity, writeIdentity } from '../../src/engine/directory.ts';
import type { Source } from '../../src/sources/source.ts';
import type { FollowSettings } from '../../src/store/store.ts';
import { FILL_ROWS_MAX, FILL_ROWS_MIN, FILL_STEP_MS } from '../../src/util/limits.ts';
import {
  ALL,
  ASSET,
  assertStraight,
  data,
  devnet,
  fillPart,
  identity,
  names,
  openWith,
  root,
  STAKE,
  sourceTo,
  using,
} from './fill-store-rig.ts';

describe('a crash while switching', () => {
  /** The moments of an open that switches ASSET on and STAKE off, as they are found after a crash. */
  let moments: { readonly what: string; readonly at: string }[];
  before(async () => {
    const grown = join(root, 'grown');
    await using(openWith([STAKE], { data: grown }), (store) => store.follow(sourceTo(20, 5)));
    const half = join(root, 'half');
    cpSync(grown, half, { recursive: true });
    await using(openWith([ASSET], { data: half }), (store) => fillPart(store, 1));
    const during = { ...readIdentity(grown)!, columns: readIdentity(half)!['columns'], projections: names([]) };
    const copy = (from: string, name: string, says: Identity): string => {
      const at = join(root, name);
      cpSync(from, at, { recursive: true });
      writeIdentity(at, says);
      return at;
    };
    moments = [
      { what: 'before anything was written', at: grown },
      { what: 'unspent.json no longer names what goes', at: copy(grown, 'named', during) },
      { what: 'the rows are gone and the fill has begun, unspent.json does not say so', at: copy(half, 'begun', during) },
      { what: 'everything was written', at: half },
    ];
  });

  for (const index of [0, 1, 2, 3]) {
    for (const [settings, on] of Object.entries({
      'the new': [ASSET],
      'the old': [STAKE],
      both: [STAKE, ASSET],
      neither: [],
      other: ['utxo.balances'],
    })) {
      it(`at moment ${index}, opened with ${settings} settings`, async () => {
        const { what, at } = moments[index];
        cpSync(at, data, { recursive: true });
        await using(openWith([], { create: false }), (store) => assert.deepEqual(store.verify().faults, [], what));
        await using(openWith(on), async (store) => {
          store.rollback(devnet.chain.blocks[12]);
          await store.follow(sourceTo(24, 3));
          await assertStraight(store, on, what);
        });
        assert.deepEqual(identity().projections, names(on));
      });
    }
  }

  it('reads what a version wrote that did not list its columns', async () => {
    cpSync(moments[0].at, data, { recursive: true });
    const { columns: _, ...old } = readIdentity(data)!;
    writeIdentity(data, old as Identity);
    await using(openWith([ASSET]), async (store) => {
      assert.deepEqual(store.reshaped, { added: ['index.asset'], removed: ['index.stake'] });
      await store.follow(sourceTo(24, 3));
      await assertStraight(store, [ASSET], 'an older store');
    });
  });
});

describe('a fill beside a source', () => {
  beforeEach(() => using(openWith([STAKE]), (store) => store.follow(sourceTo(20, 5))));

  it('stops with a source that fails, and goes on with the next', async () => {
    await using(openWith([STAKE, ASSET]), async (store) => {
      const failing = sourceTo(30, 1, (at) => {
        if (at === 21) throw new Error('the line is dead');
      });
      await assert.rejects(store.follow(failing), /the line is dead/);
      assert.equal(store.fills().length, 1);
      await store.follow(sourceTo(30, 1));
      await assertStraight(store, [STAKE, ASSET], 'after a failure');
    });
  });

  it('that fails stops the source, and the store is good', async () => {
    await using(openWith([STAKE, ASSET]), async (store) => {
      const { engine } = store;
      const scan = engine.scan.bind(engine);
      let stopped = false;
      const waiting: Source = {
        name: 'waiting:',
        async *runs({ signal }) {
          yield { events: [], atTip: true };
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
          stopped = true;
        },
      };
      let scans = 0;
      engine.scan = (column, options) => {
        if (column === 'utxo_unspent' && ++scans === 3) throw new Error('a bad sector');
        return scan(column, options);
      };
      await assert.rejects(store.follow(waiting, { follow: true }), /a bad sector/);
      assert.ok(stopped);
      engine.scan = scan;
      assert.ok(store.fills()[0].done > 0);
      await store.follow(sourceTo(30, 1));
      await assertStraight(store, [STAKE, ASSET], 'after a failed fill');
    });
  });

  it('becomes ready while the source has nothing to say', async () => {
    await using(openWith([STAKE, ASSET]), async (store) => {
      const stop = new AbortController();
      const quiet: Source = {
        name: 'quiet:',
        async *runs({ signal }) {
          yield { events: [], atTip: true };
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        },
      };
      const onFill: FollowSettings['onFill'] = (fills) => {
        if (fills.length === 0) setTimeout(() => stop.abort(), 20);
      };
      const { reason } = await store.follow(quiet, { follow: true, signal: stop.signal, onFill });
      assert.equal(reason, 'interrupted');
      await assertStraight(store, [STAKE, ASSET], 'filled at the tip');
    });
  });

  it('is interrupted with it', async () => {
    await using(openWith([STAKE, ASSET]), async (store) => {
      const stop = new AbortController();
      const { reason, blocks } = await store.follow(sourceTo(20, 5), { signal: stop.signal, onFillStep: () => stop.abort() });
      assert.equal(reason, 'interrupted');
      assert.equal(blocks, 0);
      assert.equal(store.fills().length, 1);
      assert.equal((await store.follow(sourceTo(21, 5))).reason, 'end');
      await assertStraight(store, [STAKE, ASSET], 'after an interruption');
    });
  });

  it('takes as many outputs a step as its time allows', async () => {
    await using(openWith([STAKE, ASSET]), async (store) => {
      const steps: [number, number][] = [];
      await store.fill({ onStep: (seconds, rows) => steps.push([seconds, rows]) });
      // The last step of all takes what is left.
      for (let i = 1; i < steps.length - 1; i++) {
        const [seconds, before] = steps[i - 1];
        const [, rows] = steps[i];
        const wanted = 1000 * seconds > FILL_STEP_MS ? before >> 1 : 2000 * seconds > FILL_STEP_MS ? before : 2 * before;
        assert.equal(rows, Math.min(FILL_ROWS_MAX, Math.max(FILL_ROWS_MIN, wanted)));
      }
      assert.ok(steps.length > 2);
    });
  });

  it('gives blocks and readers their turn', async () => {
    await using(openWith([STAKE, ...ALL]), async (store) => {
      const heights: number[] = [];
      let turns = 0;
      const ticking = setInterval(() => turns++, 0);
      await store.follow(sourceTo(24, 1), { onFillStep: () => heights.push(store.fold.head!.height) });
      clearInterval(ticking);
      assert.ok(new Set(heights).size > 1, `blocks came between the steps: ${heights}`);
      assert.ok(turns > 0);
      await assertStraight(store, ALL, 'side by side');
    });
  });
});
