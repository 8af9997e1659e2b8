/**
 * The blocks of a store on their way to records of transactions in a database of
 * their own: read as events, taken in with the sync point in one transaction
 * (`FedRecords`). Far behind, several blocks are one transaction; the fold waits
 * when it is too far ahead, because it forgets what old blocks did.
 *
 * Blocks may be undone while nobody feeds. Events then say only a block that both
 * sides had for certain, which may lie below the window of the records; so the
 * newest common block is looked for in the records themselves.
 */
import { type FeedTaker, followFeed } from '../events/follow-feed.ts';
import { parsePosition, positionHeight, type Resumption, resume } from '../events/position.ts';
import type { StoreEvent, StoreEvents } from '../events/store-events.ts';
import type { ChainRow } from '../projections/chain.ts';
import { isOnChain } from '../query/chain-difference.ts';
import type { Query } from '../query/query.ts';
import type { FedRecords } from '../txstore/chain/chain-records.ts';
import { type ChainBlock, chainBlockOf } from '../txstore/chain/chain-txs.ts';
import type { TxRecord } from '../txstore/records.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { RECONNECT_MS_MAX, RECONNECT_MS_MIN, TXS_FEED_BLOCKS, TXS_FEED_TXS } from '../util/limits.ts';
import { pause } from '../util/pause.ts';
import { findFedRecord } from './fed-record.ts';
import type { OpenStore } from './store.ts';

/** What the records take in at once. */
type FeedStep =
  | { readonly kind: 'connected'; readonly blocks: readonly ChainBlock[]; readonly position: string }
  | { readonly kind: 'disconnected'; readonly height: number; readonly position: string }
  /** Where the feed was is not on the chain any more. */
  | { readonly kind: 'turned'; readonly position: string };

type FedStore = Pick<OpenStore, 'read' | 'eventsAs' | 'fold' | 'network'>;

export class TxsFeed {
  readonly #store: FedStore;
  readonly #records: FedRecords;
  readonly #mweb: boolean;
  readonly #listeners = new Set<() => void>();
  #position: string | null = null;
  #failure: UnspentError | null = null;

  /** `mweb`: of Litecoin. */
  constructor(store: FedStore, records: FedRecords, mweb: boolean) {
    this.#store = store;
    this.#records = records;
    this.#mweb = mweb;
  }

  /** The block that the records are at; -1: they are at none. */
  get height(): number {
    return this.#position === null ? -1 : positionHeight(this.#position);
  }

  /** Why the database does not answer; null: it does. */
  get failure(): UnspentError | null {
    return this.#failure;
  }

  /** Whether the block that the records are at is on the chain. */
  get isOnChain(): boolean {
    return this.#position === null || this.#resumption(this.#position)?.lost === 0;
  }

  /** Blocks that the fold may be ahead, and that it commits at once. */
  get blocksAheadMax(): number {
    return Math.max(1, Math.floor(this.#store.fold.options.pruneDepth / 4));
  }

  /** Called when the records are at another block. Returns what ends it. */
  onMove(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Where the database is. */
  async look(): Promise<void> {
    this.#position = await this.#records.syncPosition();
  }

  /** One record. Throws PRUNED, NOT_FOUND, NOT_YET. */
  find(txId: Uint8Array): Promise<TxRecord> {
    const { network, fold } = this.#store;
    const read = <T>(body: (query: Query) => T): T => this.#store.read(body);
    return findFedRecord({ records: this.#records, dialect: network.dialect, windows: fold.options, read }, txId);
  }

  /**
   * Until the signal comes. A database that does not answer is asked again for as long as it takes. Throws EXPIRED where the
   * store cannot tell any more what happened since, and what a block that does not fit the records throws.
   */
  async run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        await followFeed(
          this.#taker((after) => this.#events(after, signal)),
          signal,
        );
        return;
      } catch (error) {
        if (!isUnspentError(error, 'DATABASE_BUSY')) throw error;
        if (this.#failure === null) failures = 0;
        this.#failure = error;
        await pause(Math.min(RECONNECT_MS_MAX, RECONNECT_MS_MIN * 2 ** Math.min(failures, 30)), { signal });
      }
    }
  }

  /** Up to the newest block there is now. */
  async catchUp(): Promise<void> {
    const { signal } = new AbortController();
    await followFeed(
      this.#taker((after) => this.#events(after, signal, true)),
      signal,
    );
  }

  /** Resolves when the records are at most so many blocks behind the store, or the signal comes. */
  async within(blocks: number, signal: AbortSignal): Promise<void> {
    const isWithin = (): boolean => (this.#store.fold.head?.height ?? -1) - this.height <= blocks && (blocks > 0 || this.isOnChain);
    while (!signal.aborted && !isWithin()) await this.#nextMove(signal);
  }

  #nextMove(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        stop();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const stop = this.onMove(end);
      signal.addEventListener('abort', end);
    });
  }

  #taker(events: (after: string) => AsyncIterable<FeedStep>): FeedTaker<FeedStep> {
    return {
      position: () => this.#placeOnChain(),
      begin: () => this.#begin(),
      events,
      take: (step, after) => this.#take(step, after),
      onMove: async () => {},
    };
  }

