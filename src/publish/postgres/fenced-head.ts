/**
 * The head row of a copy, which is also its fence: who leads, since which epoch
 * and for how long, and where the copy is. No lock of PostgreSQL's own is used,
 * only the row, so that it works behind poolers and on servers that speak
 * PostgreSQL's language without being it.
 */
import { hostname } from 'node:os';
import { PostgresConnection, type PostgresConnectionOptions, type SqlQuery, type SqlRow } from '../../sql/postgres-connection.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { PUBLISH_ANSWER_MS, PUBLISH_LEASE_MS, PUBLISH_POLL_MS } from '../../util/limits.ts';
import { pause } from '../../util/pause.ts';
import type { PublishedIdentity } from '../identity.ts';
import type { Claim, PublishedHead, PublishedMoment } from '../target.ts';
import { copyPlace, prepareSchema, quoted } from './schema.ts';

export interface PostgresTargetOptions {
  /** Awaited before each statement. For tests. */
  readonly beforeStatement?: ((sql: string) => void | Promise<void>) | undefined;
  /** The name of this publisher in the head; default: host, process and a number by chance. */
  readonly publisher?: string | undefined;
  /** Milliseconds for which tables that were replaced stay; default: PUBLISH_GRACE_MS. */
  readonly graceMs?: number | undefined;
}

/** What readers listen to (`LISTEN unspent_head`); the payload is the schema. */
export const HEAD_CHANNEL = 'unspent_head';

/** Statements of a transaction. */
export type Statements = (query: SqlQuery) => Promise<void>;

const COLUMNS = 'seq, epoch, generation, height, slot, hash, complete';

export class FencedHead {
  readonly name: string;
  /** As SQL has it. */
  readonly schema: string;
  readonly connection: PostgresConnection;
  readonly plainSchema: string;
  private readonly form: string;
  /** For signs of life while the other one is busy. */
  private readonly beat: PostgresConnection;
  private readonly publisher: string;
  private readonly options: Pick<PostgresConnectionOptions, 'url' | 'beforeStatement'>;
  private isPrepared = false;
  private isLeading = false;
  /** The last statement of `beat`, however it ends. */
  private beating: Promise<unknown> = Promise.resolve();
  /** A NOTIFY waits for its turn. */
  private isNotifying = false;
  current: PublishedHead & { readonly generation: number } = NOTHING;

  constructor(url: string, form: 'columns' | 'sql', { beforeStatement, publisher }: PostgresTargetOptions) {
    const place = copyPlace(url);
    this.name = place.name;
    this.plainSchema = place.schema;
    this.schema = quoted(place.schema);
    this.form = form;
    this.publisher = publisher ?? `${hostname()} ${process.pid} ${Math.random().toString(36).slice(2, 8)}`;
    this.options = { url: place.url, beforeStatement };
    const options = { url: place.url, name: `copy in ${place.name}`, answerMs: PUBLISH_ANSWER_MS };
    this.connection = new PostgresConnection({
      ...options,
      application: 'unspent publish',
      findsByKey: form === 'columns',
      beforeStatement,
    });
    this.beat = new PostgresConnection({ ...options, application: 'unspent publish lease' });
  }

  async claim(signal: AbortSignal, onWaiting?: () => void): Promise<Claim> {
    this.isLeading = false;
    if (!this.isPrepared) await prepareSchema(this.connection, this.plainSchema, this.form);
    this.isPrepared = true;
    for (;;) {
      if (signal.aborted) throw new UnspentError('CLOSED', 'publishing was ended');
      const [row] = await this.connection.query(
        `UPDATE ${this.schema}.head SET epoch = epoch + 1, publisher = $1, lease_until = now() + $2 * interval '1 millisecond'
         WHERE publisher IS NULL OR publisher = $1 OR lease_until IS NULL OR lease_until < now() RETURNING ${COLUMNS}`,
        [this.publisher, PUBLISH_LEASE_MS],
      );
      if (row !== undefined) {
        this.take(row);
        this.isLeading = true;
        return { head: this.current, identity: await this.identity() };
      }
      onWaiting?.();
      await pause(PUBLISH_POLL_MS, { signal });
    }
  }

  /** Another connection, for statements that take up to `answerMs`. */
  connect(application: string, answerMs: number): PostgresConnection {
    const { url, beforeStatement } = this.options;
    return new PostgresConnection({ url, name: `copy in ${this.name}`, application, answerMs, beforeStatement });
  }

  private async identity(): Promise<PublishedIdentity | null> {
    const [row] = await this.connection.query(`SELECT document FROM ${this.schema}.identity`);
    return row === undefined ? null : (JSON.parse(String(row['document'])) as PublishedIdentity);
  }

  /** A number for the tables of a snapshot that no other has: a former leader may still be filling those of its own. */
  async newGeneration(): Promise<number> {
    // Nobody has led before.
    if (this.current.epoch === 1 && this.current.generation === 0) return 1;
    const [row] = await this.connection.query(
      `UPDATE ${this.schema}.head SET epoch = epoch + 1 WHERE epoch = $1 AND publisher = $2 RETURNING ${COLUMNS}`,
      [this.current.epoch, this.publisher],
    );
    if (row === undefined) throw this.fenced();
    this.take(row);
    return this.current.epoch;
  }

  /**
   * The head moves by `count` changes, and with it, in one statement and so in one transaction, everything that `parts`
   * do: each is a WITH query that looks whether `fence` has a row. Throws FENCED, having changed nothing.
   */
  async move(moment: PublishedMoment, count: number, parts: readonly string[], values: readonly unknown[]): Promise<PublishedHead> {
    return this.moveTo(moment, count, this.current.generation, parts, values);
  }

