/** Transaction stores in databases of the tests, for the stories. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { openTxStore } from '../../../src/txstore/open.ts';
import type { TxRecord } from '../../../src/txstore/records.ts';
import type { ReorganisationLimit } from '../../../src/txstore/rules/settings.ts';
import { SqlTxStore } from '../../../src/txstore/sql/store.ts';
import type { TxStoreDatabase } from '../../../src/txstore/sql/tables.ts';
import type { TxStoreSettings } from '../../../src/txstore/store.ts';
import type { MakeSchema } from '../../support/sql/databases.ts';
import { executeIn } from '../../support/sql/execute.ts';
import { fileOf } from '../../support/sql/sqlite-files.ts';
import { type OpenedTxStore, type OpenTxStore, SETTINGS } from '../support/world.ts';

export const makeTxSchema: MakeSchema = async (url) => (await openTxStore(url, SETTINGS, { depthMax: SETTINGS.window })).close();

const TABLES = ['tx', 'tx_in', 'tx_out', 'tx_block', 'conflicting_child', 'tombstone'];
const UNPRUNED =
  'UPDATE prune_progress SET last_completed = 0, pruned_height = 0, unfinished_height = NULL, cursor_height = NULL, cursor_hash = NULL';

/** Empties a database that stays open: far cheaper than a new one. */
export async function emptyTxDatabase(url: string): Promise<void> {
  if (!url.startsWith('sqlite:')) {
    await executeIn(url, `DELETE FROM tx; ${UNPRUNED}`);
    return;
  }
  using database = new DatabaseSync(fileOf(url), { timeout: 10_000, enableForeignKeyConstraints: false });
  const emptied = TABLES.map((table) => `DELETE FROM ${table}`);
  database.exec(`PRAGMA synchronous = OFF; BEGIN IMMEDIATE; ${emptied.join('; ')}; ${UNPRUNED}; COMMIT`);
}

/** Opens the database of the URL, emptied, for each story anew: pools, statements and all. */
export function openerOf(url: string): OpenTxStore {
  const open = async (settings: TxStoreSettings, limit: ReorganisationLimit): Promise<OpenedTxStore> => {
    const store = await openTxStore(url, settings, limit, { isDurable: false });
    const close = (): Promise<void> => store.close();
    const reopen = async (): Promise<OpenedTxStore> => {
      await close();
      return open(settings, limit);
    };
    return { store, records: () => allRecords(store), checkIndexes: () => checkCounts(url), reopen, close };
  };
  return async (settings, limit) => {
    await emptyTxDatabase(url);
    return open(settings, limit);
  };
}

/** Empties one database that stays open: for many lives in a row. Whoever opened it closes it. */
export function emptierOf(database: TxStoreDatabase): OpenTxStore {
  // Nobody vacuums the server of the tests: rows that are only deleted make every life slower than the one before.
  const emptied = database.kind === 'postgres' ? 'TRUNCATE tx CASCADE' : 'DELETE FROM tx';
  return async (settings, limit) => {
    await database.write(async ({ db }) => {
      for (const statement of [emptied, UNPRUNED]) await sql.raw(statement).execute(db);
    });
    const store = new SqlTxStore(database, settings, limit);
    const opened: OpenedTxStore = {
      store,
      records: () => allRecords(store),
      // Every count is compared with the model's.
      checkIndexes: async () => {},
      reopen: async () => opened,
      close: async () => {},
    };
    return opened;
  };
}

export async function allRecords(store: SqlTxStore): Promise<TxRecord[]> {
  const records: TxRecord[] = [];
  for await (const record of store.records()) records.push(record);
  return records;
}

/** What a row of `tx` says of rows that belong to it. The database itself keeps the indexes. */
const WRONG_COUNTS = `SELECT t.output_count, t.spent_count FROM tx t WHERE
  t.output_count <> (SELECT COUNT(*) FROM tx_out o WHERE o.tx_hash = t.hash)
  OR t.spent_count <> (SELECT COUNT(*) FROM tx_out o WHERE o.tx_hash = t.hash AND o.spent_by_hash IS NOT NULL)
  OR t.spendable < (SELECT COUNT(*) FROM tx_out o WHERE o.tx_hash = t.hash AND o.slot_hash IS NOT NULL)`;

export async function checkCounts(url: string): Promise<void> {
  assert.deepEqual(await executeIn(url, WRONG_COUNTS), []);
}
