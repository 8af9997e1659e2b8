/** Opens a wallet store on SQL by its URL, with the schema brought up to date. */
import { SqlDatabase, type SqlDatabaseOptions } from '../../sql/database.ts';
import { migrate } from '../../sql/migrate.ts';
import { WALLET_SCHEMA } from './schema.ts';
import { SqlWalletStore } from './store.ts';
import type { WalletTables } from './tables.ts';

/** `sqlite:FILE` or `postgres://...`. Throws USAGE, STORE_SCHEMA, DATABASE_BUSY, DATABASE_FAILED. */
export async function openSqlWalletStore(url: string, options: SqlDatabaseOptions = {}): Promise<SqlWalletStore> {
  const database = await SqlDatabase.open<WalletTables>(url, 'wallet database', options);
  try {
    await migrate(database, WALLET_SCHEMA);
  } catch (error) {
    await database.close();
    throw error;
  }
  return new SqlWalletStore(database);
}
