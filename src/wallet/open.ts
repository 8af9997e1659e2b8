/**
 * The way into the wallet room: opens the store of a URL. The query builder and
 * the driver of PostgreSQL are optional packages: they are loaded here, when a
 * wallet database is opened, and asked for where they are missing.
 */
import { UnspentError } from '../util/errors.ts';
import type { SqlDatabaseOptions } from './sql/database.ts';
import type { SqlWalletStore } from './sql/store.ts';

/** `sqlite:FILE` or `postgres://...`. Throws USAGE, UNSUPPORTED, STORE_SCHEMA, DATABASE_BUSY, DATABASE_FAILED. */
export async function openWalletStore(url: string, options: SqlDatabaseOptions = {}): Promise<SqlWalletStore> {
  try {
    const { openSqlWalletStore } = await import('./sql/open.ts');
    return await openSqlWalletStore(url, options);
  } catch (error) {
    throw missingPackage(error) ?? error;
  }
}

/** Undefined: it is another failure. */
export function missingPackage(error: unknown): UnspentError | undefined {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  const name = /Cannot find package '([^']+)'/.exec(message)?.[1];
  if (name !== 'kysely' && name !== 'pg') return undefined;
  return new UnspentError(
    'UNSUPPORTED',
    `wallets need the package '${name}', which is not installed: npm install ${name}`,
    { package: name },
    error,
  );
}
