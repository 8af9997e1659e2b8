/** What the database itself refuses, whatever the program says: each check of the schema is broken once, by its name. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestDatabases } from '../../support/sql/databases.ts';
import { executeIn } from '../../support/sql/execute.ts';
import { ANYBODY, idOf } from '../support/world.ts';
import { fillStory, openStory } from './pass-story.ts';

/** `{}`: 31 bytes. */
const BROKEN: readonly (readonly [check: string, statement: string])[] = [
  [
    'tx_hash_length',
    'INSERT INTO tx (hash, version, output_count, spendable, spent_count, is_coinbase, is_conflicting, is_locked, is_creating) VALUES ({}, 1, 0, 0, 0, 0, 0, 0, 0)',
  ],
  ['version_range', 'UPDATE tx SET version = 0'],
  ['output_count_range', 'UPDATE tx SET output_count = -1'],
  ['spent_count_range', 'UPDATE tx SET spent_count = spendable + 1'],
  ['is_coinbase_flag', 'UPDATE tx SET is_coinbase = 2'],
  ['is_conflicting_flag', 'UPDATE tx SET is_conflicting = 2'],
  ['is_locked_flag', 'UPDATE tx SET is_locked = 2 WHERE delete_at_height IS NULL'],
  ['is_creating_flag', 'UPDATE tx SET is_creating = 2 WHERE delete_at_height IS NULL'],
  ['coinbase_spendable_at_range', 'UPDATE tx SET coinbase_spendable_at = 4294967296, is_coinbase = 1'],
  ['delete_at_height_range', 'UPDATE tx SET delete_at_height = -1 WHERE delete_at_height IS NOT NULL'],
  ['unmined_since_range', 'UPDATE tx SET unmined_since = -1 WHERE delete_at_height IS NULL'],
  ['preserve_until_range', 'UPDATE tx SET preserve_until = -1 WHERE delete_at_height IS NULL'],
  ['coinbase_is_complete', 'UPDATE tx SET is_coinbase = 1'],
  ['preserved_is_not_due', 'UPDATE tx SET preserve_until = 5000 WHERE delete_at_height IS NOT NULL'],
  ['due_is_done', 'UPDATE tx SET delete_at_height = 500 WHERE spent_count < spendable'],
  ['due_is_done', 'UPDATE tx SET unmined_since = 100 WHERE delete_at_height IS NOT NULL'],
  ['due_is_done', 'UPDATE tx SET is_locked = 1 WHERE delete_at_height IS NOT NULL'],
  ['due_is_done', 'UPDATE tx SET is_creating = 1 WHERE delete_at_height IS NOT NULL'],
  ['pruned_blob_length', 'INSERT INTO pruned_blob VALUES ({})'],
  ['input_index_range', 'UPDATE tx_in SET idx = -1 WHERE idx = 0'],
  ['prev_hash_length', 'UPDATE tx_in SET prev_hash = {}'],
  ['prev_index_range', 'UPDATE tx_in SET prev_idx = -1'],
  ['output_index_range', 'UPDATE tx_out SET idx = -1 WHERE idx = 0'],
  ['amount_range', 'UPDATE tx_out SET amount = -1'],
  ['slot_hash_length', 'UPDATE tx_out SET slot_hash = {}'],
  ['is_frozen_flag', 'UPDATE tx_out SET is_frozen = 2 WHERE spent_by_hash IS NULL'],
  ['spendable_from_range', 'UPDATE tx_out SET spendable_from = -1'],
  ['spent_by_hash_length', 'UPDATE tx_out SET spent_by_hash = {}, spent_vin = 0'],
  ['spent_vin_range', 'UPDATE tx_out SET spent_vin = -1 WHERE spent_by_hash IS NOT NULL'],
  ['spender_is_complete', 'UPDATE tx_out SET spent_vin = NULL WHERE spent_by_hash IS NOT NULL'],
  ['frozen_is_not_spent', 'UPDATE tx_out SET is_frozen = 1 WHERE spent_by_hash IS NOT NULL'],
  ['unspendable_is_untouched', 'UPDATE tx_out SET slot_hash = NULL WHERE spent_by_hash IS NOT NULL'],
  ['block_place_range', 'UPDATE tx_block SET place = -1'],
  ['block_hash_length', 'UPDATE tx_block SET block_hash = {}'],
  ['block_height_range', 'UPDATE tx_block SET block_height = 0'],
  ['block_index_range', 'UPDATE tx_block SET block_index = -1'],
  ['is_on_best_chain_flag', 'UPDATE tx_block SET is_on_best_chain = 2'],
  ['tombstone_child_length', 'INSERT INTO tombstone (tx_hash, child_hash, pruned_at) SELECT hash, {}, 1 FROM tx'],
  ['pruned_at_range', 'INSERT INTO tombstone (tx_hash, child_hash, pruned_at) SELECT hash, hash, -1 FROM tx'],
  ['one_progress', 'INSERT INTO prune_progress (id, last_completed, pruned_height) VALUES (2, 0, 0)'],
  ['cursor_is_complete', 'UPDATE prune_progress SET unfinished_height = 1, cursor_height = 1'],
  ['cursor_of_pass', 'UPDATE prune_progress SET cursor_height = 1, cursor_hash = {}'],
];

