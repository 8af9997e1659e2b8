/**
 * Opens a transaction store on SQL. The query builder and the driver of
 * PostgreSQL are optional packages: they are loaded here, when a database is
 * opened, and asked for where they are missing.
 */
import type { SqlDatabaseOptions } from '../sql/database.ts';
import { missingPackage } from '../util/missing-package.ts';
import type { ReorganisationLimit } from './rules/settings.ts';
import type { SqlTxStore } from './sql/store.ts';
import type { TxStoreSettings } from './store.ts';

/** `sqlite:FILE` or `postgres://...`. Throws USAGE, UNSUPPORTED, CONFIG, STORE_SCHEMA, DATABASE_BUSY, DATABASE_FAILED. */
export async function openTxStore(
  url: string,
  settings: TxStoreSettings,
  limit: ReorganisationLimit,
  options: SqlDatabaseOptions = {},
): Promise<SqlTxStore> {
  try {
    const { openSqlTxStore } = await import('./sql/open.ts');
    return await openSqlTxStore(url, settings, limit, options);
  } catch (error) {
    throw missingPackage(error, 'transaction databases', ['kysely', 'pg']) ?? error;
  }
}
