/**
 * A copy in Cassandra in the form `columns`. Cassandra has no transaction over
 * many rows, so rows have versions: a group of changes is written above the
 * published version, where no reader looks, and becomes visible when the head
 * moves, which is one compare-and-set.
 *
 *   1. the journal has all that the version does
 *   2. the head announces it: from here on it will be published, by whoever leads
 *   3. its rows are written, each with the version as its timestamp
 *   4. the head moves
 *
 * Who claims the copy finishes what is announced, before anything else.
 */

import { UnspentError } from '../../util/errors.ts';
import { PUBLISH_HEARTBEAT_MS } from '../../util/limits.ts';
import { type CopyChange, countOf } from '../change.ts';
import type { PublishedIdentity } from '../identity.ts';
import { netted } from '../row-changes.ts';
import type { Claim, CopyTarget, PublishedHead, PublishedRows, SnapshotLoad } from '../target.ts';
import { type CassandraIdentity, columnNumber, type Generation, openGeneration } from './generation.ts';
import { CassandraHead, headValues } from './head.ts';
import { Journal, type Operation } from './journal.ts';
import { Leases } from './leases.ts';
import { GenerationLoad } from './load.ts';
import { type CassandraPlace, cassandraPlace } from './place.ts';
import { assertForm, type CopyTables, copyTables, prepareKeyspace } from './schema.ts';
import { CassandraSession, type SessionOptions } from './session.ts';
import { Upkeep } from './upkeep.ts';

export interface CassandraTargetOptions extends SessionOptions {
  readonly publisher?: string | undefined;
}

export class CassandraColumns implements CopyTarget {
  readonly form = 'columns';
  readonly rows: PublishedRows;
  private readonly place: CassandraPlace;
  private readonly session: CassandraSession;
  private readonly tables: CopyTables;
  private readonly head: CassandraHead;
  private readonly journal: Journal;
  private readonly upkeep: Upkeep;
  private generation: Generation | null = null;
  private isPrepared = false;

  constructor(url: string, { publisher, ...options }: CassandraTargetOptions = {}) {
    this.place = cassandraPlace(url);
    this.session = new CassandraSession(this.place, options);
    this.tables = copyTables(this.place.keyspace);
    this.head = new CassandraHead(this.session, this.tables.head, publisher);
    this.journal = new Journal(this.session, this.tables);
    this.upkeep = new Upkeep(this.session, this.tables, this.head, this.journal, new Leases(this.session, this.tables));
    this.rows = {
      get: (column, keys) => this.published.reads.getMany(column, keys, this.head.led.version),
      scan: (column, range) => this.published.reads.scan(column, range, this.head.led.version),
    };
  }

  get name(): string {
    return this.place.name;
  }

  async claim(signal: AbortSignal, onWaiting?: () => void): Promise<Claim> {
    await this.upkeep.stop();
    if (!this.isPrepared) await prepareKeyspace(this.session, this.place);
    this.isPrepared = true;
    const { form, identity, generation, pending, attempt } = await this.head.claim(signal, onWaiting);
    assertForm(form, this.place.keyspace);
    const document = identity === null ? null : (JSON.parse(identity) as CassandraIdentity);
    this.generation = document === null ? null : openGeneration(this.session, this.tables, generation, document);
    if (pending !== 0n) await this.finish(pending, attempt);
    this.upkeep.begin(this.generation);
    return { head: this.head.led, identity: document };
  }

  /** What a publisher before us has announced; that may take longer than a leader may be silent. */
  private async finish(version: bigint, attempt: bigint): Promise<void> {
    const beat = setInterval(() => void this.head.renew().catch(() => undefined), PUBLISH_HEARTBEAT_MS);
    try {
      const { head, operations } = await this.journal.read(version, attempt);
      await this.published.writes.write(version, operations);
      await this.head.publish(head);
    } finally {
      clearInterval(beat);
    }
  }

  async publish(changes: readonly CopyChange[]): Promise<PublishedHead> {
    const { seq, version, epoch, generation } = this.head.led;
    const { numbers, writes } = this.published;
    const operations = operationsOf(changes, numbers);
    const values = headValues(changes[changes.length - 1], seq + countOf(changes));
    await this.journal.write(version + 1n, BigInt(epoch), values, generation, operations);
    await this.head.announce(version + 1n);
    await writes.write(version + 1n, operations);
    return this.head.publish(values);
  }

  async load(identity: PublishedIdentity): Promise<SnapshotLoad> {
    await this.upkeep.stop();
    return GenerationLoad.begin(this.session, this.tables, this.head, identity, this.place.buckets, (generation) => {
      this.generation = generation ?? this.generation;
      this.upkeep.begin(this.generation);
    });
  }

  async renew(): Promise<void> {
    await this.head.renew();
    this.upkeep.run();
  }

  async close(): Promise<void> {
    await this.upkeep.stop();
    await this.head.resign();
    await this.session.close();
  }

  private get published(): Generation {
    if (this.generation === null) throw new UnspentError('DATABASE', `nothing is published in the copy in ${this.name} yet`);
    return this.generation;
  }
}

function operationsOf(changes: readonly CopyChange[], numbers: Generation['numbers']): Operation[] {
  const operations: Operation[] = [];
  for (const { column, puts, deletes } of netted(changes)) {
    const place = columnNumber(column, numbers);
    for (const [key, value] of puts) operations.push({ column: place, key, value });
    for (const key of deletes) operations.push({ column: place, key, value: undefined });
  }
  return operations;
}
