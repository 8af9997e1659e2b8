/**
 * Which versions of a copy somebody still reads: a row for each reader and
 * generation, with the oldest version that it reads, which passes away unless it
 * is written again.
 *
 * A reader writes its row and looks at the head afterwards; who removes old
 * versions raises the floor in the head and looks at the rows afterwards. So at
 * least one of the two sees the other: a reader below the floor begins again at
 * the newest version, and nothing that a row names is removed.
 */
import { CASSANDRA_LEASE_S } from '../../util/limits.ts';
import { type CopyTables, ONE } from './schema.ts';
import type { CassandraSession } from './session.ts';

export interface VersionLease {
  readonly generation: bigint;
  readonly version: bigint;
}

/** The oldest of some versions, or of none the given one. */
export function oldestVersion(versions: Iterable<bigint>, otherwise: bigint): bigint {
  let oldest: bigint | null = null;
  for (const version of versions) if (oldest === null || version < oldest) oldest = version;
  return oldest ?? otherwise;
}

export class Leases {
  private readonly session: CassandraSession;
  private readonly table: string;

  constructor(session: CassandraSession, { leases }: CopyTables) {
    this.session = session;
    this.table = leases;
  }

  async write(id: string, { generation, version }: VersionLease): Promise<void> {
    const text = `INSERT INTO ${this.table} (one, generation, id, version) VALUES (${ONE}, ?, ?, ?) USING TTL ${CASSANDRA_LEASE_S}`;
    await this.session.write(text, [generation, id, version]);
  }

  async delete(id: string, generation: bigint): Promise<void> {
    await this.session.write(`DELETE FROM ${this.table} WHERE one = ${ONE} AND generation = ? AND id = ?`, [generation, id]);
  }

  async list(): Promise<readonly VersionLease[]> {
    const rows = await this.session.read(`SELECT generation, version FROM ${this.table} WHERE one = ${ONE}`);
    return rows.map((row) => ({ generation: row['generation'] as bigint, version: row['version'] as bigint }));
  }
}
