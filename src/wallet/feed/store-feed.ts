/**
 * The events of a store in this process, in the form that wallets take them in.
 * What a block's transactions are is the family's to say.
 */
import type { BlockEvent, EventForm, StoreEvent, StoreEvents, StoreEventsOptions } from '../../events/store-events.ts';
import type { ChainRow } from '../../projections/chain.ts';
import type { Clock } from '../../query/dialect.ts';
import type { Query } from '../../query/query.ts';
import type { WalletBlock, WalletTx } from '../records.ts';
import type { FeedEvent, FeedSource } from './wallet-feed.ts';

/** The transactions of a block, in its order: from what the event says of it, or from a snapshot in which it is on the chain. */
export type BlockTxs = (event: BlockEvent, query: Query) => readonly WalletTx[];

/** What a feed asks of an open store. */
export interface FollowedStore {
  read<T>(body: (query: Query) => T): T;
  eventsAs<E>(options: StoreEventsOptions, form: EventForm<E>): StoreEvents<E>;
}

export interface StoreFeedOptions {
  /** The events end with the newest block there is, instead of waiting for the next. Default false. */
  readonly ends?: boolean | undefined;
}

export function storeFeed(store: FollowedStore, txsOf: BlockTxs, clock: Clock, { ends = false }: StoreFeedOptions = {}): FeedSource {
  const form = feedForm(txsOf, clock);
  return {
    async newest() {
      const row = store.read((query) => query.headRow());
      await using events = store.eventsAs({ after: row }, form);
      return { block: row && walletBlock(row, clock), position: events.position };
    },
    events(after, signal) {
      const events = store.eventsAs({ after, signal }, form);
      return ends ? upToNow(events) : events;
    },
  };
}

async function* upToNow<E>(events: StoreEvents<E>): AsyncGenerator<E, void, undefined> {
  await using reader = events;
  while (!reader.isCurrent) {
    const { done, value } = await reader.next();
    if (done === true) return;
    yield value;
  }
}

function feedForm(txsOf: BlockTxs, clock: Clock): EventForm<FeedEvent> {
  return (event: StoreEvent, query: Query): FeedEvent => {
    const { kind, position } = event;
    if (kind === 'rollback') return { kind, to: event.to && walletBlock(event.to, clock), position };
    const block = walletBlock(event.block, clock);
    if (kind === 'undone') return { kind: 'disconnected', block, position };
    return { kind: 'connected', block, txs: txsOf(event, query), position };
  };
}

/** A block of the chain as wallets know it. */
export function walletBlock(row: ChainRow, clock: Clock): WalletBlock {
  return { height: row.height, hash: row.hash, timestamp: clock.time(row.slot, row) ?? 0 };
}
