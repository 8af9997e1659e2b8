/**
 * Where the wallets of `bench wallet` rest: new SQLite files, and new databases on
 * a PostgreSQL server, either the one whose URL is given or one of our own, which
 * writes to the disk as a server in production does.
 */
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { executeIn } from '../test/support/sql/execute.ts';
import { PostgresServer, withoutPostgres } from '../test/support/sql/postgres-server.ts';
import { makeWalletSchema } from '../test/wallet/sql/wallet-files.ts';
import { temporary } from './support.ts';

export interface BenchDatabases {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** The URL of an empty database. */
  create(): Promise<string>;
  /** After many rows were written: what a database in use would have done by itself in the meantime. */
  settle(url: string): Promise<void>;
  bytesOf(url: string): Promise<number>;
  remove(): Promise<void>;
}

export function sqliteDatabases(): BenchDatabases {
  const folder = temporary('wallet');
  let count = 0;
  return {
    name: 'SQLite',
    create: async () => `sqlite:${join(folder.path, `${++count}.sqlite`)}`,
    settle: async (url) => void (await executeIn(url, 'PRAGMA wal_checkpoint(TRUNCATE)')),
    bytesOf: async (url) => statSync(url.slice('sqlite:'.length)).size,
    remove: async () => folder.remove(),
  };
}

const SERVER_SETTINGS = { fsync: 'on', full_page_writes: 'on', shared_buffers: '256MB', autovacuum: 'on', max_wal_size: '4GB' };

/** Null: no URL is given, and no server comes with this platform. */
export async function postgresDatabases(given: string | undefined): Promise<BenchDatabases | null> {
  if (given === undefined && withoutPostgres !== false) return null;
  const server = given === undefined ? await PostgresServer.start(makeWalletSchema, SERVER_SETTINGS) : undefined;
  const root = server?.urlOf('postgres') ?? given ?? '';
  const names: string[] = [];
  const nameOf = (url: string): string => new URL(url).pathname.slice(1);
  return {
    name: 'PostgreSQL',
    create: async () => {
      const name = `unspent_bench_${randomBytes(4).toString('hex')}`;
      await executeIn(root, `CREATE DATABASE ${name}`);
      names.push(name);
      const url = new URL(root);
      url.pathname = `/${name}`;
      return url.href;
    },
    settle: async (url) => {
      await executeIn(url, 'VACUUM ANALYZE');
      await executeIn(url, 'CHECKPOINT');
    },
    bytesOf: async (url) => Number((await executeIn(root, `SELECT pg_database_size('${nameOf(url)}') AS bytes`))[0]['bytes']),
    remove: async () => {
      if (server === undefined) for (const name of names) await executeIn(root, `DROP DATABASE ${name}`);
      await server?.stop();
    },
  };
}
