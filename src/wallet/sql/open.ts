/** Opens a wallet store on SQL by its URL, with the schema brought up to date. */
import { SqlDatabase, type SqlDatabaseOptions } from '../../sql/database.ts';
import { migrate } from '../../sql/migrate.ts';
import { WALLET_SCHEMA } from './schema.ts';
import { SqlWalletStore } from './store.ts';
import type { WalletTables } from './tables.ts';

/**
 * `sqlite:FILE` or `postgres://...`. Statements are planned once: planning a page of coins takes PostgreSQL as long as
 * reading it, and it would do so each time, because it takes a limit that it does not know for a tenth of all rows. Throws
 * USAGE, STORE_SCHEMA, DATABASE_BUSY, DATABASE_FAILED.
 */
export async function openSqlWalletStore(url: string, options: SqlDatabaseOptions = {}): Promise<SqlWalletStore> {
  const database = await SqlDatabase.open<WalletTables>(url, 'wallet database', { ...options, isPlannedOnce: true, isCommitChecked: true });
  try {
    await migrate(database, WALLET_SCHEMA);
  } catch (error) {
    await database.close();
    throw error;
  }
  return new SqlWalletStore(database);
}
