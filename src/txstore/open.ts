/**
 * Opens a transaction store on SQL. The query builder and the driver of
 * PostgreSQL are optional packages: they are loaded here, when a database is
 * opened, and asked for where they are missing.
 */
import type { SqlDatabaseOptions } from '../sql/database.ts';
import { missingPackage } from '../util/missing-package.ts';
import type { FedRecords } from './chain/chain-records.ts';
import type { ReorganisationLimit } from './rules/settings.ts';
import type { FedRecordsOptions } from './sql/chain-store.ts';
import type { SqlTxStore } from './sql/store.ts';
import type { TxStoreSettings } from './store.ts';

/** How the database is used. */
export type TxDatabaseOptions = SqlDatabaseOptions;

/** `sqlite:FILE` or `postgres://...`. Throws USAGE, UNSUPPORTED, CONFIG, STORE_SCHEMA, DATABASE_BUSY, DATABASE_FAILED. */
export function openTxStore(
  url: string,
  settings: TxStoreSettings,
  limit: ReorganisationLimit,
  options: TxDatabaseOptions = {},
): Promise<SqlTxStore> {
  return loaded(async ({ openSqlTxStore }) => openSqlTxStore(url, settings, limit, options));
}

/** One that our chain feeds; else as `openTxStore`. */
export function openFedRecords(
  url: string,
  settings: TxStoreSettings,
  fed: FedRecordsOptions,
  options: TxDatabaseOptions = {},
): Promise<FedRecords> {
  return loaded(async ({ openSqlChainTxStore }) => openSqlChainTxStore(url, settings, fed, options));
}

async function loaded<T>(open: (room: typeof import('./sql/open.ts')) => Promise<T>): Promise<T> {
  try {
    return await open(await import('./sql/open.ts'));
  } catch (error) {
    throw missingPackage(error, 'transaction databases', ['kysely', 'pg']) ?? error;
  }
}