  async #take(step: FeedStep, after: string): Promise<void> {
    const { position } = step;
    if (step.kind === 'connected') await this.#records.connect(step.blocks, { after, position });
    else if (step.kind === 'disconnected') await this.#records.disconnect(step.height - 1, { after, position });
    else throw new UnspentError('FEED_MOVED', 'the chain has turned since the position was read');
    this.#movedTo(position);
  }

  #movedTo(position: string): void {
    this.#position = position;
    this.#failure = null;
    for (const listener of [...this.#listeners]) listener();
  }

  async #begin(): Promise<string> {
    const position = await this.#positionAt(null);
    await this.#records.connect([], { after: null, position });
    this.#movedTo(position);
    return position;
  }

  /** The stored position; if its block was undone while nobody fed, the records are taken back first. Throws EXPIRED. */
  async #placeOnChain(): Promise<string | null> {
    const stored = await this.#records.syncPosition();
    if (stored === null) return null;
    const found = this.#resumption(stored);
    if (found === null) throw expired('none of the blocks that they know of is on the chain');
    if (found.lost === 0) {
      if (stored !== this.#position) this.#movedTo(stored);
      return stored;
    }
    const row = await this.#newestCommon(found.row);
    const position = await this.#positionAt(row);
    await this.#records.disconnect(row?.height ?? -1, { after: stored, position });
    this.#movedTo(position);
    return position;
  }

  /** At or above `row`, which is on both. */
  async #newestCommon(row: ChainRow | null): Promise<ChainRow | null> {
    const blocks = await this.#records.blocksAbove(row?.height ?? -1);
    return this.#store.read((query) => {
      const common = blocks.find((block) => isOnChain(query, block));
      return common === undefined ? row : query.blockByHash(common.hash);
    });
  }

  async #positionAt(row: ChainRow | null): Promise<string> {
    await using events = this.#store.eventsAs({ after: row }, () => null);
    return events.position;
  }

  #resumption(position: string): Resumption | null {
    const { network, fold } = this.#store;
    return this.#store.read((query) => resume(parsePosition(position, query, network.dialect), query, fold.options));
  }

  /** `ends`: with the newest block there is, instead of waiting for the next. Throws EXPIRED. */
  async *#events(after: string, signal: AbortSignal, ends = false): AsyncGenerator<FeedStep, void, undefined> {
    try {
      yield* this.#steps(after, signal, ends);
    } catch (error) {
      // PRUNED: the bytes of a block went from the history with records of another database (`txs.boundHistory`).
      throw isUnspentError(error, 'EXPIRED') || isUnspentError(error, 'PRUNED') ? expired(error.message, error) : error;
    }
  }

  async *#steps(after: string, signal: AbortSignal, ends: boolean): AsyncGenerator<FeedStep, void, undefined> {
    await using events = this.#store.eventsAs({ after, signal }, (event, query) => this.#stepOf(event, query));
    let waiting: FeedStep | null = null;
    while (waiting !== null || !(ends && events.isCurrent)) {
      const step: FeedStep | null = waiting ?? (await nextStep(events));
      waiting = null;
      if (step === null) return;
      const blocks: ChainBlock[] = step.kind === 'connected' ? [...step.blocks] : [];
      let { position } = step;
      while (step.kind === 'connected' && waiting === null && hasRoom(blocks) && !events.isCurrent) {
        const next: FeedStep | null = await nextStep(events);
        if (next?.kind !== 'connected') {
          waiting = next;
          break;
        }
        blocks.push(...next.blocks);
        position = next.position;
      }
      yield step.kind === 'connected' ? { kind: 'connected', blocks, position } : step;
    }
  }

  #stepOf(event: StoreEvent, query: Query): FeedStep {
    const { kind, position } = event;
    if (kind === 'rollback') return { kind: 'turned', position };
    const { block, spent } = event;
    if (kind === 'undone') return { kind: 'disconnected', height: block.height, position };
    // The output of the first block of all was never in the set, and nothing can spend it.
    if (block.height === 0) return { kind: 'connected', blocks: [], position };
    const raws = query
      .history()
      .txs(block.height)
      .map(({ raw }) => raw);
    return { kind: 'connected', blocks: [chainBlockOf(block, raws, spent, this.#mweb)], position };
  }
}

function expired(why: string, cause?: UnspentError): UnspentError {
  const text = `the store cannot feed the records of transactions in the database: ${why}; only a new store can, from its first block on`;
  return new UnspentError('EXPIRED', text, cause?.meta, cause);
}

/** Null: the events have ended. */
async function nextStep(events: StoreEvents<FeedStep>): Promise<FeedStep | null> {
  const { done, value } = await events.next();
  return done === true ? null : value;
}

function hasRoom(blocks: readonly ChainBlock[]): boolean {
  return blocks.length < TXS_FEED_BLOCKS && blocks.reduce((sum, { txs }) => sum + txs.length, 0) < TXS_FEED_TXS;
}
