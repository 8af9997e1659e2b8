/**
 * Removes versions of rows that nobody reads any more. The journal of a version
 * names the keys that it touched: below it their older versions are useless as
 * soon as no reader is below it, and where it deleted a key, so is what says that.
 *
 * What is removed must not come back: a node that was away has the older version
 * still, and would show it when the others have forgotten that it was deleted. So
 * removal asks all nodes that have the row, and waits while one of them is away;
 * until it goes on, the copy only takes more room.
 */
import { CASSANDRA_KEYS_MAX, CASSANDRA_REMOVAL_VERSIONS } from '../../util/limits.ts';
import { keyText } from '../row-changes.ts';
import { bucketOf } from './buckets.ts';
import type { Generation, NumberedColumn } from './generation.ts';
import type { CassandraHead } from './head.ts';
import type { Journal, Operation } from './journal.ts';
import { type Leases, oldestVersion } from './leases.ts';
import { type CassandraSession, forEachInParallel, type Statement } from './session.ts';
import { asBuffer } from './versioned-rows.ts';

/** Keys of one column in one bucket that a version touched. */
interface Touched {
  readonly bucket: Buffer;
  readonly column: number;
  readonly written: Buffer[];
  readonly deleted: Buffer[];
}

export class OldVersions {
  private readonly session: CassandraSession;
  private readonly head: CassandraHead;
  private readonly journal: Journal;
  private readonly leases: Leases;

  constructor(session: CassandraSession, head: CassandraHead, journal: Journal, leases: Leases) {
    this.session = session;
    this.head = head;
    this.journal = journal;
    this.leases = leases;
  }

  /** A portion of what may go in the generation that is published. False: nothing is left that may. */
  async remove({ number: generation, table, columns }: Generation): Promise<boolean> {
    const { version, removed } = this.head.led;
    if (removed >= version) return false;
    const wanted = oldestVersion(await this.versionsRead(generation), version);
    if (wanted > this.head.led.floor) await this.head.raiseFloor(wanted);
    // Whoever has come meanwhile has seen the floor, or is seen here.
    const floor = oldestVersion([...(await this.versionsRead(generation)), wanted], wanted);
    if (floor <= removed) return false;
    let last = removed;
    for (let left = CASSANDRA_REMOVAL_VERSIONS; left > 0 && last < floor; left--) {
      last++;
      const entry = await this.journal.readLast(last);
      if (entry === null) continue;
      if (entry.head.generation === String(generation)) await this.removeBelow(table, last, entry.operations, columns);
      await this.journal.delete(last, BigInt(this.head.led.epoch));
    }
    await this.head.setRemoved(last);
    return last < floor;
  }

  private async versionsRead(generation: bigint): Promise<bigint[]> {
    const leases = await this.leases.list();
    return leases.filter((lease) => lease.generation === generation).map((lease) => lease.version);
  }

  private async removeBelow(
    table: string,
    version: bigint,
    operations: readonly Operation[],
    columns: readonly NumberedColumn[],
  ): Promise<void> {
    const older = `SELECT k FROM ${table} WHERE b = ? AND c = ? AND k IN ? AND s < ? GROUP BY b, c, k`;
    const below = `DELETE FROM ${table} WHERE b = ? AND c = ? AND k = ? AND s < ?`;
    const upTo = `DELETE FROM ${table} WHERE b = ? AND c = ? AND k = ? AND s <= ?`;
    await forEachInParallel(touchedBy(operations, columns), async ({ bucket, column, written, deleted }) => {
      // Most rows that are written were not there before, and a tombstone for nothing costs as much as another one.
      const known = written.length === 0 ? [] : await this.session.read(older, [bucket, column, written, version]);
      const statements: Statement[] = [
        ...known.map((row) => ({ text: below, values: [bucket, column, row['k'] as Buffer, version] })),
        ...deleted.map((key) => ({ text: upTo, values: [bucket, column, key, version] })),
      ];
      if (statements.length > 0) await this.session.batch(statements, version, 'all');
    });
  }
}

function* touchedBy(operations: readonly Operation[], columns: readonly NumberedColumn[]): Iterable<Touched> {
  const parts = new Map<string, Touched>();
  for (const { column, key, value } of operations) {
    const bucket = bucketOf(key, columns[column].rule);
    const name = `${column} ${keyText(bucket)}`;
    const part = parts.get(name) ?? { bucket, column, written: [], deleted: [] };
    (value === undefined ? part.deleted : part.written).push(asBuffer(key));
    if (part.written.length + part.deleted.length < CASSANDRA_KEYS_MAX) parts.set(name, part);
    else {
      parts.delete(name);
      yield part;
    }
  }
  yield* parts.values();
}
