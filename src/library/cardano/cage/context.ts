/**
 * Everything a program of the cage protocol works with, over one open store:
 * reads, speculative tries, waiting, and a node to ask and to send to.
 */
import { needCardano } from '../../../families/cardano.ts';
import { CAGE } from '../../../projections/cardano/cage/rows.ts';
import type { PointJson } from '../../../query/render.ts';
import { UnspentError } from '../../../util/errors.ts';
import { Store } from '../../store.ts';
import { CageIndexer } from './indexer.ts';
import { CageNode } from './node.ts';
import { type CageReading, type PinnedCages, readingNow } from './pinned.ts';
import { CageProvider } from './provider.ts';
import { CageStateReads } from './state.ts';
import { CageSubmitter } from './submitter.ts';
import { CageTrieReads } from './tries.ts';
import { CageTxBuilder } from './tx-builder.ts';

/** How a cage context is opened. */
export interface CageOptions {
  /** POSIX milliseconds, for the phases of requests. Default: the machine's clock. */
  readonly clock?: (() => number) | undefined;
  /** The local socket of a node, `n2c:PATH`, for protocol parameters and submission. It is not connected to before it is needed. */
  readonly node?: string | undefined;
}

/** The reads of a cage context, all of one block. Release it, or declare it with `using`: it holds a snapshot of the store. */
export class CageView implements Disposable {
  /** The block; null before the first one. */
  readonly checkpoint: PointJson | null;
  /** Tokens and requests. */
  readonly state: CageStateReads;
  /** Facts, proofs and sessions; a session of a view ends with it. */
  readonly trieManager: CageTrieReads;
  readonly #at: PinnedCages;
  #isReleased = false;

  /** @internal */
  constructor(at: PinnedCages, clock: () => number) {
    const pin = (): PinnedCages => {
      if (this.#isReleased) throw new UnspentError('CLOSED', 'the view was released');
      // The view releases what a session of it holds.
      return { ...at, release: () => undefined };
    };
    const reading: CageReading = { pin, read: (body) => body(pin()) };
    this.#at = at;
    this.checkpoint = at.checkpoint;
    this.state = new CageStateReads(reading, clock);
    this.trieManager = new CageTrieReads(reading);
  }

  /** Gives back what it holds. A released view answers nothing more (CLOSED); releasing it again does nothing. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#at.release();
  }

  /** The same as `release`, for `using`. */
  [Symbol.dispose](): void {
    this.release();
  }
}

/** The cages of a store. Each read is of the newest block; `view` gives reads that are all of one. */
export class CageContext implements AsyncDisposable {
  /** Tokens and requests. */
  readonly state: CageStateReads;
  /** Facts, proofs, and sessions that try operations. */
  readonly trieManager: CageTrieReads;
  /** How far the store is, and waiting for blocks and transactions. */
  readonly indexer: CageIndexer;
  /** Unspent outputs, and protocol parameters. */
  readonly provider: CageProvider;
  /** Hands signed transactions to the node. */
  readonly submitter: CageSubmitter;
  /** Transactions of the protocol, to be signed. */
  readonly txBuilder: CageTxBuilder;
  readonly #node: CageNode;
  readonly #reading: CageReading;
  readonly #clock: () => number;

  /** @internal */
  constructor(store: Store, { clock = Date.now, node }: CageOptions) {
    const opened = Store.openStoreOf(store);
    const reading = readingNow(opened);
    this.#node = new CageNode(opened, node);
    this.provider = new CageProvider(store, this.#node);
    this.submitter = new CageSubmitter(this.#node);
    const { parameters } = needCardano(opened.network, 'the cage protocol');
    this.txBuilder = new CageTxBuilder({ network: parameters, reading, provider: this.provider, clock });
    this.#reading = reading;
    this.#clock = clock;
    this.state = new CageStateReads(reading, clock);
    this.trieManager = new CageTrieReads(reading);
    this.indexer = new CageIndexer(store, reading);
  }

  /** Reads that are all of the block the store is at now. */
  view(): CageView {
    return new CageView(this.#reading.pin(), this.#clock);
  }

  /** Ends the connection to the node. The store stays open. */
  close(): Promise<void> {
    return this.#node.close();
  }

  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The cages of an open store, which must have been made with `cage.enabled`. Throws UNSUPPORTED when it keeps none, USAGE when `node` is no local socket. */
export function openCage(store: Store, options: CageOptions = {}): CageContext {
  if (!Store.openStoreOf(store).fold.projections.some(({ name }) => name === CAGE)) {
    throw new UnspentError(
      'UNSUPPORTED',
      'the store keeps no cages: make one with the setting cage.enabled and sync it from the first block',
    );
  }
  return new CageContext(store, options);
}
