/**
 * The head row of a copy in Cassandra: where the copy is, and the fence. It is
 * changed by compare-and-set only and read with SERIAL, so whoever reads it sees
 * the last change that anybody was told of. Of this process one such statement
 * is under way at a time: they would only hinder each other.
 */
import { hostname } from 'node:os';
import type { Head } from '../../state/head.ts';
import { fromHex, toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { PUBLISH_LEASE_MS, PUBLISH_POLL_MS } from '../../util/limits.ts';
import { pause } from '../../util/pause.ts';
import type { PublishedHead, PublishedMoment } from '../target.ts';
import { ONE } from './schema.ts';
import type { CassandraRow, CassandraSession, Value } from './session.ts';

/** Numbers as Cassandra has them. */
export interface HeadRow extends PublishedHead {
  readonly leader: string | null;
  readonly publisher: string | null;
  /** Groups of changes are versions: rows up to this one are published. */
  readonly version: bigint;
  readonly generation: bigint;
  /** The version that is under way, in the journal under that attempt; 0: none. */
  readonly pending: bigint;
  readonly attempt: bigint;
  /** Nobody reads below that version, and what is useless up to that one is removed. */
  readonly floor: bigint;
  readonly removed: bigint;
  readonly publishedAt: number | null;
  readonly form: string;
  /** Null: nothing is published. */
  readonly identity: string | null;
}

/** What a version makes of the head; stands in its journal. */
export interface HeadValues {
  readonly seq: number;
  readonly height: number | null;
  readonly slot: number | null;
  readonly hash: string | null;
  readonly position: string;
  readonly utxos: number;
  readonly value: string;
}

export function headValues({ head, position }: PublishedMoment, seq: number): HeadValues {
  const { height = null, slot = null, hash = null, utxos = 0, value = 0n } = head ?? ({} as Partial<Head>);
  return { seq, height, slot, hash: hash === null ? null : toHex(hash), position, utxos, value: String(value) };
}

/** With SERIAL. Null: there is none. */
export async function readHeadRow(session: CassandraSession, table: string): Promise<HeadRow | null> {
  const [row] = await session.read(`SELECT * FROM ${table} WHERE one = ${ONE}`, [], 'serial');
  return row === undefined ? null : headRow(row);
}

function headRow(row: CassandraRow): HeadRow {
  const big = (name: string): bigint => (row[name] as bigint | null) ?? 0n;
  const numberOrNull = (name: string): number | null => (row[name] === null ? null : Number(row[name]));
  return {
    seq: Number(big('seq')),
    epoch: Number(big('epoch')),
    height: numberOrNull('height'),
    slot: numberOrNull('slot'),
    hash: row['hash'] === null ? null : new Uint8Array(row['hash'] as Buffer),
    isComplete: row['complete'] === true,
    leader: row['leader'] as string | null,
    publisher: row['publisher'] as string | null,
    version: big('version'),
    generation: big('generation'),
    pending: big('pending'),
    attempt: big('attempt'),
    floor: big('floor'),
    removed: big('removed'),
    publishedAt: numberOrNull('published_at'),
    form: String(row['form']),
    identity: row['identity'] as string | null,
  };
}

/** One compare-and-set of a leader. */
interface HeadChange {
  readonly using?: string;
  readonly set: string;
  readonly values: readonly Value[];
  /** Besides the epoch. */
  readonly condition?: string;
  readonly compared?: readonly Value[];
  /** What the head has then. */
  readonly after: Partial<HeadRow>;
}

function placeOf({ seq, height, slot, hash }: HeadValues): Pick<HeadRow, 'seq' | 'height' | 'slot' | 'hash'> {
  return { seq, height, slot, hash: hash === null ? null : fromHex(hash) };
}

const SET_VALUES = 'seq = ?, height = ?, slot = ?, hash = ?, position = ?, utxos = ?, value = ?, published_at = ?, publisher = ?';

export class CassandraHead {
  current: HeadRow | null = null;
  private readonly session: CassandraSession;
  private readonly table: string;
  private readonly publisher: string;
  private isLeading = false;
  private last: Promise<unknown> = Promise.resolve();

  /** `publisher`: the name of this one in the head; default: host, process and a number by chance. */
  constructor(session: CassandraSession, table: string, publisher: string | undefined) {
    this.session = session;
    this.table = table;
    this.publisher = publisher ?? `${hostname()} ${process.pid} ${Math.random().toString(36).slice(2, 8)}`;
  }

  /** Where the copy is, for who leads it. */
  get led(): HeadRow {
    if (this.current === null || !this.isLeading) throw this.fenced();
    return this.current;
  }

  /** Waits until it leads. A leader's name passes away when it is not renewed. */
  claim(signal: AbortSignal, onWaiting?: () => void): Promise<HeadRow> {
    this.isLeading = false;
    return this.inTurn(() => this.lead(signal, onWaiting));
  }

  private async lead(signal: AbortSignal, onWaiting?: () => void): Promise<HeadRow> {
    for (;;) {
      if (signal.aborted) throw new UnspentError('CLOSED', 'publishing was ended');
      const found = await this.read();
      if (found.leader === null || found.leader === this.publisher) {
        const isOurs = await this.session.compareAndSet(
          `BEGIN BATCH
           UPDATE ${this.table} USING TTL ${PUBLISH_LEASE_MS / 1000} SET leader = ? WHERE one = ${ONE} IF epoch = ? AND leader = ?;
           UPDATE ${this.table} SET epoch = ? WHERE one = ${ONE};
           APPLY BATCH`,
          [this.publisher, BigInt(found.epoch), found.leader, BigInt(found.epoch + 1)],
        );
        // Read again: between the two the former leader may have gone on.
        if (isOurs) {
          const ours = await this.read();
          if (ours.epoch === found.epoch + 1) {
            this.isLeading = true;
            this.current = ours;
            return ours;
          }
        }
        continue;
      }
      onWaiting?.();
      await pause(PUBLISH_POLL_MS, { signal });
    }
  }

  /** From now on whoever leads after us finishes this version. */
  async announce(version: bigint): Promise<void> {
    await this.change(({ epoch }) => ({
      set: 'pending = ?, attempt = ?',
      values: [version, BigInt(epoch)],
      condition: 'version = ? AND pending = 0',
      compared: [version - 1n],
      after: { pending: version, attempt: BigInt(epoch) },
    }));
  }

  /** The version that is under way is published. */
  publish(values: HeadValues): Promise<HeadRow> {
    return this.change(({ pending }) => ({
      set: `version = ?, pending = 0, ${SET_VALUES}`,
      values: [pending, ...this.valuesOf(values)],
      condition: 'pending = ?',
      compared: [pending],
      after: { ...placeOf(values), version: pending, pending: 0n },
    }));
  }

  /** Another generation is published, as a version of its own. */
  publishGeneration(values: HeadValues, generation: bigint, identity: string): Promise<HeadRow> {
    return this.change(({ version }) => ({
      set: `version = ?, generation = ?, identity = ?, complete = true, ${SET_VALUES}`,
      values: [version + 1n, generation, identity, ...this.valuesOf(values)],
      condition: 'version = ? AND pending = 0',
      compared: [version],
      after: { ...placeOf(values), version: version + 1n, generation, identity, isComplete: true },
    }));
  }

  /** Readers that come from now on read that version or a later one. */
  async raiseFloor(floor: bigint): Promise<void> {
    await this.change(() => ({ set: 'floor = ?', values: [floor], after: { floor } }));
  }

  async setRemoved(removed: bigint): Promise<void> {
    await this.change(() => ({ set: 'removed = ?', values: [removed], after: { removed } }));
  }

  /** A number that no other snapshot has, because no other epoch has it. */
  async newGeneration(): Promise<bigint> {
    const { epoch } = await this.change((led) => {
      const next = led.epoch + 1;
      return { set: 'epoch = ?', values: [BigInt(next)], after: { epoch: next } };
    });
    return BigInt(epoch);
  }

  async renew(): Promise<void> {
    const using = `USING TTL ${PUBLISH_LEASE_MS / 1000}`;
    await this.change(() => ({ using, set: 'leader = ?', values: [this.publisher], after: {} }));
  }

  /** Another may lead at once. */
  async resign(): Promise<void> {
    if (this.isLeading) await this.change(() => ({ set: 'leader = null', values: [], after: {} })).catch(() => undefined);
    this.isLeading = false;
  }

  private valuesOf({ seq, height, slot, hash, position, utxos, value }: HeadValues): Value[] {
    const big = (n: number | null): bigint | null => (n === null ? null : BigInt(n));
    const bytes = hash === null ? null : Buffer.from(fromHex(hash));
    return [BigInt(seq), big(height), big(slot), bytes, position, BigInt(utxos), value, BigInt(Date.now()), this.publisher];
  }

  /** `make` sees the head as it is when the change has its turn. Throws FENCED where it is not ours any more. */
  private change(make: (led: HeadRow) => HeadChange): Promise<HeadRow> {
    return this.inTurn(async () => {
      const led = this.led;
      const { using = '', set, values, condition, compared = [], after } = make(led);
      const and = condition === undefined ? '' : ` AND ${condition}`;
      const text = `UPDATE ${this.table} ${using} SET ${set} WHERE one = ${ONE} IF epoch = ?${and}`;
      if (!(await this.session.compareAndSet(text, [...values, BigInt(led.epoch), ...compared]))) throw this.fenced();
      const moved = { ...led, ...after };
      this.current = moved;
      return moved;
    });
  }

  private inTurn<T>(body: () => Promise<T>): Promise<T> {
    const turn = this.last.then(body);
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private async read(): Promise<HeadRow> {
    const row = await readHeadRow(this.session, this.table);
    if (row === null) throw new UnspentError('DATABASE', `the copy in ${this.session.name} has no head any more`);
    return row;
  }

  private fenced(): UnspentError {
    this.isLeading = false;
    const since = this.current === null ? '' : ` since epoch ${this.current.epoch}`;
    return new UnspentError('FENCED', `another publisher leads the copy in ${this.session.name}${since}`, { copy: this.session.name });
  }
}
