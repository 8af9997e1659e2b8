/**
 * A published copy in Cassandra: rows have versions, so a moment of it is only
 * two numbers, and a lease that keeps its versions from being removed. One lease
 * covers all moments of this reader. It is extended long before it passes away;
 * where that fails for too long the moments are lost, and so is whatever was read
 * while nobody can say whether it had.
 */
import { randomBytes } from 'node:crypto';
import { UnspentError } from '../../../util/errors.ts';
import { CASSANDRA_LEASE_RENEW_MS, CASSANDRA_LEASE_SAFE_MS, CASSANDRA_READER_ATTEMPTS_MAX } from '../../../util/limits.ts';
import { withoutSecret } from '../../../util/secret.ts';
import { type CassandraIdentity, openGeneration } from '../../cassandra/generation.ts';
import { type HeadRow, readHeadRow } from '../../cassandra/head.ts';
import { Leases, oldestVersion } from '../../cassandra/leases.ts';
import { cassandraPlace } from '../../cassandra/place.ts';
import { type CopyTables, copyTables } from '../../cassandra/schema.ts';
import { CassandraSession } from '../../cassandra/session.ts';
import type { CopyHead, RemoteSize, RemoteSnapshot, RemoteStore } from '../contract.ts';
import { asCopyErrors } from './copy-errors.ts';
import { CassandraSnapshot } from './snapshot.ts';

/** What a reader may read of one generation, and until when that is sure. */
export interface HeldLease {
  version: bigint;
  /** On the clock of `performance.now`. */
  safeUntil: number;
  readonly snapshots: Set<CassandraSnapshot>;
}

export class CassandraCopy implements RemoteStore {
  readonly name: string;
  private readonly session: CassandraSession;
  private readonly tables: CopyTables;
  private readonly leases: Leases;
  private readonly id = randomBytes(8).toString('hex');
  private readonly held = new Map<bigint, HeldLease>();
  private readonly timer: NodeJS.Timeout;

  /** Throws USAGE. */
  constructor(url: string) {
    const place = cassandraPlace(url);
    this.name = withoutSecret(url);
    this.session = new CassandraSession(place, { attempts: CASSANDRA_READER_ATTEMPTS_MAX });
    this.tables = copyTables(place.keyspace);
    this.leases = new Leases(this.session, this.tables);
    this.timer = setInterval(() => void this.extend(), CASSANDRA_LEASE_RENEW_MS);
  }

  get statements(): number {
    return this.session.statements;
  }

  async newest(): Promise<CopyHead> {
    return asCopyHead(await this.head());
  }

  async pin(): Promise<RemoteSnapshot> {
    for (;;) {
      const before = await this.head();
      if (before.identity === null) throw new UnspentError('COPY_UNREADY', 'the copy is still being loaded by its publisher');
      const held = this.held.get(before.generation);
      if (held !== undefined && performance.now() < held.safeUntil) return this.snapshotAt(before, before.identity, held);
      const lease = await asCopyErrors(this.lease(before.generation, before.version));
      // Only now is it known that nobody has begun to remove what it names.
      const head = await this.head();
      if (head.generation === before.generation && head.identity !== null && head.floor <= before.version)
        return this.snapshotAt(head, head.identity, lease);
      this.held.delete(before.generation);
    }
  }

  /** Cassandra says nothing of columns, and of tables only what one node has. */
  async sizes(): Promise<ReadonlyMap<string, RemoteSize>> {
    return new Map();
  }

  /** It does not tell of changes; asking does. */
  onMove(): void {}

  async close(): Promise<void> {
    clearInterval(this.timer);
    for (const generation of this.held.keys()) await this.leases.delete(this.id, generation).catch(() => undefined);
    await this.session.close();
  }

  private async head(): Promise<HeadRow> {
    const head = await asCopyErrors(readHeadRow(this.session, this.tables.head));
    if (head === null) throw new UnspentError('COPY_UNREADY', 'nothing was published there yet');
    return head;
  }

  private async lease(generation: bigint, version: bigint): Promise<HeldLease> {
    // From before it is sent: it may be as old as that when it is written.
    const safeUntil = performance.now() + CASSANDRA_LEASE_SAFE_MS;
    await this.leases.write(this.id, { generation, version });
    const held = this.held.get(generation) ?? { version, safeUntil, snapshots: new Set() };
    // What was read with the former one is lost, if that has passed away.
    for (const snapshot of held.snapshots) snapshot.lose();
    held.snapshots.clear();
    held.version = version;
    held.safeUntil = safeUntil;
    this.held.set(generation, held);
    return held;
  }

  private snapshotAt(head: HeadRow, identity: string, lease: HeldLease): CassandraSnapshot {
    const { reads } = openGeneration(this.session, this.tables, head.generation, JSON.parse(identity) as CassandraIdentity);
    const snapshot = new CassandraSnapshot(asCopyHead(head), head.version, identity, reads, lease);
    lease.snapshots.add(snapshot);
    return snapshot;
  }

  /** Extends what is held, from the oldest version that is still read. */
  private async extend(): Promise<void> {
    for (const [generation, held] of this.held) {
      const start = performance.now();
      if (held.snapshots.size === 0 || start > held.safeUntil) {
        this.held.delete(generation);
        await this.leases.delete(this.id, generation).catch(() => undefined);
        continue;
      }
      const version = oldestVersion(
        [...held.snapshots].map((snapshot) => snapshot.version),
        held.version,
      );
      try {
        await this.leases.write(this.id, { generation, version });
        held.version = version;
        held.safeUntil = start + CASSANDRA_LEASE_SAFE_MS;
      } catch {
        // Until it is not safe any more there is time to try again.
      }
    }
  }
}

function asCopyHead({ seq, epoch, publisher, height, slot, publishedAt, isComplete }: HeadRow): CopyHead {
  return { seq, epoch, publisher, height, slot, publishedAt, complete: isComplete };
}
