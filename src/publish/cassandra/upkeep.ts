/**
 * What a leader does beside publishing: it removes old versions of rows, portion
 * by portion, and drops generations that nobody reads any more. Nothing waits for
 * it; where it fails, because a node is away, it goes on later.
 */
import { CASSANDRA_REMOVAL_RETRY_MS, PUBLISH_GRACE_MS } from '../../util/limits.ts';
import type { Generation } from './generation.ts';
import type { CassandraHead } from './head.ts';
import type { Journal } from './journal.ts';
import type { Leases } from './leases.ts';
import { OldVersions } from './old-versions.ts';
import { type CopyTables, dropGeneration, generations } from './schema.ts';
import type { CassandraSession } from './session.ts';

export class Upkeep {
  private readonly session: CassandraSession;
  private readonly tables: CopyTables;
  private readonly head: CassandraHead;
  private readonly leases: Leases;
  private readonly oldVersions: OldVersions;
  private working: Promise<void> | null = null;
  private isStopped = true;
  private generation: Generation | null = null;
  /** Not before, on the clock of `performance.now`. */
  private nextAt = 0;
  private sweepAt: number | null = null;

  constructor(session: CassandraSession, tables: CopyTables, head: CassandraHead, journal: Journal, leases: Leases) {
    this.session = session;
    this.tables = tables;
    this.head = head;
    this.leases = leases;
    this.oldVersions = new OldVersions(session, head, journal, leases);
  }

  /** From now on `run` does something. */
  begin(generation: Generation | null): void {
    this.generation = generation;
    this.isStopped = false;
    this.nextAt = 0;
    this.sweepAt = performance.now() + PUBLISH_GRACE_MS;
  }

  /** Nothing is under way when this returns. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.working;
  }

  /** Begins, where there is something to do. */
  run(): void {
    if (this.working !== null || this.isStopped || performance.now() < this.nextAt) return;
    this.working = this.work()
      .catch(() => {
        // A leader that was replaced is told so by what it publishes next.
        this.nextAt = performance.now() + CASSANDRA_REMOVAL_RETRY_MS;
      })
      .finally(() => {
        this.working = null;
      });
  }

  private async work(): Promise<void> {
    if (this.sweepAt !== null && performance.now() > this.sweepAt) await this.sweep();
    while (!this.isStopped && this.generation !== null && (await this.oldVersions.remove(this.generation)));
  }

  /**
   * A reader of a former generation has a lease of it, or looks at the head before it reads. Those that a publisher is filling
   * who leads by now have a higher number than we have led with.
   */
  private async sweep(): Promise<void> {
    const { generation, epoch } = this.head.led;
    const there = await generations(this.session);
    const read = new Set((await this.leases.list()).map((lease) => lease.generation));
    const useless = there.filter((number) => number !== generation && number <= BigInt(epoch) && !read.has(number));
    for (const number of useless) if (!this.isStopped) await dropGeneration(this.session, this.tables, number);
    const isAllGone = useless.length + 1 >= there.length && !this.isStopped;
    this.sweepAt = isAllGone ? null : performance.now() + PUBLISH_GRACE_MS;
  }
}
