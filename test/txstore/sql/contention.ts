/**
 * Several connections work on the same records at the same time: spends and
 * unspends, blocks that come and go, losers and passes. Whatever the order was,
 * every count fits its rows, nothing that is unmined lacks a parent, each record is
 * deleted at most once, and nobody waits for ever.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../../src/chains/random.ts';
import { openTxStore } from '../../../src/txstore/open.ts';
import { PruneCounters } from '../../../src/txstore/prune/counters.ts';
import { runPass } from '../../../src/txstore/prune/pass.ts';
import { PRUNE_DEFAULTS } from '../../../src/txstore/prune/settings.ts';
import type { SqlTxStore } from '../../../src/txstore/sql/store.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import type { TestDatabases } from '../../support/sql/databases.ts';
import { executeIn } from '../../support/sql/execute.ts';
import { checkParents } from '../support/properties.ts';
import { ANYBODY, blockAt, idOf } from '../support/world.ts';
import { allRecords, checkCounts } from './databases.ts';

const SETTINGS = { retention: 3, window: 3 };
const FAMILIES = 12;
const STEPS = 40;

const parentOf = (n: number): Uint8Array => idOf(`P${n}`);
const childOf = (n: number): Uint8Array => idOf(`C${n}`);
const inputsOf = (n: number) => [0, 1].map((index) => ({ txId: parentOf((n + index) % FAMILIES), index }));
const outputs = [1n, 2n].map((amount) => ({ amount, script: ANYBODY }));

/** Child n spends of parents n and n + 1, so that writers of neighbours meet. */
async function fill(store: SqlTxStore): Promise<void> {
  const numbers = Array.from({ length: FAMILIES }, (_, n) => n);
  await store.create(
    numbers.map((n) => ({ txId: parentOf(n), inputs: [], outputs, blocks: [blockAt(1)] })),
    1,
  );
  await store.create(
    numbers.map((n) => ({ txId: childOf(n), inputs: inputsOf(n), outputs, blocks: [blockAt(2)] })),
    2,
  );
  await store.spend(
    numbers.map((n) => ({ txId: childOf(n), inputs: inputsOf(n) })),
    2,
  );
}

/** What others have deleted, hold or have marked is refused; anything else is a failure. */
const EXPECTED = ['TX_NOT_FOUND', 'STORE_DAMAGED', 'SPENT', 'INVALID_SPEND', 'TX_CONFLICTING', 'TX_LOCKED', 'HORIZON', 'INVALID_PARAM'];

async function disturb(store: SqlTxStore, random: Random): Promise<void> {
  for (let step = 0; step < STEPS; step++) {
    const n = random.int(FAMILIES);
    const spends = inputsOf(n).map((outpoint, vin) => ({ outpoint, spender: { txId: childOf(n), vin } }));
    const calls: readonly (() => Promise<unknown>)[] = [
      () => store.unspend(spends, 9),
      () => store.spend([{ txId: childOf(n), inputs: inputsOf(n) }], 9),
      () => store.unsetMined([childOf(n)], blockAt(2).hash, 9),
      () => store.setMined([{ txId: childOf(n), index: 0 }], blockAt(2), true, 9),
      () => store.setConflicting([childOf(n)], random.chance(0.5), 9),
      () => store.setLocked([parentOf(n), parentOf((n + 5) % FAMILIES)], random.chance(0.3), 9),
    ];
    try {
      await random.pick(calls)();
    } catch (error) {
      if (!isUnspentError(error) || !EXPECTED.includes(error.code)) throw error;
    }
  }
}

async function prune(store: SqlTxStore): Promise<number> {
  let deleted = 0;
  for (let requested = 12; requested < 12 + STEPS; requested++) {
    const heights = { requested, allowed: requested, window: SETTINGS.window };
    const settings = { ...PRUNE_DEFAULTS, chunkParents: 2, parallelChunks: 4 };
    deleted += (await runPass({ store, settings, heights, counters: new PruneCounters(), now: () => 0 })).deleted;
  }
  return deleted;
}

export function runTxContention(databases: TestDatabases): void {
  describe(`transaction store: many at once on ${databases.name}`, () => {
    it('SD49 SD50 F4 writers and passes on the same records leave them whole', async () => worksTogether(await databases.freshUrl()));

    if (databases.name === 'PostgreSQL')
      it('SD49 SD50 F4 the same where the server gives up one of two that meet (40001)', async () => {
        const url = await databases.freshUrl();
        const name = new URL(url).pathname.slice(1);
        await executeIn(url, `ALTER DATABASE "${name}" SET default_transaction_isolation = 'serializable'`);
        await worksTogether(url);
      });
  });
}

async function worksTogether(url: string): Promise<void> {
  const open = () => openTxStore(url, SETTINGS, { depthMax: SETTINGS.window }, { isDurable: false });
  const stores = [await open(), await open()];
  await fill(stores[0]);
  const writers = [1, 2, 3, 4].map((seed) => disturb(stores[seed % 2], new Random(seed)));
  const passes = stores.map(prune);
  await Promise.all(writers);
  const deleted = await Promise.all(passes);
  const records = await allRecords(stores[0]);
  assert.equal(records.length + deleted[0] + deleted[1], 2 * FAMILIES, 'each record is there, or was deleted once');
  checkParents(records);
  await checkCounts(url);
  for (const store of stores) await store.close();
}
