/**
 * Where the wallets of `bench wallet` rest: SQLite files, and databases on a
 * PostgreSQL server, either the one whose URL is given or one of our own, which
 * writes to the disk as a server in production does. All of it is new and goes in
 * the end, unless a folder to keep it in is given.
 */
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { executeIn } from '../test/support/sql/execute.ts';
import { PostgresServer, withoutPostgres } from '../test/support/sql/postgres-server.ts';
import { makeWalletSchema } from '../test/wallet/sql/wallet-files.ts';
import { SERVER_SETTINGS } from './postgres.ts';
import { temporary } from './support.ts';

export interface BenchDatabases {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** The folder that filled databases are kept in. Undefined: they are not. */
  readonly folder: string | undefined;
  /** An empty database, by a name of its own. */
  create(): Promise<string>;
  urlOf(database: string): string;
  /** Another with the same rows, which is never kept. Nobody has the database open. */
  copyOf(database: string): Promise<string>;
  /** After many rows were written: what a database in use would have done by itself in the meantime. */
  settle(database: string): Promise<void>;
  bytesOf(database: string): Promise<number>;
  remove(): Promise<void>;
}

const newName = (): string => `unspent_bench_${randomBytes(4).toString('hex')}`;

export function sqliteDatabases(folder?: string): BenchDatabases {
  const own = temporary('wallet');
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  const copies = new Set<string>();
  const fileOf = (name: string): string => join(copies.has(name) ? own.path : (folder ?? own.path), `${name}.sqlite`);
  const urlOf = (name: string): string => `sqlite:${fileOf(name)}`;
  return {
    name: 'SQLite',
    folder,
    create: async () => newName(),
    urlOf,
    copyOf: async (name) => {
      const copy = newName();
      copies.add(copy);
      copyFileSync(fileOf(name), fileOf(copy));
      return copy;
    },
    settle: async (name) => void (await executeIn(urlOf(name), 'PRAGMA wal_checkpoint(TRUNCATE)')),
    bytesOf: async (name) => statSync(fileOf(name)).size,
    remove: async () => own.remove(),
  };
}

/** Null: no URL is given, and no server comes with this platform. */
export async function postgresDatabases(given: string | undefined, folder?: string): Promise<BenchDatabases | null> {
  if (given === undefined && withoutPostgres !== false) return null;
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  const data = folder === undefined ? undefined : join(folder, 'postgres');
  const server = given === undefined ? await PostgresServer.start(makeWalletSchema, SERVER_SETTINGS, data) : undefined;
  const root = server?.urlOf('postgres') ?? given ?? '';
  const passing = new Set<string>();
  const make = async (isKept: boolean, template = ''): Promise<string> => {
    const name = newName();
    await executeIn(root, `CREATE DATABASE ${name}${template}`);
    if (!isKept) passing.add(name);
    return name;
  };
  const urlOf = (name: string): string => {
    const url = new URL(root);
    url.pathname = `/${name}`;
    return url.href;
  };
  return {
    name: 'PostgreSQL',
    folder,
    create: () => make(folder !== undefined),
    urlOf,
    copyOf: (name) => make(false, ` TEMPLATE ${name} STRATEGY FILE_COPY`),
    settle: async (name) => {
      await executeIn(urlOf(name), 'VACUUM ANALYZE');
      await executeIn(urlOf(name), 'CHECKPOINT');
    },
    bytesOf: async (name) => Number((await executeIn(root, `SELECT pg_database_size('${name}') AS bytes`))[0]['bytes']),
    remove: async () => {
      // A server of our own that is not kept takes its databases with it.
      if (server === undefined || folder !== undefined) for (const name of passing) await executeIn(root, `DROP DATABASE ${name}`);
      await server?.stop();
    },
  };
}
