/** Opens a wallet store on SQL by its URL, with the schema brought up to date. */
import { UnspentError } from '../../util/errors.ts';
import { SqlDatabase, type SqlDatabaseOptions } from './database.ts';
import { migrate } from './migrate.ts';
import { SqlWalletStore } from './store.ts';

/** `sqlite:FILE` or `postgres://...`. Throws USAGE, STORE_SCHEMA, DATABASE_BUSY, DATABASE_FAILED. */
export async function openSqlWalletStore(url: string, options: SqlDatabaseOptions = {}): Promise<SqlWalletStore> {
  const database = await openDatabase(url, options);
  try {
    await migrate(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  return new SqlWalletStore(database);
}

async function openDatabase(url: string, options: SqlDatabaseOptions): Promise<SqlDatabase> {
  const file = /^sqlite:(?:\/\/)?(.+)$/.exec(url)?.[1];
  if (file !== undefined) return SqlDatabase.openSqlite(file, options);
  if (/^postgres(ql)?:\/\//.test(url)) return SqlDatabase.openPostgres(url, options);
  throw new UnspentError('USAGE', `a wallet database is sqlite:FILE or postgres://..., not '${url.split('@').at(-1)?.slice(0, 80)}'`);
}
