/**
 * The transactions of a store (`txs.store`): their records, the prune passes
 * beside following, and what an operator asks of both. The records themselves
 * change in the batches of the fold (`txstore/chain/projection.ts`), or in a
 * database that is fed with its blocks (txs-feed.ts).
 */
import type { MempoolChange } from '../ledgers/mempool-change.ts';
import { TXS_SWITCH } from '../projections/txs-switch.ts';
import type { FoldWatcher } from '../state/fold.ts';
import type { ChainRecords, FedRecords } from '../txstore/chain/chain-records.ts';
import type { ChainTxStore } from '../txstore/chain/chain-store.ts';
import { type ChainTx, relayedTx } from '../txstore/chain/chain-txs.ts';
import { findRecord } from '../txstore/chain/document.ts';
import { backlogText, blockedTx, durationReports, errorText, missingText, passReport, type TxsReport } from '../txstore/chain/report.ts';
import { type RebuiltIndexes, rebuildIndexes } from '../txstore/embedded/indexes.ts';
import type { TxBlobs } from '../txstore/prune/blobs.ts';
import { BlockedParents } from '../txstore/prune/blocked.ts';
import type { KeptParent } from '../txstore/prune/chunk.ts';
import { PruneCounters } from '../txstore/prune/counters.ts';
import { type PassResult, runPass } from '../txstore/prune/pass.ts';
import { type PassOutcome, Pruner } from '../txstore/prune/pruner.ts';
import { type PassSettings, PRUNE_DEFAULTS } from '../txstore/prune/settings.ts';
import type { TxRecord } from '../txstore/records.ts';
import { allowedHeight, type ChainConditions } from '../txstore/rules/gates.ts';
import { toHex } from '../util/bytes.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import {
  PRUNE_BLOCKED_MAX,
  PRUNE_CHUNK_PARENTS,
  READY_BLOCKS_BEHIND_MAX,
  TXS_BLOCKED_SHOWN_MAX,
  TXS_CHUNK_PARENTS,
  TXS_DATABASE_CHUNKS,
} from '../util/limits.ts';
import { runBoth } from '../util/run-both.ts';
import { switchText } from '../util/setting.ts';
import type { OpenStore } from './store.ts';
import type { TxsFeed } from './txs-feed.ts';

/** What the records ask of their store. */
export type RecordsOwner = Pick<OpenStore, 'fold' | 'config' | 'following' | 'consumers' | 'network'>;

/** Where the records rest, and for a database how blocks come to it. */
export type TxsPlace = { readonly kind: 'embedded'; readonly records: ChainTxStore } | FedPlace;

interface FedPlace {
  readonly kind: 'sqlite' | 'postgres';
  readonly records: FedRecords;
  readonly feed: TxsFeed;
  /** Bytes that go with records, and are with the chain. */
  readonly blobs: TxBlobs | undefined;
}

/** How many candidates of a pass are decided on together, and how many such chunks at the same time. SQLite has one writer. */
const CHUNKS: Readonly<Record<TxsPlace['kind'], Pick<PassSettings, 'chunkParents' | 'parallelChunks'>>> = {
  embedded: { chunkParents: TXS_CHUNK_PARENTS, parallelChunks: 1 },
  sqlite: { chunkParents: PRUNE_CHUNK_PARENTS / 2, parallelChunks: 1 },
  postgres: { chunkParents: PRUNE_CHUNK_PARENTS, parallelChunks: TXS_DATABASE_CHUNKS },
};

export class StoreTxs implements FoldWatcher {
  readonly place: TxsPlace;
  readonly pruner: Pruner;
  readonly #store: RecordsOwner;
  /** Null: the records are in the engine of the chain, and change with it. */
  readonly #feed: TxsFeed | null;
  /** Ids of what the mempool has, in hex; null: it was not heard of, or is told anew. */
  #mempool: Set<string> | null = null;
  #wake: () => void = () => {};
  #report: TxsReport | null = null;
  readonly #listeners = new Set<(line: string) => void>();