  async moveTo(
    moment: PublishedMoment,
    count: number,
    generation: number,
    parts: readonly string[],
    values: readonly unknown[],
  ): Promise<PublishedHead> {
    const text = this.movingText(parts);
    const [row] = await this.retried(() => this.connection.query(text, [...this.movingValues(moment, count, generation), ...values]));
    return this.moved(row);
  }

  /**
   * The same in a transaction with statements that put other tables in the place of those there are, which a reader finds
   * by name whatever moment it reads at. So nobody may have the head of before and those tables: who has read the head is
   * waited for, and who reads at a moment before this one finds no head (it is written anew, not changed), and looks again.
   * Throws FENCED, and the transaction is to be undone.
   */
  async moveWithin(connection: PostgresConnection, moment: PublishedMoment, generation: number, body: Statements): Promise<PublishedHead> {
    const row = await connection.transaction(async (query) => {
      await query(`LOCK TABLE ${this.schema}.head IN ACCESS EXCLUSIVE MODE`);
      const [head] = await query(this.movingText([]), this.movingValues(moment, 1, generation));
      if (head === undefined) throw this.fenced();
      await body(query);
      await query(`CREATE TEMPORARY TABLE unspent_head ON COMMIT DROP AS SELECT * FROM ${this.schema}.head;
        TRUNCATE ${this.schema}.head; INSERT INTO ${this.schema}.head SELECT * FROM unspent_head`);
      return head;
    });
    return this.moved(row);
  }

  private movingText(parts: readonly string[]): string {
    const fence = `fence AS (UPDATE ${this.schema}.head SET seq = $1, height = $4, slot = $5, hash = $6, position = $7, utxos = $8,
      value = $9::numeric, generation = $10, published_at = now(), complete = true, lease_until = now() + $11 * interval '1 millisecond'
      WHERE seq = $1::bigint - $2::bigint AND epoch = $3 RETURNING ${COLUMNS})`;
    return `WITH ${[fence, ...parts].join(',\n')} SELECT ${COLUMNS} FROM fence`;
  }

  private movingValues({ head, position }: PublishedMoment, count: number, generation: number): unknown[] {
    // A sign of life that was refused meanwhile has said so.
    if (!this.isLeading) throw this.fenced();
    return [
      this.current.seq + count,
      count,
      this.current.epoch,
      head?.height ?? null,
      head?.slot ?? null,
      head === null ? null : Buffer.from(head.hash),
      position,
      head?.utxos ?? 0,
      String(head?.value ?? 0n),
      generation,
      PUBLISH_LEASE_MS,
    ];
  }

  private moved(row: SqlRow | undefined): PublishedHead {
    if (row === undefined) throw this.fenced();
    this.take(row);
    this.notify();
    return this.current;
  }

  /** Parameters before those of the parts. */
  static readonly OWN_VALUES = 11;

  /** A transaction that lost against another was undone as a whole, so it can simply run again. */
  private async retried<T>(body: () => Promise<T>): Promise<T> {
    for (let attempts = 0; ; attempts++) {
      try {
        return await body();
      } catch (error) {
        const isUndone = isUnspentError(error, 'DATABASE_BUSY') && /^40(001|P01)$/.test(String(error.meta['reason']));
        if (!isUndone || attempts === 10) throw error;
      }
    }
  }

  /** Readers also look by themselves: whether this arrives does not matter. While one waits for its turn, it tells of what follows, too. */
  private notify(): void {
    if (this.isNotifying) return;
    this.isNotifying = true;
    const turn = this.inTurn(() => {
      this.isNotifying = false;
      return this.beat.query(`NOTIFY ${HEAD_CHANNEL}, '${this.plainSchema}'`);
    });
    turn.catch(() => undefined);
  }

  async renew(): Promise<void> {
    const text = `UPDATE ${this.schema}.head SET lease_until = now() + $2 * interval '1 millisecond' WHERE epoch = $1`;
    const changed = await this.inTurn(() => this.beat.change(text, [this.current.epoch, PUBLISH_LEASE_MS]));
    if (changed !== 1) throw this.fenced();
  }

  /** One statement of `beat` after the other: the driver takes no second one while one is under way. */
  private inTurn<T>(body: () => Promise<T>): Promise<T> {
    const turn = this.beating.then(body);
    this.beating = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {
    if (this.isLeading)
      await this.connection
        .query(`UPDATE ${this.schema}.head SET lease_until = NULL, publisher = NULL WHERE epoch = $1`, [this.current.epoch])
        .catch(() => undefined);
    this.isLeading = false;
    await Promise.all([this.connection.close(), this.beat.close()]);
  }

  private fenced(): UnspentError {
    this.isLeading = false;
    return new UnspentError('FENCED', `another publisher leads the ${this.name} since epoch ${this.current.epoch}`, { copy: this.name });
  }

  private take(row: SqlRow): void {
    const number = (name: string): number | null => (row[name] === null ? null : Number(row[name]));
    this.current = {
      seq: Number(row['seq']),
      epoch: Number(row['epoch']),
      generation: Number(row['generation']),
      height: number('height'),
      slot: number('slot'),
      hash: row['hash'] === null ? null : new Uint8Array(row['hash'] as Buffer),
      isComplete: row['complete'] === true,
    };
  }
}

const NOTHING = { seq: 0, epoch: 0, generation: 0, height: null, slot: null, hash: null, isComplete: false } as const;
