/**
 * The events of a store for programs: blocks applied and undone, with what they
 * did, as documents. `events/store-events.ts` has how they are found.
 */
import type { EventForm, StoreEvents } from '../events/store-events.ts';
import type { Dialect } from '../query/dialect.ts';
import { type BlockJson, type PointJson, Renderer, renderPoint, type UtxoJson } from '../query/render.ts';

/** A transaction of a block that was applied or undone. */
export interface EventTxJson {
  /** Its id in hex, as people of the family write it. */
  readonly tx_hash: string;
  /** False: a Cardano transaction whose scripts failed, so that only its collateral was spent. */
  readonly valid: boolean;
}

/** A block was applied, or undone. */
export interface BlockEventJson {
  /** Which of the two. */
  readonly kind: 'applied' | 'undone';
  /** The block. */
  readonly block: BlockJson;
  /** Its transactions, in its order. */
  readonly txs: readonly EventTxJson[];
  /** Outputs it created, in its order; undone, they are gone. One that the block itself spends is among the spent ones, too. */
  readonly created: readonly UtxoJson[];
  /** Outputs it spent, in its order, each with the transaction that spent it; undone, they are unspent again. */
  readonly spent: readonly UtxoJson[];
  /** Where a program is that has taken this event in. Store it in the same transaction as the data, and pass it as `after`. */
  readonly position: string;
}

/**
 * Only ever the first event: blocks that the program had seen were rolled back while it was away, and what they did is
 * not stored any more. Drop everything that came from blocks above `to`; what those spent is unspent again. Blocks
 * follow from `to` on; some of them may be blocks that the program had.
 */
export interface RollbackEventJson {
  /** Tells it from the others. */
  readonly kind: 'rollback';
  /** The newest block that is still on the chain; null: the origin. */
  readonly to: PointJson | null;
  /** Where a program is that has taken this event in. */
  readonly position: string;
}

/** What happened to the chain. */
export type StoreEventJson = BlockEventJson | RollbackEventJson;

/** Where events begin and end. */
export interface EventsOptions {
  /**
   * Begin behind this: the `position` of the last event that was taken in, a block (its hash, or a point), or `origin`.
   * Default: the newest block there is, so that the first event is the next thing that happens.
   */
  readonly after?: string | Pick<PointJson, 'hash'> | undefined;
  /** Aborting it ends the events. */
  readonly signal?: AbortSignal | undefined;
}

/** Events as they happen. Leaving the loop ends them; until then they hold a snapshot of the store. */
export interface StoreEventStream extends AsyncIterableIterator<StoreEventJson, undefined, undefined>, AsyncDisposable {
  /** Where a program is that has taken in every event so far. */
  readonly position: string;
  /** True: there is no further event now, and `next` waits for one. */
  readonly isCurrent: boolean;
}

/** How events are rendered. */
export function eventForm(dialect: Dialect): EventForm<StoreEventJson> {
  return (event, query) => {
    const { position } = event;
    if (event.kind === 'rollback') return { kind: 'rollback', to: renderPoint(event.to, dialect), position };
    const renderer = new Renderer(query, dialect);
    return {
      kind: event.kind,
      block: renderer.block(event.block),
      txs: event.txs.map(({ id, valid }) => ({ tx_hash: dialect.formatId(id), valid })),
      created: event.created.map((utxo) => renderer.utxo(utxo)),
      spent: event.spent.map((utxo) => renderer.utxo(utxo)),
      position,
    };
  };
}

/** What a program holds is the stream itself, and nothing of the room behind it. */
export function streamOf(events: StoreEvents<StoreEventJson>): StoreEventStream {
  return {
    get position() {
      return events.position;
    },
    get isCurrent() {
      return events.isCurrent;
    },
    next: () => events.next(),
    return: () => events.return(),
    [Symbol.asyncDispose]: () => events[Symbol.asyncDispose](),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
