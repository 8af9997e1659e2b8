/**
 * How many statements a batch takes: the same for two transactions and for two
 * hundred. BEGIN and COMMIT are not counted.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openTxStore } from '../../../src/txstore/open.ts';
import { Pruner } from '../../../src/txstore/prune/pruner.ts';
import type { SqlTxStore } from '../../../src/txstore/sql/store.ts';
import type { TestDatabases } from '../../support/sql/databases.ts';
import { ANYBODY, blockAt, idOf } from '../support/world.ts';
import { emptyTxDatabase } from './databases.ts';

const SETTINGS = { retention: 10, window: 10 };
const SIZES = [2, 200];

/** A batch of so many families: parents A, their children B, which spend A's two outputs, and losers L of the same outputs. */
interface Families {
  readonly store: SqlTxStore;
  readonly count: number;
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
const ids = (letter: string, count: number): Uint8Array[] => numbers(count).map((n) => idOf(`${letter}${n}`));
const inputsOf = (n: number) => [0, 1].map((index) => ({ txId: idOf(`A${n}`), index }));
const outputs = [1n, 2n].map((amount) => ({ amount, script: ANYBODY }));
const spendsOf = (count: number) => numbers(count).map((n) => ({ txId: idOf(`B${n}`), inputs: inputsOf(n) }));
const heldBy = (letter: string, count: number) =>
  numbers(count).flatMap((n) => inputsOf(n).map((outpoint, vin) => ({ outpoint, spender: { txId: idOf(`${letter}${n}`), vin } })));
const mined = (letter: string, count: number) => ids(letter, count).map((txId, index) => ({ txId, index }));

/** In order, each on what those before it left. */
const BATCHES: readonly (readonly [name: string, statements: number, call: (families: Families) => Promise<unknown>])[] = [
  [
    'create, mined',
    4,
    ({ store, count }) =>
      store.create(
        ids('A', count).map((txId) => ({ txId, inputs: [], outputs, blocks: [blockAt(1)] })),
        1,
      ),
  ],
  [
    'create',
    4,
    ({ store, count }) =>
      store.create(
        spendsOf(count).map((tx) => ({ ...tx, outputs })),
        2,
      ),
  ],
  ['spend', 6, ({ store, count }) => store.spend(spendsOf(count), 2)],
  ['unspend', 5, ({ store, count }) => store.unspend(heldBy('B', count), 2)],
  ['spend again', 6, ({ store, count }) => store.spend(spendsOf(count), 2)],
  [
    'create losers',
    6,
    ({ store, count }) =>
      store.create(
        numbers(count).map((n) => ({ txId: idOf(`L${n}`), inputs: inputsOf(n), outputs, isConflicting: true })),
        2,
      ),
  ],
  ['setMined', 4, ({ store, count }) => store.setMined(mined('B', count), blockAt(3), true, 3)],
  ['unsetMined', 5, ({ store, count }) => store.unsetMined(ids('B', count), blockAt(3).hash, 3)],
  ['processConflicting: L takes from B', 16, ({ store, count }) => store.processConflicting(ids('L', count), 3)],
  ['processConflicting: B takes from L', 16, ({ store, count }) => store.processConflicting(ids('B', count), 3)],
  ['setMined again', 4, ({ store, count }) => store.setMined(mined('B', count), blockAt(4), true, 4)],
  ['setLocked', 3, ({ store, count }) => store.setLocked(ids('B', count), true, 4)],
  ['preserve', 3, ({ store, count }) => store.preserve(ids('B', count), 5, 4)],
  ['expirePreservations', 4, ({ store }) => store.expirePreservations(5)],
  ['batchGet', 6, ({ store, count }) => store.batchGet(ids('A', count))],
  ['delete', 3, ({ store, count }) => store.delete(ids('L', count))],
  ['a pass', 17, ({ store, count }) => pass(store, count)],
];

async function pass(store: SqlTxStore, count: number): Promise<void> {
  const conditions = async () => ({
    isIndexReady: true,
    isReorganising: false,
    isResetting: false,
    isCatchingUp: false,
    tipHeight: 20,
    appliedHeight: 20,
  });
  const outcome = await new Pruner({ store, conditions }).prune(20);
  assert.deepEqual([outcome.end, outcome.deleted], ['completed', count]);
}

export function runStatementCounts(databases: TestDatabases): void {
  describe(`transaction store: statements on ${databases.name}`, () => {
    it('a batch of two hundred takes as many statements as one of two', async () => {
      const url = await databases.freshUrl();
      let statements = 0;
      const beforeStatement = (sql: string): void => {
        if (!/^(begin|start transaction|commit|rollback)/i.test(sql)) statements++;
      };
      const store = await openTxStore(url, SETTINGS, { depthMax: 10 }, { isDurable: false, beforeStatement });
      for (const count of SIZES) {
        const found: (readonly [string, number])[] = [];
        for (const [name, , call] of BATCHES) {
          statements = 0;
          await call({ store, count });
          found.push([name, statements]);
        }
        const wanted = BATCHES.map(([name, expected]) => [name, expected]);
        assert.deepEqual(found, wanted, `${count} transactions`);
        await emptyTxDatabase(url);
      }
      await store.close();
    });
  });
}
