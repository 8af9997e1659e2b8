/**
 * Where wallets meet the chain: takes the events of a chain, one after the
 * other, into a wallet store. What an event does to the wallets and how far the
 * feed is are one database transaction, so that whoever crashes, and however
 * many processes feed one database, every block is taken in exactly once.
 *
 * Events come from a store in this process (store-feed.ts) or from a server on
 * another machine (http-feed.ts); the feed does not know.
 */
import { followFeed } from '../../events/follow-feed.ts';
import { outpointText } from '../../ledgers/outpoint.ts';
import { toHex } from '../../util/bytes.ts';
import { type ErrorCode, isUnspentError, UnspentError } from '../../util/errors.ts';
import { WALLET_EVENTS_TRIM_BLOCKS, WALLET_EVENTS_TRIM_MAX } from '../../util/limits.ts';
import type { WalletBlock, WalletId, WalletTx } from '../records.ts';
import type { FeedPosition, NewTx, TouchedWallets, WalletStore } from '../store.ts';
import { rescanHeight } from './rescan-marker.ts';

/** What a chain tells the wallets. */
export type FeedEvent =
  | { readonly kind: 'connected'; readonly block: WalletBlock; readonly txs: readonly WalletTx[]; readonly position: string }
  | { readonly kind: 'disconnected'; readonly block: WalletBlock; readonly position: string }
  /** Blocks above `to` are gone; null: all of them. */
  | { readonly kind: 'rollback'; readonly to: Pick<WalletBlock, 'height' | 'hash'> | null; readonly position: string };

/** Where the events of a chain come from. */
export interface FeedSource {
  /** The newest block, null before the first, and the position right behind it. */
  newest(signal: AbortSignal): Promise<FeedStart>;
  /** What happens after a position, until the signal comes. */
  events(after: string, signal: AbortSignal): AsyncIterable<FeedEvent>;
}

export interface FeedStart {
  readonly block: WalletBlock | null;
  readonly position: string;
}

export interface WalletFeedOptions {
  /** One name for one chain: processes that feed from the same chain say the same. */
  readonly feed: string;
  /** Milliseconds since 1970: when a transaction was first seen. */
  readonly now: () => number;
  /** Called when the wallets have another block, or one less, by this process or by another. */
  readonly onMove?: (() => Promise<void>) | undefined;
  /**
   * Called before it is looked which wallets a block or the mempool touches, and again if what is watched has changed since. Answers the
   * version of what is watched for which everything is ready (wallet-scanner.ts). Default: nothing is to be done.
   */
  readonly prepare?: PrepareBlock | undefined;
  /** Told how many seconds the database took for a block that came or went. */
  readonly onTook?: ((seconds: number) => void) | undefined;
  /** Events of the database that are kept; older ones are forgotten now and then. Default, and 0: all are kept. */
  readonly eventsMax?: number | undefined;
  /** Scripts besides an output's own whose addresses own the output, too. Default: there are none. */
  readonly otherOwners?: OtherOwners | undefined;
}

/** What became of transactions of the mempool: those that touch no wallet are in neither list. */
export interface MempoolOutcome {
  readonly taken: readonly WalletTx[];
  /**
   * A wallet has something in a block that spends the same, or takes a parent for dead: what it knows of the chain is
   * older than the mempool. Or it has replaced this one by another, which the mempool has not lost: what was told of the
   * mempool is older than the wallet. To be told again after the next block, or when the mempool has lost something.
   */
  readonly refused: readonly WalletTx[];
}

export type PrepareBlock = (txs: readonly WalletTx[]) => Promise<number>;

export type OtherOwners = (script: Uint8Array) => readonly Uint8Array[];

/** The wallet knows of the chain what the mempool does not, or the other way round. */
const LATER: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['INPUT_CONFLICT', 'PARENT_DEAD', 'CHAIN_INCONSISTENT']);