/** Keys, whose messages do not have the name of a check in both databases. */
const BROKEN_KEYS: readonly (readonly [what: string, statement: string, message: RegExp])[] = [
  ['two records of one id', 'INSERT INTO tx SELECT * FROM tx', /unique/i],
  ['a block twice', 'INSERT INTO tx_block SELECT tx_hash, place + 1, block_hash, block_height, block_index, 1 FROM tx_block', /unique/i],
  ['an input of nobody', 'INSERT INTO tx_in VALUES ({32}, 0, {32}, 0)', /foreign key/i],
  ['an output of nobody', 'INSERT INTO tx_out (tx_hash, idx, amount, script, is_frozen) VALUES ({32}, 0, 0, {32}, 0)', /foreign key/i],
  ['a block of nobody', 'INSERT INTO tx_block VALUES ({32}, 0, {32}, 1, 0, 1)', /foreign key/i],
  ['a loser that is not there', 'INSERT INTO conflicting_child SELECT hash, {32} FROM tx', /foreign key/i],
  ['a tombstone of nobody', 'INSERT INTO tombstone VALUES ({32}, {32}, 1)', /foreign key/i],
];

export function runConstraints(databases: TestDatabases): void {
  const isSqlite = databases.name === 'SQLite';
  const bytes = (count: number): string => (isSqlite ? `zeroblob(${count})` : `decode(repeat('00', ${count}), 'hex')`);
  const filled = (statement: string): string => statement.replaceAll('{}', bytes(31)).replaceAll('{32}', bytes(32));

  describe(`transaction store: what ${databases.name} refuses`, () => {
    it('every check and every key', async () => {
      const url = await databases.freshUrl();
      const store = await openStory(url);
      await fillStory(store);
      for (const [check, statement] of BROKEN) {
        const isRefused = (error: unknown): boolean => new RegExp(`\\b${check}\\b`).test((error as Error).message);
        await assert.rejects(executeIn(url, filled(statement)), isRefused, `${check}: ${statement}`);
      }
      for (const [what, statement, message] of BROKEN_KEYS) await assert.rejects(executeIn(url, filled(statement)), message, what);
      await store.close();
    });

    it('an amount that is no amount of a chain is refused before the database sees it', async () => {
      const store = await openStory(await databases.freshUrl());
      for (const amount of [-1n, 2n ** 63n]) {
        const tx = { txId: idOf('X'), inputs: [], outputs: [{ amount, script: ANYBODY }] };
        await assert.rejects(store.create([tx], 1), { code: 'INVALID_PARAM' });
      }
      await store.create([{ txId: idOf('X'), inputs: [], outputs: [{ amount: 2n ** 63n - 1n, script: ANYBODY }] }], 1);
      assert.equal((await store.batchGet([idOf('X')]))[0]?.outputs[0].amount, 2n ** 63n - 1n);
      await store.close();
    });

    it('whatever belongs to a record goes with it', async () => {
      const url = await databases.freshUrl();
      const store = await openStory(url);
      await fillStory(store);
      await executeIn(url, 'DELETE FROM tx');
      for (const table of ['tx_in', 'tx_out', 'tx_block', 'conflicting_child', 'tombstone']) {
        assert.deepEqual(await executeIn(url, `SELECT * FROM ${table}`), [], table);
      }
      await store.close();
    });
  });
}
