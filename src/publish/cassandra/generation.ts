/**
 * A generation of a copy in Cassandra: the tables of one snapshot and of all
 * changes after it. What it is of stands in the head, with the partition rule of
 * each column beside the identity; columns are numbered by their place there.
 */
import { UnspentError } from '../../util/errors.ts';
import type { PublishedIdentity } from '../identity.ts';
import type { BucketRule } from './buckets.ts';
import { RowWrites } from './row-writes.ts';
import type { CopyTables } from './schema.ts';
import type { CassandraSession } from './session.ts';
import { VersionedRows } from './versioned-rows.ts';

export interface CassandraIdentity extends PublishedIdentity {
  readonly buckets: Readonly<Record<string, BucketRule>>;
}

export interface NumberedColumn {
  readonly number: number;
  readonly rule: BucketRule;
}

/** The rows of a generation, both ways. */
export interface Generation {
  readonly number: bigint;
  readonly table: string;
  readonly columns: readonly NumberedColumn[];
  readonly numbers: ReadonlyMap<string, number>;
  readonly reads: VersionedRows;
  readonly writes: RowWrites;
}

export function openGeneration(session: CassandraSession, tables: CopyTables, number: bigint, identity: CassandraIdentity): Generation {
  const columns = new Map(identity.columns.map(({ name }, place) => [name, { number: place, rule: identity.buckets[name] }]));
  const [table, buckets] = [tables.rows(number), tables.buckets(number)];
  return {
    number,
    table,
    columns: [...columns.values()],
    numbers: new Map([...columns].map(([name, column]) => [name, column.number])),
    reads: new VersionedRows(session, table, buckets, columns),
    writes: new RowWrites(session, table, buckets, [...columns.values()]),
  };
}

export function columnNumber(column: string, numbers: Generation['numbers']): number {
  const number = numbers.get(column);
  if (number === undefined) throw new UnspentError('DATABASE', `the copy has no column '${column}'`);
  return number;
}
