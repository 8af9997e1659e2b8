/**
 * What a copy in Cassandra says of itself beside the identity: which partition
 * each column's rows are in. Columns are numbered by their place in the identity.
 */
import type { PublishedIdentity } from '../identity.ts';
import type { BucketRule } from './buckets.ts';

export interface CassandraIdentity extends PublishedIdentity {
  readonly buckets: Readonly<Record<string, BucketRule>>;
}

export interface NumberedColumn {
  readonly number: number;
  readonly rule: BucketRule;
}

export function numberedColumns({ columns, buckets }: CassandraIdentity): ReadonlyMap<string, NumberedColumn> {
  return new Map(columns.map(({ name }, number) => [name, { number, rule: buckets[name] }]));
}
