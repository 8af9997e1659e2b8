/** Opens a transaction store on SQL by its URL, with the schema brought up to date. */
import { SqlDatabase, type SqlDatabaseOptions } from '../../sql/database.ts';
import { migrate } from '../../sql/migrate.ts';
import type { ReorganisationLimit } from '../rules/settings.ts';
import type { TxStoreSettings } from '../store.ts';
import { TX_STORE_SCHEMA } from './schema.ts';
import { SqlTxStore } from './store.ts';
import type { TxStoreTables } from './tables.ts';

/** `sqlite:FILE` or `postgres://...`. Throws USAGE, CONFIG, STORE_SCHEMA, DATABASE_BUSY, DATABASE_FAILED. */
export async function openSqlTxStore(
  url: string,
  settings: TxStoreSettings,
  limit: ReorganisationLimit,
  options: SqlDatabaseOptions,
): Promise<SqlTxStore> {
  const database = await SqlDatabase.open<TxStoreTables>(url, 'transaction database', options);
  try {
    const store = new SqlTxStore(database, settings, limit);
    await migrate(database, TX_STORE_SCHEMA);
    return store;
  } catch (error) {
    await database.close();
    throw error;
  }
}
