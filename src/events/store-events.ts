/**
 * Events for programs: the blocks that the store applied and undid, with what
 * they created and spent, as an async iterable. Each event has a position; a
 * program that stores it together with what it made of the event, and comes back
 * with it, gets every change exactly once and in order, whoever crashed.
 *
 * A reader holds one snapshot, in which the block it is at is on the chain. For
 * each event it looks at the newest commit: if its block is still there, it goes
 * on from that commit's snapshot to the next block; if not, its own snapshot
 * still knows what the block did, and it is undone. So the fold never waits for
 * a reader, however slow, and nothing is polled: a reader that has everything
 * waits for the next commit.
 *
 * Only while nobody reads can a block be rolled back whose changes are then
 * unknown; its reader gets a `rollback` when it comes back.
 */
import type { Point } from '../ledgers/ledger.ts';
import type { ChainRow } from '../projections/chain.ts';
import type { StepTx } from '../projections/projection.ts';
import { isOnChain } from '../query/chain-difference.ts';
import type { Dialect } from '../query/dialect.ts';
import type { Query } from '../query/query.ts';
import type { Utxo } from '../query/utxo.ts';
import type { Windows } from '../state/pruned.ts';
import { equalBytes } from '../util/bytes.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { SLICE_MS } from '../util/limits.ts';
import { TimeSlice } from '../util/time-slice.ts';
import { ALL, PositionWriter, parsePosition, type Resumption, resume } from './position.ts';
import type { Lease, SharedSnapshots } from './shared-snapshots.ts';

/** A block was applied, or undone. */
export interface BlockEvent {
  readonly kind: 'applied' | 'undone';
  readonly block: ChainRow;
  /** Its transactions, in its order. */
  readonly txs: readonly StepTx[];
  /** Outputs it created, in its order; undone, they are gone. One that the block itself spends is among the spent ones too. */
  readonly created: readonly Utxo[];
  /** Outputs it spent, each with the transaction that spent it; undone, they are unspent again. */
  readonly spent: readonly Utxo[];
  /** Where a reader is that has taken this event in. Store it with the data, and pass it as `after`. */
  readonly position: string;
}

/**
 * Only ever the first event: blocks that the reader had seen were rolled back while it was away, and what they did is
 * not stored any more. Everything that came from blocks above `to` is to be dropped, what they spent is unspent again.
 * Blocks follow from `to` on; some of them may be blocks that the reader had.
 */
export interface RollbackEvent {
  readonly kind: 'rollback';
  /** Null: the origin. */
  readonly to: ChainRow | null;
  readonly position: string;
}

export type StoreEvent = BlockEvent | RollbackEvent;

export interface StoreEventsOptions {
  /**
   * Where to begin: right after this position, which is that of the last event taken in. Also right after a block: a
   * point of our chain, or its hash as text; null or `origin`: before the first block. Default: the newest block there
   * is, so that the first event is the next thing that happens.
   */
  readonly after?: string | Point | null | undefined;
  /** Ends the events. */
  readonly signal?: AbortSignal | undefined;
}

/** What the events of a store are read from. */
export interface EventSource {
  readonly snapshots: SharedSnapshots;
  readonly windows: Windows;
  readonly dialect: Pick<Dialect, 'parseId'>;
}

/** How an event is told. In the query its block is on the chain, that of an undone one, too. */
export type EventForm<E> = (event: StoreEvent, query: Query) => E;

const DONE = { done: true, value: undefined } as const;

/** `E`: the form in which events are told (`EventForm`). */
export class StoreEvents<E = StoreEvent> implements AsyncIterableIterator<E, undefined, undefined>, AsyncDisposable {
  private readonly snapshots: SharedSnapshots;
  private readonly windows: Windows;
  private readonly onEnd: () => void;
  private readonly form: EventForm<E>;
  private readonly slice = new TimeSlice(SLICE_MS);
  private lastPosition: string;
  /** In this one `row` is on the chain. */
  private lease: Lease;
  private positions: PositionWriter;
  /** The block the reader is at; null: the origin. */
  private row: ChainRow | null;
  /** To be told before anything else. */
  private rollback: RollbackEvent | null = null;
  /** The fold has committed since the lease was taken. */
  private isBehind = false;
  private isEnded = false;
  private wake: (() => void) | null = null;
  private lastCall: Promise<unknown> = Promise.resolve();

  /**
   * Holds a snapshot from here on, until it is ended: by leaving the loop, `return`, the signal or the store's closing.
   * Throws USAGE when `after` is no position, EXPIRED when the events after it cannot be told any more.
   */
  constructor(source: EventSource, { after, signal }: StoreEventsOptions, form: EventForm<E>, onEnd: () => void) {
    this.snapshots = source.snapshots;
    this.windows = source.windows;
    this.form = form;
    this.lease = this.snapshots.lease();
    try {
      const { row, lost } = startOf(this.lease.query, source, after);
      this.row = row;
      this.positions = this.newPositions();
      this.lastPosition = this.positions.at(row, ALL);
      if (lost > 0) this.rollback = { kind: 'rollback', to: row, position: this.position };
    } catch (error) {
      this.lease.release();
      throw error;
    }
    const stopListening = this.snapshots.onMove(() => {
      this.isBehind = true;
      this.wake?.();
    });
    const end = (): void => this.end();
    this.onEnd = () => {
      stopListening();
      signal?.removeEventListener('abort', end);
      onEnd();
    };
    signal?.addEventListener('abort', end, { once: true });
    // Ended before it is handed out: whoever keeps count has not counted it yet.
    if (signal?.aborted) queueMicrotask(end);
  }

