/**
 * The way into the wallet room: opens the store of a URL. The query builder and
 * the driver of PostgreSQL are optional packages: they are loaded here, when a
 * wallet database is opened, and asked for where they are missing.
 */
import type { SqlDatabaseOptions } from '../sql/database.ts';
import { missingPackage } from '../util/missing-package.ts';
import type { SqlWalletStore } from './sql/store.ts';

/** `sqlite:FILE` or `postgres://...`. Throws USAGE, UNSUPPORTED, STORE_SCHEMA, DATABASE_BUSY, DATABASE_FAILED. */
export async function openWalletStore(url: string, options: SqlDatabaseOptions = {}): Promise<SqlWalletStore> {
  try {
    const { openSqlWalletStore } = await import('./sql/open.ts');
    return await openSqlWalletStore(url, options);
  } catch (error) {
    throw missingPackage(error, 'wallets', ['kysely', 'pg']) ?? error;
  }
}
