/** Opens a transaction store on SQL by its URL, with the schema brought up to date. */
import { SqlDatabase, type SqlDatabaseOptions } from '../../sql/database.ts';
import { migrate } from '../../sql/migrate.ts';
import type { ReorganisationLimit } from '../rules/settings.ts';
import type { TxStoreSettings } from '../store.ts';
import { type FedRecordsOptions, SqlChainTxStore } from './chain-store.ts';
import { TX_STORE_SCHEMA } from './schema.ts';
import { SqlTxStore } from './store.ts';
import type { TxStoreDatabase, TxStoreTables } from './tables.ts';

/** `sqlite:FILE` or `postgres://...`. Throws USAGE, CONFIG, STORE_SCHEMA, DATABASE_BUSY, DATABASE_FAILED. */
export function openSqlTxStore(
  url: string,
  settings: TxStoreSettings,
  limit: ReorganisationLimit,
  options: SqlDatabaseOptions,
): Promise<SqlTxStore> {
  return openAs(url, options, (database) => new SqlTxStore(database, settings, limit));
}

/** The same, fed by our chain. */
export function openSqlChainTxStore(
  url: string,
  settings: TxStoreSettings,
  fed: FedRecordsOptions,
  options: SqlDatabaseOptions,
): Promise<SqlChainTxStore> {
  return openAs(url, options, (database) => new SqlChainTxStore(database, settings, fed));
}

async function openAs<S>(url: string, options: SqlDatabaseOptions, make: (database: TxStoreDatabase) => S): Promise<S> {
  const database = await SqlDatabase.open<TxStoreTables>(url, 'transaction database', options);
  try {
    const store = make(database);
    await migrate(database, TX_STORE_SCHEMA);
    return store;
  } catch (error) {
    await database.close();
    throw error;
  }
}
