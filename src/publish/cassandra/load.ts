/**
 * A copy in the making: a generation of its own, into which a snapshot is written
 * as version 0, without a journal. Nobody reads it before the head names it, so
 * where the publisher ends before that, the next one drops its tables as a whole.
 * Nodes that are away for a while only hold it up: every batch is sent until it
 * is taken, for as long as the snapshot is held.
 */

import type { Row } from '../../engine/engine.ts';
import { isUnspentError } from '../../util/errors.ts';
import { CASSANDRA_LOAD_RETRIES, CASSANDRA_RETRY_MS_MAX } from '../../util/limits.ts';
import { pause } from '../../util/pause.ts';
import type { PublishedIdentity } from '../identity.ts';
import type { PublishedHead, PublishedMoment, SnapshotLoad } from '../target.ts';
import { bucketRule } from './buckets.ts';
import { type CassandraIdentity, columnNumber, type Generation, openGeneration } from './generation.ts';
import { type CassandraHead, headValues } from './head.ts';
import { type CopyTables, dropGeneration, makeGeneration } from './schema.ts';
import type { CassandraSession } from './session.ts';

/** Told when it is over: the generation that is published, or null, when it was abandoned. */
type OnLoaded = (generation: Generation | null) => void;

export class GenerationLoad implements SnapshotLoad {
  private readonly session: CassandraSession;
  private readonly tables: CopyTables;
  private readonly head: CassandraHead;
  private readonly number: bigint;
  private readonly bucketCount: number;
  private readonly onLoaded: OnLoaded;
  private readonly begun = new Set<string>();
  private isFinishing = false;
  private identity: CassandraIdentity;
  private generation: Generation;

  private constructor(
    session: CassandraSession,
    tables: CopyTables,
    head: CassandraHead,
    number: bigint,
    identity: PublishedIdentity,
    bucketCount: number,
    onLoaded: OnLoaded,
  ) {
    this.session = session;
    this.tables = tables;
    this.head = head;
    this.number = number;
    this.bucketCount = bucketCount;
    this.onLoaded = onLoaded;
    const buckets = Object.fromEntries(identity.columns.map((column) => [column.name, bucketRule(column, bucketCount, undefined)]));
    this.identity = { ...identity, buckets };
    this.generation = openGeneration(session, tables, number, this.identity);
  }

  static async begin(
    session: CassandraSession,
    tables: CopyTables,
    head: CassandraHead,
    identity: PublishedIdentity,
    bucketCount: number,
    onLoaded: OnLoaded,
  ): Promise<GenerationLoad> {
    const number = await head.newGeneration();
    await makeGeneration(session, tables, number);
    return new GenerationLoad(session, tables, head, number, identity, bucketCount, onLoaded);
  }

  async rows(name: string, rows: readonly Row[]): Promise<void> {
    if (!this.begun.has(name)) this.beginColumn(name, rows[0]?.[0]);
    const column = columnNumber(name, this.generation.numbers);
    const operations = rows.map(([key, value]) => ({ column, key, value }));
    for (let retries = 0; ; retries++) {
      // Somebody else may load meanwhile: then this is of no use.
      void this.head.led;
      try {
        await this.generation.writes.write(0n, operations);
        return;
      } catch (error) {
        if (!isUnspentError(error, 'DATABASE_BUSY') || retries === CASSANDRA_LOAD_RETRIES) throw error;
        await pause(CASSANDRA_RETRY_MS_MAX, {});
      }
    }
  }

  async finish(moment: PublishedMoment): Promise<PublishedHead> {
    this.isFinishing = true;
    const values = headValues(moment, this.head.led.seq + 1);
    const head = await this.head.publishGeneration(values, this.number, JSON.stringify(this.identity));
    this.onLoaded(this.generation);
    return head;
  }

  async abandon(): Promise<void> {
    // The answer to the head's move may be all that was lost: then this is the copy. If it is not, it goes with those of others.
    if (!this.isFinishing) await dropGeneration(this.session, this.tables, this.number);
    this.onLoaded(null);
  }

  /** Columns of others are known by their first key only. */
  private beginColumn(name: string, first: Uint8Array | undefined): void {
    this.begun.add(name);
    const column = this.identity.columns.find((spec) => spec.name === name);
    if (column === undefined) return;
    const buckets = { ...this.identity.buckets, [name]: bucketRule(column, this.bucketCount, first) };
    this.identity = { ...this.identity, buckets };
    this.generation = openGeneration(this.session, this.tables, this.number, this.identity);
  }
}