  constructor(store: RecordsOwner, place: TxsPlace) {
    this.#store = store;
    this.place = place;
    this.#feed = place.kind === 'embedded' ? null : place.feed;
    if (this.#feed !== null) store.consumers.add('records', () => this.#height);
    this.pruner = new Pruner({
      store: this.records,
      settings: this.#passSettings(store.config.txs.dryRun),
      conditions: async () => this.conditions(),
      persistedHeights: async () => store.consumers.list().map(({ height }) => height),
      blobs: place.kind === 'embedded' ? undefined : place.blobs,
      onBacklog: (report) => this.#tell(backlogText(report)),
      onMissing: (pairs) => this.#tell(missingText(pairs, store.network.dialect.formatId)),
    });
  }

  get records(): ChainRecords {
    return this.place.records;
  }

  /** Whoever is told what an operator should hear of, in one line. Returns what ends it. */
  onRemark(listener: (line: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(line: string): void {
    for (const listener of this.#listeners) listener(line);
  }

  /** As of the last pass, or of the opening, and as it is now where nobody has to be asked; null: nobody has asked yet. */
  get report(): TxsReport | null {
    if (this.#report === null) return null;
    const gauges = { ...this.#report.gauges, ...this.pruner.current };
    return { ...this.#report, ...this.#now(), gauges };
  }

  /** What is known without asking the records. */
  #now(): Pick<TxsReport, 'height' | 'feedFailure' | 'consumers' | 'state'> {
    const { retention } = this.records.settings;
    const consumers = this.#store.consumers.list();
    return {
      height: this.#height,
      state: this.pruner.backlogState,
      feedFailure: this.#feed?.failure?.message ?? null,
      consumers: consumers.map(({ name, height }) => ({ name, height, allows: height === 0 ? null : height + retention })),
    };
  }

  /**
   * In the engine of the chain one chunk is one turn of the event loop, in which no block is applied: it is kept short, and
   * no two go together. A database works on its own time, and a statement costs it a round trip whatever it is about.
   */
  #passSettings(dryRun: boolean): PassSettings {
    const { minHeight: heightMin, skipCatchUp } = this.#store.config.txs;
    return { ...PRUNE_DEFAULTS, dryRun, heightMin, skipCatchUp, ...CHUNKS[this.place.kind] };
  }

  /** Of the block that the records are at. */
  get #height(): number {
    return Math.max(0, this.#feed?.height ?? this.#store.fold.head?.height ?? 0);
  }

  /** What the gates of a pass ask. Blocks are applied completely or not at all. */
  conditions(): ChainConditions {
    const { following, fold } = this.#store;
    const tip = following?.progress?.tip?.height;
    return {
      isIndexReady: true,
      // In the engine of the chain one rollback is one turn, and until its blocks are replaced the height is one that is
      // `completed`. A database has blocks that are undone until it is told.
      isReorganising: this.#feed !== null && !this.#feed.isOnChain,
      isResetting: false,
      isCatchingUp:
        following !== null && (following.progress === null || (tip !== undefined && tip - this.#height > READY_BLOCKS_BEHIND_MAX)),
      tipHeight: fold.head?.height ?? 0,
      appliedHeight: this.#height,
    };
  }

  /** Feeds the database, where there is one, and runs passes while blocks come, until the signal does. */
  async run(signal: AbortSignal): Promise<void> {
    const feed = this.#feed;
    if (feed === null) await this.#runPasses(signal);
    else
      await runBoth(
        signal,
        (stop) => feed.run(stop),
        (stop) => this.#runPasses(stop),
      );
  }

  /**
   * Each pass is a number of short turns; blocks and readers get theirs in between. Every new height is asked for at once,
   * so that it is known how far a long pass is behind; of those that wait the newest runs next.
   */
  async #runPasses(signal: AbortSignal): Promise<void> {
    const { fold } = this.#store;
    const { promise: failed, reject: fail } = Promise.withResolvers<never>();
    failed.catch(() => {});
    const passes = new Set<Promise<void>>();
    fold.watchers.add(this);
    const stopListening = this.#feed?.onMove(() => this.#wake());
    const stop = (): void => this.#wake();
    signal.addEventListener('abort', stop);
    try {
      for (let asked = 0; !signal.aborted; ) {
        const height = this.#height;
        if (height > 0 && height !== asked) {
          await this.#unlessBusy(() => this.#giveUp());
          const pass: Promise<void> = this.#passAndLook(height)
            .catch(fail)
            .finally(() => passes.delete(pass));
          passes.add(pass);
        }
        asked = height;
        if (!signal.aborted && this.#height === asked) await Promise.race([this.#nextBlock(), failed]);
      }
    } finally {
      signal.removeEventListener('abort', stop);
      stopListening?.();
      fold.watchers.delete(this);
      await Promise.all(passes);
    }
    // A pass that failed while the loop ended has rejected it, and nothing waits for that any more.
    await Promise.race([failed, Promise.resolve()]);
  }

  #nextBlock(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }

  /** While the chain catches up nothing is deleted, and what is due grows: nobody counts it then. */
  async #passAndLook(height: number): Promise<void> {
    await this.#unlessBusy(async () => {
      const { end, reason, error } = await this.pruner.prune(height);
      if (end === 'aborted') this.#tell(`pruning: the pass at height ${height} was aborted: ${errorText(error)}`);
      if (end === 'cancelled' || (reason === 'catch_up' && this.#report !== null)) return;
      await this.refresh();
    });
  }

  /** A database that does not answer is the affair of the feed; the next pass comes with the next block. */
  async #unlessBusy(body: () => Promise<void>): Promise<void> {
    try {
      await body();
    } catch (error) {
      if (this.#feed === null || !isUnspentError(error, 'DATABASE_BUSY')) throw error;
    }
  }

  applied(): void {
    this.#wake();
  }

  /** Blocks that the fold commits at once: a database must be able to follow. */
  groupBlocks(wanted: number): number {
    return Math.min(wanted, this.#feed?.blocksAheadMax ?? wanted);
  }

  /** Resolves when the records are near enough to the store for more blocks to come, or the signal comes. */
  async room(signal: AbortSignal): Promise<void> {
    await this.#feed?.within(this.#feed.blocksAheadMax, signal);
  }

  /** Resolves when the records are at the block of the store, or the signal comes. Somebody else feeds them (`run`). */
  async reached(signal: AbortSignal): Promise<void> {
    await this.#feed?.within(0, signal);
  }

  /** Feeds the records up to the block of the store. */
  async catchUp(): Promise<void> {
    await this.#feed?.catchUp();
  }

  /** One pass at the height of the store. */
  async pass(): Promise<PassOutcome> {
    await this.#giveUp();
    return this.pruner.prune(this.#height);
  }

  /**
   * What a pass would do now, whatever the gates say but as far as consumers let it. Changes nothing. `kept`: those that
   * are due longest, a bounded number.
   */
  async look(): Promise<TxsLook> {
    const { settings } = this.records;
    const height = this.#height;
    const persisted = this.#store.consumers.list().map((consumer) => consumer.height);
    const heights = { requested: height, allowed: allowedHeight(height, persisted, settings.retention), window: settings.window };
    const context = { store: this.records, heights, counters: new PruneCounters(), now: () => performance.now() };
    const blocked = new BlockedParents();
    blocked.begin(false);
    // What is due longest comes first, so that the bound cuts off the others.
    const pass = await runPass({ ...context, settings: this.#passSettings(true) }, { onDecided: (result) => blocked.add(result) });
    return { ...pass, height, blocked: blocked.list(PRUNE_BLOCKED_MAX) };
  }

  async #giveUp(): Promise<void> {
    const cutoff = this.#height - this.#store.config.txs.unminedBlocks;
    if (cutoff <= 0 || this.conditions().isCatchingUp) return;
    const known = this.#mempool;
    await this.records.giveUp(cutoff, (txId) => known?.has(toHex(txId)) === true, this.#height);
  }

  /** What the mempool of the node that is followed does. `mweb`: of Litecoin. */
  async take(change: MempoolChange, mweb: boolean): Promise<void> {
    if (change.kind === 'reset') this.#mempool = null;
    else if (change.kind === 'remove') for (const id of change.ids) this.#mempool?.delete(toHex(id));
    else {
      const txs = change.txs.flatMap((raw) => readable(raw, mweb));
      this.#mempool ??= new Set();
      for (const { tx } of txs) this.#mempool.add(toHex(tx.txId));
      await this.#receive(txs);
    }
  }

  /** A database that does not answer has no record of them until a block does: their parents, which are unspent then, stay. */
  async #receive(txs: readonly ChainTx[]): Promise<void> {
    try {
      await this.records.receive(txs, this.#height);
    } catch (error) {
      if (this.#feed === null || !isUnspentError(error, 'DATABASE_BUSY')) throw error;
    }
  }

  /** Looks anew. */
  async refresh(): Promise<TxsReport> {
    const { pruner, records } = this;
    const { formatId } = this.#store.network.dialect;
    const [progress, gauges] = [await records.pruneProgress(), await pruner.gauges()];
    const last = pruner.history.at(-1);
    this.#report = {
      ...records.settings,
      place: this.place.kind,
      ...this.#now(),
      completed: progress.lastCompleted,
      prunedHeight: progress.prunedHeight,
      gauges,
      counters: Object.fromEntries(pruner.counters.counts()),
      durations: durationReports(pruner),
      lastPass: last === undefined ? null : passReport(last),
      blocked: pruner.blocked(TXS_BLOCKED_SHOWN_MAX).map((kept) => blockedTx(kept, formatId)),
    };
    return this.#report;
  }

  /** Throws PRUNED, NOT_FOUND, NOT_YET. */
  async find(txId: Uint8Array): Promise<TxRecord> {
    const { fold, network } = this.#store;
    return this.#feed === null ? findRecord(fold.engine, txId, network.dialect.formatId) : this.#feed.find(txId);
  }

  /** Makes the indexes of the records anew. Returns what was wrong; a database keeps its own. */
  rebuildIndexes(): RebuiltIndexes {
    return this.place.kind === 'embedded' ? rebuildIndexes(this.#store.fold.engine) : { differences: [], count: 0 };
  }

  async close(): Promise<void> {
    if (this.#feed !== null) await this.records.close();
  }
}

export interface TxsLook extends PassResult {
  readonly height: number;
  readonly blocked: readonly KeptParent[];
}

/** Throws UNSUPPORTED where the store keeps no records of transactions. */
export function needTxs({ txs }: { readonly txs: StoreTxs | null }): StoreTxs {
  if (txs !== null) return txs;
  throw new UnspentError('UNSUPPORTED', `this store keeps no records of transactions: it was made without ${switchText(TXS_SWITCH)}`);
}

/** What is no transaction is the node's affair: nobody can put it into a block. */
function readable(raw: Uint8Array, mweb: boolean): ChainTx[] {
  try {
    return [relayedTx(raw, mweb)];
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    return [];
  }
}
