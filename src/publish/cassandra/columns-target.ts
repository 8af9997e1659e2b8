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
import type { CopyChange } from '../change.ts';
import type { PublishedIdentity } from '../identity.ts';
import { netted } from '../row-changes.ts';
import type { Claim, CopyTarget, PublishedHead, PublishedMoment, PublishedRows, SnapshotLoad } from '../target.ts';
import { bucketRule } from './buckets.ts';
import { type CassandraIdentity, numberedColumns } from './generation.ts';
import { CassandraHead, headValues } from './head.ts';
import { Journal, type Operation } from './journal.ts';
import { type CassandraPlace, cassandraPlace } from './place.ts';
import { RowWrites } from './row-writes.ts';
import { assertForm, copyTables, dropGeneration, makeGeneration, prepareKeyspace } from './schema.ts';
import { CassandraSession, type SessionOptions } from './session.ts';
import { VersionedRows } from './versioned-rows.ts';

export interface CassandraTargetOptions extends SessionOptions {
  readonly publisher?: string | undefined;
}

/** The rows of a generation, both ways. */
interface Generation {
  readonly number: bigint;
  readonly numbers: ReadonlyMap<string, number>;
  readonly reads: VersionedRows;
  readonly writes: RowWrites;
}

export class CassandraColumns implements CopyTarget {
  readonly form = 'columns';
  readonly rows: PublishedRows;
  private readonly place: CassandraPlace;
  private readonly session: CassandraSession;
  private readonly tables: ReturnType<typeof copyTables>;
  private readonly head: CassandraHead;
  private readonly journal: Journal;
  private generation: Generation | null = null;
  private isPrepared = false;

  constructor(url: string, { publisher, ...options }: CassandraTargetOptions = {}) {
    this.place = cassandraPlace(url);
    this.session = new CassandraSession(this.place, options);
    this.tables = copyTables(this.place.keyspace);
    this.head = new CassandraHead(this.session, this.tables.head, publisher);
    this.journal = new Journal(this.session, this.tables);
    this.rows = {
      get: (column, keys) => this.published.reads.getMany(column, keys, this.head.led.version),
      scan: (column, range) => this.published.reads.scan(column, range, this.head.led.version),
    };
  }

  get name(): string {
    return this.place.name;
  }

  async claim(signal: AbortSignal): Promise<Claim> {
    if (!this.isPrepared) await prepareKeyspace(this.session, this.place);
    this.isPrepared = true;
    const { form, identity, generation, pending, attempt } = await this.head.claim(signal);
    assertForm(form, this.place.keyspace);
    const document = identity === null ? null : (JSON.parse(identity) as CassandraIdentity);
    this.generation = document === null ? null : this.generationOf(generation, document);
    if (pending !== 0n) await this.finish(pending, attempt);
    return { head: this.head.led, identity: document };
  }

  /** What a publisher before us has announced. */
  private async finish(version: bigint, attempt: bigint): Promise<void> {
    const { head, operations } = await this.journal.read(version, attempt);
    await this.published.writes.write(version, operations);
    await this.head.publish(head);
  }

  async publish(changes: readonly CopyChange[]): Promise<PublishedHead> {
    const { seq, version, epoch, generation } = this.head.led;
    const { numbers, writes } = this.published;
    const operations = operationsOf(changes, numbers);
    const values = headValues(changes[changes.length - 1], seq + changes.length);
    await this.journal.write(version + 1n, BigInt(epoch), values, generation, operations);
    await this.head.announce(version + 1n);
    await writes.write(version + 1n, operations);
    return this.head.publish(values);
  }

  async load(identity: PublishedIdentity): Promise<SnapshotLoad> {
    const number = await this.head.newGeneration();
    await makeGeneration(this.session, this.tables, number);
    const buckets = Object.fromEntries(identity.columns.map((column) => [column.name, bucketRule(column, this.place.buckets, undefined)]));
    let document: CassandraIdentity = { ...identity, buckets };
    let generation = this.generationOf(number, document);
    const begun = new Set<string>();
    return {
      rows: async (name, rows) => {
        const column = identity.columns.find((spec) => spec.name === name);
        if (column !== undefined && !begun.has(name)) {
          document = { ...document, buckets: { ...document.buckets, [name]: bucketRule(column, this.place.buckets, rows[0]?.[0]) } };
          generation = this.generationOf(number, document);
          begun.add(name);
        }
        const place = placeOf(name, generation.numbers);
        await generation.writes.write(
          0n,
          rows.map(([key, value]) => ({ column: place, key, value })),
        );
      },
      finish: async (moment: PublishedMoment) => {
        const values = headValues(moment, this.head.led.seq + 1);
        const head = await this.head.publishGeneration(values, number, JSON.stringify(document));
        this.generation = generation;
        return head;
      },
      abandon: () => dropGeneration(this.session, this.tables, number),
    };
  }

  async renew(): Promise<void> {
    await this.head.renew();
  }

  async close(): Promise<void> {
    await this.head.resign();
    await this.session.close();
  }

  private get published(): Generation {
    if (this.generation === null) throw new UnspentError('DATABASE', `nothing is published in the copy in ${this.name} yet`);
    return this.generation;
  }

  private generationOf(number: bigint, identity: CassandraIdentity): Generation {
    const columns = numberedColumns(identity);
    const [rows, buckets] = [this.tables.rows(number), this.tables.buckets(number)];
    return {
      number,
      numbers: new Map([...columns].map(([name, column]) => [name, column.number])),
      reads: new VersionedRows(this.session, rows, buckets, columns),
      writes: new RowWrites(this.session, rows, buckets, columns.values()),
    };
  }
}

function operationsOf(changes: readonly CopyChange[], numbers: ReadonlyMap<string, number>): Operation[] {
  const operations: Operation[] = [];
  for (const { column, puts, deletes } of netted(changes)) {
    const place = placeOf(column, numbers);
    for (const [key, value] of puts) operations.push({ column: place, key, value });
    for (const key of deletes) operations.push({ column: place, key, value: undefined });
  }
  return operations;
}

function placeOf(column: string, numbers: ReadonlyMap<string, number>): number {
  const place = numbers.get(column);
  if (place === undefined) throw new UnspentError('DATABASE', `the copy has no column '${column}'`);
  return place;
}
