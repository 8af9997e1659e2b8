/**
 * Brings a database to the schema this version writes. Migrations are numbered;
 * each is one transaction that also records its number, under a lock that keeps
 * other processes out, so a process that dies in one leaves the version before
 * it, and the next start goes on there. A newer schema is refused, and so is one
 * whose versions have other names: it is of a build that was never released.
 */
import { sql } from 'kysely';
import { UnspentError } from '../util/errors.ts';
import type { DatabaseTransaction, SqlDatabase, SqlKind } from './database.ts';

/** How the schema of a store came to be. */
export interface SchemaHistory {
  /** The table that has the version. */
  readonly table: string;
  /** Any number, as long as no other program of this database locks with it. */
  readonly lock: number;
  /** In order; the first is version 1. What was released never changes. */
  readonly migrations: readonly Migration[];
}

export interface Migration {
  readonly name: string;
  readonly statements: (kind: SqlKind) => readonly string[];
}

/** Returns the version. Throws STORE_SCHEMA. */
export async function migrate<Tables>(database: SqlDatabase<Tables>, history: SchemaHistory): Promise<number> {
  for (;;) {
    const version = await database.write((tx) => applyNext(tx, history, database.name));
    if (version === history.migrations.length) return version;
  }
}

/** Applies the next migration, if there is one; the version after it. */
async function applyNext<Tables>(tx: DatabaseTransaction<Tables>, history: SchemaHistory, name: string): Promise<number> {
  const { lock, migrations } = history;
  const table = sql.table(history.table);
  if (tx.kind === 'postgres') await sql`SELECT pg_advisory_xact_lock(${lock})`.execute(tx.db);
  await sql`CREATE TABLE IF NOT EXISTS ${table} (version integer PRIMARY KEY, name text NOT NULL)`.execute(tx.db);
  const { rows } = await sql<{ version: number; name: string }>`SELECT version, name FROM ${table} ORDER BY version`.execute(tx.db);
  const version = rows.at(-1)?.version ?? 0;
  const known = migrations.length;
  if (version > known)
    throw new UnspentError('STORE_SCHEMA', `the ${name} has schema version ${version}; this program knows up to ${known}`, {
      version,
      known,
    });
  const other = rows.find((row) => row.name !== migrations[row.version - 1].name);
  if (other !== undefined)
    throw new UnspentError('STORE_SCHEMA', `the ${name} was made by a build that was never released; make it anew`, {
      version: other.version,
      name: other.name,
    });
  const migration = migrations[version];
  if (migration === undefined) return version;
  for (const statement of migration.statements(tx.kind)) await sql.raw(statement).execute(tx.db);
  await sql`INSERT INTO ${table} (version, name) VALUES (${version + 1}, ${migration.name})`.execute(tx.db);
  return version + 1;
}