  /** Where a reader is that has taken in every event so far. */
  get position(): string {
    return this.lastPosition;
  }

  /** True: the reader has everything there is now, and the next event is still to happen. */
  get isCurrent(): boolean {
    if (this.isEnded || this.rollback !== null) return this.isEnded;
    const newest = this.snapshots.lease();
    const { head } = newest.query;
    newest.release();
    return head === null || this.row === null ? head === this.row : equalBytes(head.hash, this.row.hash);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next event, when there is one. Throws EXPIRED when pruning has overtaken the reader. */
  next(): Promise<IteratorResult<E, undefined>> {
    const call = this.lastCall.then(() => this.advance());
    this.lastCall = call.catch(() => undefined);
    return call;
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    this.end();
    return DONE;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
  }

  /** Ends the events and releases what is held; pending reads end. */
  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.onEnd();
    this.lease.release();
    this.wake?.();
  }

  private async advance(): Promise<IteratorResult<E, undefined>> {
    try {
      for (;;) {
        // A reader that never waits for anything else would keep the fold from its turn.
        if (this.slice.isOver) await this.slice.turn();
        if (this.isEnded) return DONE;
        const event = this.step();
        if (event !== null) return { done: false, value: this.form(event, this.lease.query) };
        await this.nextMove();
      }
    } catch (error) {
      this.end();
      throw error;
    }
  }

  /** Null: the reader has everything there is. */
  private step(): StoreEvent | null {
    const { rollback, row } = this;
    this.rollback = null;
    if (rollback !== null) return rollback;
    if (this.isBehind && !this.moveToNewest() && row !== null) return this.tell('undone', row, this.lease.query.blockByHash(row.prevHash));
    const next = this.lease.query.blockAfter(row);
    return next === null ? null : this.tell('applied', next, next);
  }

  /** Goes on from the newest snapshot. False: our block is not on its chain. */
  private moveToNewest(): boolean {
    const newest = this.snapshots.lease();
    if (this.row !== null && !isOnChain(newest.query, this.row)) {
      newest.release();
      return false;
    }
    this.lease.release();
    this.lease = newest;
    this.positions = this.newPositions();
    this.isBehind = false;
    return true;
  }

  private tell(kind: BlockEvent['kind'], block: ChainRow, then: ChainRow | null): BlockEvent {
    const { txs, created, spent } = changesOf(this.lease.query, block);
    this.row = then;
    this.lastPosition = this.positions.at(then, ALL);
    return { kind, block, txs, created: created.map((utxo) => ({ ...utxo, spent: null })), spent, position: this.position };
  }

  private newPositions(): PositionWriter {
    const { query } = this.lease;
    return new PositionWriter(query, query.horizon(this.windows));
  }

  private nextMove(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}

/** Throws USAGE, EXPIRED or UNSUPPORTED. */
function startOf(query: Query, { windows, dialect }: EventSource, after: StoreEventsOptions['after']): Resumption {
  if (query.totals === null) throw new UnspentError('UNSUPPORTED', 'events need the unspent set, and utxo.enabled is off');
  const start = after === undefined ? { row: query.headRow(), seen: ALL, lost: 0 } : resumeAfter(query, windows, dialect, after);
  if (start === null) throw expired('none of the blocks it names is on the chain any more');
  if (start.seen !== ALL)
    throw new UnspentError('USAGE', 'the position is inside a block; only those of whole blocks can be gone on from', { field: 'after' });
  checkKnown(query, start.row);
  return start;
}

function resumeAfter(
  query: Query,
  windows: Windows,
  dialect: Pick<Dialect, 'parseId'>,
  after: NonNullable<StoreEventsOptions['after']> | null,
): Resumption | null {
  if (after === null || after === 'origin') return { row: null, seen: ALL, lost: 0 };
  if (typeof after === 'string') return resume(parsePosition(after, query, dialect), query, windows);
  return resume({ seen: ALL, points: [after] }, query, windows);
}

/** Whether what came after that block can be told. */
function checkKnown(query: Query, row: ChainRow | null): void {
  try {
    query.knownBlock(row);
    // Before the first block nothing is unspent: that is always known, what the first block did is not.
    const first = row === null ? query.blockAfter(null) : null;
    if (first !== null) query.changes(first);
  } catch (error) {
    if (isUnspentError(error, 'PRUNED') || isUnspentError(error, 'POINT_UNKNOWN')) throw expired(error.message, error);
    throw error;
  }
}

function changesOf(query: Query, row: ChainRow): ReturnType<Query['changes']> {
  try {
    return query.changes(row);
  } catch (error) {
    if (isUnspentError(error, 'PRUNED')) throw expired(error.message, error);
    throw error;
  }
}

function expired(why: string, cause?: UnspentError): UnspentError {
  return new UnspentError('EXPIRED', `the events after that position cannot be told any more: ${why}`, cause?.meta, cause);
}
