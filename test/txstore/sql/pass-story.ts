/**
 * A pass that is interrupted, for the tests of crashes: parents with children of
 * their own and shared ones, a chain in which each spends of the one before, and a
 * grandparent that stays and gets tombstones. A pass at `PASS_HEIGHT` deletes in
 * several chunks.
 */
import assert from 'node:assert/strict';
import type { SqlDatabaseOptions } from '../../../src/sql/database.ts';
import { openTxStore } from '../../../src/txstore/open.ts';
import { Pruner } from '../../../src/txstore/prune/pruner.ts';
import type { TxRecord } from '../../../src/txstore/records.ts';
import type { SqlTxStore } from '../../../src/txstore/sql/store.ts';
import type { TxStore } from '../../../src/txstore/store.ts';
import { equalBytes, toHex } from '../../../src/util/bytes.ts';
import { ANYBODY, blockAt, idOf, nameOf, outpointOf, SETTINGS } from '../support/world.ts';
import { allRecords } from './databases.ts';

export const PASS_HEIGHT = 388;

export function openStory(url: string, options: SqlDatabaseOptions = {}): Promise<SqlTxStore> {
  return openTxStore(url, SETTINGS, { depthMax: SETTINGS.window }, { isDurable: false, ...options });
}

/** What each transaction spends. */
const STORY: Readonly<Record<string, readonly string[]>> = {
  G: [],
  P0: ['G:0'],
  P1: ['G:1'],
  P2: ['G:2'],
  P3: ['G:3'],
  C0: ['P0:0'],
  C1: ['P1:0'],
  C2: ['P2:0'],
  C3: ['P3:0'],
  S: ['P0:1', 'P1:1', 'P2:1', 'P3:1'],
  D: ['C0:0'],
};
const OUTPUTS: Readonly<Record<string, number>> = { G: 5, P0: 2, P1: 2, P2: 2, P3: 2 };

/** Into an empty store. */
export async function fillStory(store: TxStore): Promise<void> {
  const spends = Object.entries(STORY).map(([name, inputs]) => ({ txId: idOf(name), inputs: inputs.map(outpointOf) }));
  const outputs = (name: string) => Array.from({ length: OUTPUTS[name] ?? 1 }, () => ({ amount: 1n, script: ANYBODY }));
  const txs = Object.keys(STORY).map((name, n) => ({ ...spends[n], outputs: outputs(name), blocks: [blockAt(100)] }));
  await store.create(txs, 100);
  await store.spend(spends, 100);
}

/** Throws what ended the pass. */
export async function runStoryPass(store: TxStore): Promise<void> {
  const conditions = async () => ({
    isIndexReady: true,
    isReorganising: false,
    isResetting: false,
    isCatchingUp: false,
    tipHeight: PASS_HEIGHT,
    appliedHeight: PASS_HEIGHT,
  });
  const outcome = await new Pruner({ store, settings: { chunkParents: 2, parallelChunks: 1 }, conditions }).prune(PASS_HEIGHT);
  if (outcome.error !== null) throw outcome.error;
  assert.ok(outcome.end === 'completed' || outcome.reason === 'completed', `${outcome.end} ${outcome.reason}`);
}

/** F15: whatever is gone is gone as a whole, with a tombstone in every record whose slot names it, and nothing else has one. */
export function checkWhole(records: readonly TxRecord[]): void {
  const present = new Set(records.map(({ txId }) => toHex(txId)));
  for (const { txId, outputs, tombstones } of records) {
    const early = tombstones.find((tombstone) => present.has(toHex(tombstone.txId)));
    assert.equal(early, undefined, `${nameOf(txId)} has a tombstone of a record that is there`);
    for (const { slot } of outputs) {
      const child = slot?.spender?.txId;
      if (child === undefined || present.has(toHex(child))) continue;
      const isPruned = tombstones.some((tombstone) => equalBytes(tombstone.txId, child));
      assert.ok(isPruned, `${nameOf(txId)} is spent by ${nameOf(child)}, which is gone without a tombstone`);
    }
  }
}

/** Of a store in which the pass has come to its end. */
export async function checkPassed(store: SqlTxStore): Promise<void> {
  const records = await allRecords(store);
  checkWhole(records);
  const names = records.map(({ txId }) => nameOf(txId));
  assert.deepEqual(names, ['C1', 'C2', 'C3', 'D', 'G', 'S'], 'without the P and C0');
  const [grandparent] = records.filter(({ txId }) => nameOf(txId) === 'G');
  assert.deepEqual(
    grandparent.tombstones.map(({ txId }) => nameOf(txId)),
    ['P0', 'P1', 'P2', 'P3'],
  );
  assert.equal((await store.pruneProgress()).lastCompleted, PASS_HEIGHT);
}
