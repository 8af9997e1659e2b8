/**
 * Brings a database to the schema this version writes. Migrations are numbered;
 * each is one transaction that also records its number, under a lock that keeps
 * other processes out, so a process that dies in one leaves the version before
 * it, and the next start goes on there. A newer schema is refused.
 */
import { sql } from 'kysely';
import { UnspentError } from '../../util/errors.ts';
import type { SqlDatabase, SqlKind, SqlTransaction } from './database.ts';
import { POSTGRES_TYPES, SQLITE_TYPES, tableStatements } from './schema-tables.ts';
import { postgresTriggers, sqliteTriggers } from './schema-triggers.ts';
import { sqliteStatistics } from './sqlite-statistics.ts';

interface Migration {
  readonly name: string;
  readonly statements: (kind: SqlKind) => readonly string[];
}

/** In order; the first is version 1. What was released never changes. */
const MIGRATIONS: readonly Migration[] = [
  {
    name: 'wallets',
    statements: (kind) =>
      kind === 'sqlite'
        ? [...tableStatements(SQLITE_TYPES), ...sqliteTriggers(), ...sqliteStatistics()]
        : [...tableStatements(POSTGRES_TYPES), ...postgresTriggers()],
  },
];

/** Any number, as long as no other program of this database locks with it. */
const MIGRATION_LOCK = 7_365_776_143;

/** Returns the version. Throws STORE_SCHEMA. */
export async function migrate(database: SqlDatabase): Promise<number> {
  for (;;) {
    const version = await database.write(applyNext);
    if (version === MIGRATIONS.length) return version;
  }
}

/** Applies the next migration, if there is one; the version after it. */
async function applyNext(tx: SqlTransaction): Promise<number> {
  if (tx.kind === 'postgres') await sql`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(tx.db);
  await sql`CREATE TABLE IF NOT EXISTS wallet_schema (version integer PRIMARY KEY, name text NOT NULL)`.execute(tx.db);
  const { version } = await tx.db
    .selectFrom('wallet_schema')
    .select((eb) => eb.fn.coalesce(eb.fn.max('version'), eb.lit(0)).as('version'))
    .executeTakeFirstOrThrow();
  if (version > MIGRATIONS.length) {
    throw new UnspentError(
      'STORE_SCHEMA',
      `the wallet database has schema version ${version}; this program knows up to ${MIGRATIONS.length}`,
      {
        version,
        known: MIGRATIONS.length,
      },
    );
  }
  const migration = MIGRATIONS[version];
  if (migration === undefined) return version;
  for (const statement of migration.statements(tx.kind)) await sql.raw(statement).execute(tx.db);
  await tx.db
    .insertInto('wallet_schema')
    .values({ version: version + 1, name: migration.name })
    .execute();
  return version + 1;
}