export class WalletFeed {
  readonly #store: WalletStore;
  readonly #feed: string;
  readonly #now: () => number;
  readonly #onMove: () => Promise<void>;
  readonly #prepare: PrepareBlock | undefined;
  readonly #otherOwners: OtherOwners;
  readonly #eventsMax: number;
  readonly #onTook: (seconds: number) => void;
  #lastMark = 0;
  /** Until it is looked again for events to forget. */
  #movesLeft = 0;

  constructor(
    store: WalletStore,
    { feed, now, onMove, prepare, onTook = () => {}, eventsMax = 0, otherOwners = () => [] }: WalletFeedOptions,
  ) {
    this.#store = store;
    this.#feed = feed;
    this.#now = now;
    this.#onMove = onMove ?? (async () => {});
    this.#prepare = prepare;
    this.#eventsMax = eventsMax;
    this.#onTook = onTook;
    this.#otherOwners = otherOwners;
  }

  /**
   * Takes in events until the signal comes or the source ends. A database that was never fed begins behind the newest
   * block. Throws what the source throws: EXPIRED when it cannot tell any more what happened after the position in the
   * database, as nobody can while the wallets are scanned anew.
   */
  async follow(source: FeedSource, signal: AbortSignal): Promise<void> {
    await followFeed(
      {
        position: () => this.#position(),
        begin: async () => this.#begin(await source.newest(signal)),
        events: (after) => source.events(after, signal),
        take: (event, after) => this.#timed(event, after),
        onMove: async () => {
          await this.#onMove();
          await this.#trimEvents();
        },
      },
      signal,
    );
  }

