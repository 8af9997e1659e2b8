/**
 * The tables of a copy in Cassandra.
 *
 *   head       one row: who leads, where the copy is, which change is under way. Changed by compare-and-set only.
 *   journal    what each change does, in pieces: to finish it for a publisher that went, and to know later which old versions it made useless.
 *   leases     readers, and the oldest change that each still reads; rows that pass away by themselves.
 *   rows_G     versions of all rows of generation G: partition by bucket, then column, key, and the number of the change, newest first. No value: deleted.
 *   buckets_G  which buckets each column has.
 *
 * Every snapshot is a generation with tables of its own, which are dropped as a
 * whole: a million deleted rows would be a million tombstones.
 */
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { CASSANDRA_GRACE_S } from '../../util/limits.ts';
import type { CassandraPlace } from './place.ts';
import type { CassandraSession } from './session.ts';

/** The one partition of `head` and of `leases`. */
export const ONE = 0;

export interface CopyTables {
  readonly head: string;
  readonly journal: string;
  readonly leases: string;
  rows(generation: bigint): string;
  buckets(generation: bigint): string;
}

export function copyTables(keyspace: string): CopyTables {
  return {
    head: `${keyspace}.head`,
    journal: `${keyspace}.journal`,
    leases: `${keyspace}.leases`,
    rows: (generation) => `${keyspace}.rows_${generation}`,
    buckets: (generation) => `${keyspace}.buckets_${generation}`,
  };
}

const HEAD = (table: string): string => `CREATE TABLE IF NOT EXISTS ${table} (one int PRIMARY KEY,
  form text, epoch bigint, leader text, publisher text, seq bigint, version bigint, generation bigint, pending bigint, attempt bigint,
  floor bigint, removed bigint, height bigint, slot bigint, hash blob, position text, utxos bigint, value text, published_at bigint,
  complete boolean, identity text)`;

const JOURNAL = (table: string): string => `CREATE TABLE IF NOT EXISTS ${table} (version bigint, attempt bigint, n int, data blob,
  PRIMARY KEY ((version), attempt, n)) WITH gc_grace_seconds = ${CASSANDRA_GRACE_S}`;

const LEASES = (table: string): string => `CREATE TABLE IF NOT EXISTS ${table} (one int, generation bigint, id text, version bigint,
  PRIMARY KEY ((one), generation, id)) WITH gc_grace_seconds = ${CASSANDRA_GRACE_S}`;

/** Makes what is not there. Throws STORE_SHAPE where the keyspace holds something else. */
export async function prepareKeyspace(session: CassandraSession, { keyspace, replication, dataCentre }: CassandraPlace): Promise<void> {
  const tables = copyTables(keyspace);
  const known = await session.read('SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?', [keyspace]);
  if (known.length === 0) {
    const strategy =
      dataCentre === null ? `'class': 'SimpleStrategy', 'replication_factor': ${replication}` : inDataCentre(dataCentre, replication);
    await session.define(`CREATE KEYSPACE IF NOT EXISTS ${keyspace} WITH replication = {${strategy}}`);
  }
  for (const statement of [HEAD(tables.head), JOURNAL(tables.journal), LEASES(tables.leases)]) await session.define(statement);
  await session.compareAndSet(
    `INSERT INTO ${tables.head} (one, form, epoch, seq, version, generation, pending, attempt, floor, removed, complete)
     VALUES (${ONE}, 'columns', 0, 0, 0, 0, 0, 0, 0, 0, false) IF NOT EXISTS`,
    [],
  );
}

function inDataCentre(name: string, replication: number): string {
  return `'class': 'NetworkTopologyStrategy', '${name.replaceAll("'", "''")}': ${replication}`;
}

/** The tables of a generation. */
export async function makeGeneration(session: CassandraSession, tables: CopyTables, generation: bigint): Promise<void> {
  await session.define(`CREATE TABLE IF NOT EXISTS ${tables.rows(generation)} (b blob, c smallint, k blob, s bigint, v blob,
    PRIMARY KEY ((b), c, k, s)) WITH CLUSTERING ORDER BY (c ASC, k ASC, s DESC)
    AND compaction = {'class': 'LeveledCompactionStrategy'} AND gc_grace_seconds = ${CASSANDRA_GRACE_S}`);
  await session.define(`CREATE TABLE IF NOT EXISTS ${tables.buckets(generation)} (c smallint, b blob, PRIMARY KEY ((c), b))`);
}

export async function dropGeneration(session: CassandraSession, tables: CopyTables, generation: bigint): Promise<void> {
  await session.define(`DROP TABLE IF EXISTS ${tables.rows(generation)}`);
  await session.define(`DROP TABLE IF EXISTS ${tables.buckets(generation)}`);
}

/** Of which there are tables. */
export async function generations(session: CassandraSession): Promise<readonly bigint[]> {
  const rows = await session.read('SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?', [session.keyspace]);
  const names = rows.map((row) => /^(?:rows|buckets)_([0-9]+)$/.exec(String(row['table_name']))?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].map(BigInt);
}

/** A table that is not there is a copy that is not there. */
export function isNothingThere(error: unknown): boolean {
  return isUnspentError(error, 'DATABASE') && /unconfigured table|does not exist|Keyspace .* (doesn't|does not) exist/i.test(error.message);
}

/** Throws STORE_SHAPE. */
export function assertForm(form: unknown, keyspace: string): void {
  if (form === 'columns') return;
  throw new UnspentError('STORE_SHAPE', `the keyspace '${keyspace}' holds a copy of the form '${String(form)}'; publish to another one`, {
    keyspace,
  });
}
