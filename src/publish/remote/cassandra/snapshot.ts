/** One moment of a copy in Cassandra: a version, and the lease under which it can be read. */
import type { Row } from '../../../engine/engine.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { VersionedRows } from '../../cassandra/versioned-rows.ts';
import type { CopyHead, RemoteRange, RemoteSnapshot } from '../contract.ts';
import { asCopyErrors } from './copy-errors.ts';
import type { HeldLease } from './store.ts';

export class CassandraSnapshot implements RemoteSnapshot {
  readonly head: CopyHead;
  readonly version: bigint;
  readonly identity: string;
  private readonly rows: VersionedRows;
  private readonly lease: HeldLease;
  private wasLost = false;
  private isReleased = false;

  constructor(head: CopyHead, version: bigint, identity: string, rows: VersionedRows, lease: HeldLease) {
    this.head = head;
    this.version = version;
    this.identity = identity;
    this.rows = rows;
    this.lease = lease;
  }

  get isLost(): boolean {
    if (performance.now() > this.lease.safeUntil) this.wasLost = true;
    return this.wasLost;
  }

  getMany(column: string, keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.leased(() => this.rows.getMany(column, keys, this.version));
  }

  scan(column: string, range: RemoteRange): Promise<Row[]> {
    return this.leased(() => this.rows.scan(column, range, this.version));
  }

  /** Its lease has passed away; another one does not bring back what was removed meanwhile. */
  lose(): void {
    this.wasLost = true;
  }

  retire(): void {}

  release(): void {
    this.isReleased = true;
    this.lease.snapshots.delete(this);
  }

  /** Also looks afterwards: a process that stood still for a minute has read what may have been removed. */
  private async leased<T>(read: () => Promise<T>): Promise<T> {
    if (this.isReleased) throw new UnspentError('CLOSED', 'the moment of the copy was released');
    this.assertLeased();
    const found = await asCopyErrors(read());
    this.assertLeased();
    return found;
  }

  private assertLeased(): void {
    if (this.isLost)
      throw new UnspentError('COPY_UNREACHABLE', 'the database of the copy: the lease of this reader has passed away', { reason: 'lease' });
  }
}