  async #timed(event: FeedEvent, after: string): Promise<void> {
    const begun = performance.now();
    await this.take(event, after);
    this.#onTook((performance.now() - begun) / 1000);
  }

  async #position(): Promise<string | null> {
    const position = await this.#store.feedPosition(this.#feed);
    const from = rescanHeight(position);
    if (from === null) return position;
    throw new UnspentError('EXPIRED', `the wallets are being scanned from height ${from} on, or that was cut off: rescan them to the end`, {
      from,
    });
  }

  /** One event, if the feed is at `after`. Throws FEED_MOVED. */
  async take(event: FeedEvent, after: string): Promise<void> {
    const feed: FeedPosition = { feed: this.#feed, after, position: event.position };
    if (event.kind === 'connected') await this.#connect(event.block, event.txs, feed);
    else if (event.kind === 'disconnected') await this.#store.rollbackToBlock(event.block.height, feed);
    else await this.#store.rollbackToBlock((event.to?.height ?? -1) + 1, feed);
  }

  /**
   * The node's mempool has these now. One that spends what a live unmined transaction of the wallet spends has replaced
   * it; one that the wallet took for dead lives again, unless the wallet has something in its place that is not evicted.
   */
  async seeInMempool(txs: readonly WalletTx[]): Promise<MempoolOutcome> {
    // It may pay an address that nobody was given yet.
    await this.#prepare?.(txs);
    const now = this.#nextMark();
    const [taken, refused] = [new Set<WalletTx>(), new Set<WalletTx>()];
    for (const news of this.#newTxs(txs, await this.#touched(txs), now)) {
      taken.add(news.tx);
      try {
        await this.#store.createTx({ ...news, replace: true, reactivate: true });
      } catch (error) {
        if (!isUnspentError(error) || !LATER.has(error.code)) throw error;
        refused.add(news.tx);
        continue;
      }
      await this.#store.markMempool(news.walletId, news.tx.id, true, now);
    }
    return { taken: [...taken].filter((tx) => !refused.has(tx)), refused: [...refused] };
  }

  /** The node's mempool has these no more. What is in no block either is told to be evicted, and keeps its coins. */
  async loseFromMempool(txIds: readonly Uint8Array[]): Promise<void> {
    const gone = new Set(txIds.map((id) => toHex(id)));
    await this.evictWhere((txId) => gone.has(toHex(txId)));
  }

  /** Those of the wallets' unmined transactions that the mempool does not have are told to be evicted. */
  async evictWhere(isGone: (txId: Uint8Array) => boolean): Promise<void> {
    // What is pending is not among them: it was not handed to a node yet.
    for (const { walletId, txId } of await this.#store.listInMempool())
      if (isGone(txId)) await this.#store.markMempool(walletId, txId, false, this.#nextMark());
  }

  /** Later than the last one: of what is told of a transaction in the same millisecond, the last counts. */
  #nextMark(): number {
    this.#lastMark = Math.max(this.#now(), this.#lastMark + 1);
    return this.#lastMark;
  }

  /** A part of them at a time, block after block, until none are left to forget. */
  async #trimEvents(): Promise<void> {
    if (this.#eventsMax === 0 || this.#movesLeft-- > 0) return;
    const count = await this.#store.trimEvents(this.#eventsMax);
    this.#movesLeft = count < WALLET_EVENTS_TRIM_MAX ? WALLET_EVENTS_TRIM_BLOCKS : 0;
  }

  async #begin({ block, position }: FeedStart): Promise<string> {
    const feed = { feed: this.#feed, after: null, position };
    if (block === null) await this.#store.rollbackToBlock(0, feed);
    else await this.#store.connectBlock({ block, txs: [], feed });
    return position;
  }

  /**
   * Which wallets the block touches is looked up before the transaction that connects it. If a wallet or an address was
   * added between the two, by whichever process, the store refuses the block, and it is looked up again.
   */
  async #connect(block: WalletBlock, txs: readonly WalletTx[], feed: FeedPosition): Promise<void> {
    for (;;) {
      const prepared = await this.#prepare?.(txs);
      const touched = await this.#touched(txs);
      const { watchVersion } = touched;
      if (prepared !== undefined && prepared !== watchVersion) continue;
      try {
        const news = this.#newTxs(txs, touched, this.#now(), block);
        return await this.#store.connectBlock({ block, txs: news, watchVersion, feed });
      } catch (error) {
        if (!isUnspentError(error, 'WATCH_CHANGED')) throw error;
      }
    }
  }

  #touched(txs: readonly WalletTx[]): Promise<TouchedWallets> {
    return this.#store.findTouched(
      txs.flatMap(({ outputs }) => outputs.flatMap(({ script }) => [script, ...this.#otherOwners(script)])),
      txs.flatMap(({ inputs }) => inputs),
    );
  }

  /**
   * The transactions as each wallet that they touch is told of them. A transaction that spends an output which an earlier
   * one of them pays to a wallet touches that wallet, too.
   */
  #newTxs(txs: readonly WalletTx[], { owners, spenders }: TouchedWallets, received: number, block?: WalletBlock): NewTx[] {
    const paid = new Map<string, readonly WalletId[]>();
    const found: NewTx[] = [];
    for (const tx of txs) {
      const credits = new Map<WalletId, Map<number, Uint8Array | null>>();
      const creditsOf = (walletId: WalletId): Map<number, Uint8Array | null> => {
        const known = credits.get(walletId) ?? new Map<number, Uint8Array | null>();
        credits.set(walletId, known);
        return known;
      };
      for (const input of tx.inputs) {
        const text = outpointText(input);
        for (const walletId of [...(spenders.get(text) ?? []), ...(paid.get(text) ?? [])]) creditsOf(walletId);
      }
      for (const [index, { script }] of tx.outputs.entries()) {
        const ids = this.#ownersOf(script, owners);
        for (const [walletId, owner] of ids) creditsOf(walletId).set(index, owner);
        if (ids.size > 0) paid.set(outpointText({ txId: tx.id, index }), [...ids.keys()]);
      }
      for (const [walletId, own] of credits) found.push({ walletId, tx, received, status: 'published', block, credits: own });
    }
    return found;
  }

  /** The wallets that own an output, with the script by which each does; null: the output's own. */
  #ownersOf(script: Uint8Array, owners: TouchedWallets['owners']): ReadonlyMap<WalletId, Uint8Array | null> {
    const found = new Map<WalletId, Uint8Array | null>();
    for (const other of this.#otherOwners(script)) for (const walletId of owners.get(toHex(other)) ?? []) found.set(walletId, other);
    for (const walletId of owners.get(toHex(script)) ?? []) found.set(walletId, null);
    return found;
  }
}
