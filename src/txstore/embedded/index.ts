/**
 * The transaction store on the embedded engine. There is one writer, and every
 * call reads, decides and commits in one turn of the event loop: nothing happens
 * between its reads and its one batch, and a crash leaves all of it or nothing.
 */
import type { Batch, Engine, Row } from '../../engine/engine.ts';
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { equalBytes } from '../../util/bytes.ts';
import { keyAfter } from '../../util/key-range.ts';
import { PRUNE_UNMINED_BATCH } from '../../util/limits.ts';
import { clearLosers, letWin, setLosers, spendInputs, unspendOutputs } from '../conflicts.ts';
import type {
  ChildRead,
  DueParent,
  NextRemoval,
  ParentChild,
  PassProgress,
  PruneCursor,
  PruneParent,
  PruneProgress,
  Removal,
  RemovalResult,
} from '../prune-store.ts';
import type { TxRecord, TxSlot } from '../records.ts';
import { checkHeight, HEIGHT_MAX, heightAfter } from '../rules/heights.ts';
import { checkUndoable, markedOnBestChain, minedIn, notMinedIn } from '../rules/mining.ts';
import { checkIds, checkMinedBlock } from '../rules/new-record.ts';
import { txRefusal } from '../rules/refusals.ts';
import { checkTxStoreSettings, type ReorganisationLimit } from '../rules/settings.ts';
import { frozenSlot, unfrozenSlot } from '../rules/slots.ts';
import type { PruneHeights } from '../rules/verdict.ts';
import type {
  BlockOfStore,
  ConflictMarks,
  MinedTx,
  NewStoredTx,
  OutputSpend,
  SpendingTx,
  SpendOptions,
  TxStore,
  TxStoreSettings,
  TxStoreStats,
  UnminedTx,
} from '../store.ts';
import type { TxState } from './codec.ts';
import { heightKey, PROGRESS_KEY, readHeightKey, TX_DUE, TX_PRESERVED, TX_RECORD, TX_UNMINED } from './columns.ts';
import { createInPlace } from './create-in-place.ts';
import { DueRow } from './due-row.ts';
import type { LoadedTx } from './loaded-tx.ts';
import { encodeProgress, readProgress } from './progress.ts';
import { PruneInPlace } from './prune-in-place.ts';
import { readRecords } from './reads.ts';
import { childReads, currentUnit, readParents, removeProven } from './removal.ts';
import { type PlaceOfWork, spendInPlace } from './spend-in-place.ts';
import { newMark, readTotals } from './totals.ts';
import { cacheOf, type TxCache } from './tx-cache.ts';
import { TxUnit } from './unit.ts';

export class EmbeddedTxStore implements TxStore {
  readonly settings: TxStoreSettings;
  readonly #engine: Engine;
  readonly #cache: TxCache;

  /** The engine has the columns of `TX_STORE_COLUMNS`; whoever opened it closes it. Throws CONFIG. */
  constructor(engine: Engine, settings: TxStoreSettings, limit: ReorganisationLimit, cache: TxCache = cacheOf(engine)) {
    checkTxStoreSettings(settings, limit);
    this.#engine = engine;
    this.#cache = cache;
    this.settings = settings;
  }

  /** All of it or nothing, in one batch. `progress`: what is to be stored with it. */
  protected write<T>(height: number, change: (unit: TxUnit) => T, progress?: (result: T, batch: Batch) => PruneProgress): T {
    checkHeight(height);
    return this.#commit(new TxUnit(this.#engine, this.settings, height, this.#cache), change, progress);
  }

  #commit<T>(unit: TxUnit, change: (unit: TxUnit) => T, progress?: (result: T, batch: Batch) => PruneProgress): T {
    const result = change(unit);
    const batch = this.#engine.batch();
    try {
      unit.write(batch);
      if (progress !== undefined) batch.put(TX_RECORD, PROGRESS_KEY, encodeProgress(progress(result, batch)));
      batch.commit();
    } catch (error) {
      // The engine has one batch for all: what is in it must not go with the next commit.
      batch.clear();
      throw error;
    }
    return result;
  }

  #placeOfWork(height: number): PlaceOfWork {
    checkHeight(height);
    return { engine: this.#engine, cache: this.#cache, retention: this.settings.retention, height };
  }

  #changeAll(txIds: readonly Uint8Array[], height: number, change: (tx: LoadedTx) => Partial<TxState>): readonly LoadedTx[] {
    return this.write(height, (unit) => {
      const txs = unit.needAll(txIds);
      for (const tx of txs) unit.change(tx, change(tx));
      return txs;
    });
  }

  async create(txs: readonly NewStoredTx[], height: number): Promise<void> {
    if (createInPlace(this.#placeOfWork(height), txs)) return;
    this.write(height, (unit) => {
      unit.load(txs.map(({ txId }) => txId));
      for (const tx of txs) {
        const created = unit.create(tx);
        unit.change(created, {});
        if (tx.isConflicting) unit.joinParents(created);
      }
    });
  }

  async finishCreate(txIds: readonly Uint8Array[], height: number): Promise<void> {
    this.#changeAll(txIds, height, () => ({ isCreating: false }));
  }

  async spend(txs: readonly SpendingTx[], height: number, options: SpendOptions = {}): Promise<void> {
    checkIds(txs.map(({ txId }) => txId));
    if (spendInPlace(this.#placeOfWork(height), txs, options)) return;
    this.write(height, (unit) => spendInputs(unit, txs, options));
  }

  async unspend(spends: readonly OutputSpend[], height: number, { lock = false }: { readonly lock?: boolean } = {}): Promise<void> {
    this.write(height, (unit) => unspendOutputs(unit, spends, lock));
  }

  async setMined(
    txs: readonly MinedTx[],
    block: BlockOfStore,
    isOnBestChain: boolean,
    height: number,
  ): Promise<readonly (readonly Uint8Array[])[]> {
    checkMinedBlock(block);
    return this.write(height, (unit) => {
      const loaded = unit.needAll(txs.map(({ txId }) => txId));
      for (const [n, tx] of loaded.entries()) {
        const { hash, height: blockHeight } = block;
        const mined = minedIn(tx.state, { hash, height: blockHeight, index: txs[n].index, isOnBestChain });
        unit.change(tx, { ...mined, isLocked: false, isCreating: false });
      }
      return loaded.map(({ state }) => state.blocks.map(({ hash }) => hash.slice()));
    });
  }

  async unsetMined(txIds: readonly Uint8Array[], blockHash: Uint8Array, height: number): Promise<void> {
    const { prunedHeight } = this.#progress();
    this.#changeAll(txIds, height, ({ state }) => {
      const gone = state.blocks.filter(({ hash }) => equalBytes(hash, blockHash));
      checkUndoable(state, gone, prunedHeight, this.settings.window);
      return notMinedIn(state, blockHash, height);
    });
  }

  async markOnBestChain(txIds: readonly Uint8Array[], isOnBestChain: boolean, height: number): Promise<void> {
    const { prunedHeight } = this.#progress();
    const rows = this.#engine.getMany(TX_RECORD, txIds);
    const missing = txIds.filter((_, n) => rows[n] === undefined);
    if (missing.length > 0) throw txRefusal.missing(missing.map((txId) => ({ missing: txId })));
    this.#changeAll(txIds, height, ({ state }) => {
      if (!isOnBestChain) checkUndoable(state, state.blocks, prunedHeight, this.settings.window);
      return markedOnBestChain(state, isOnBestChain, height);
    });
  }

  async setConflicting(txIds: readonly Uint8Array[], isConflicting: boolean, height: number): Promise<ConflictMarks> {
    return this.write(height, (unit) => (isConflicting ? setLosers(unit, txIds) : clearLosers(unit, txIds)));
  }

  async processConflicting(winners: readonly Uint8Array[], height: number): Promise<readonly Uint8Array[]> {
    return this.write(height, (unit) => letWin(unit, winners));
  }

  async setLocked(txIds: readonly Uint8Array[], isLocked: boolean, height: number): Promise<void> {
    this.#changeAll(txIds, height, () => ({ isLocked }));
  }

  async freeze(outpoints: readonly Outpoint[], height: number): Promise<void> {
    this.#changeSlots(outpoints, height, frozenSlot);
  }

  async unfreeze(outpoints: readonly Outpoint[], height: number): Promise<void> {
    this.#changeSlots(outpoints, height, unfrozenSlot);
  }

  #changeSlots(outpoints: readonly Outpoint[], height: number, change: (slot: TxSlot | null | undefined, at: Outpoint) => TxSlot): void {
    this.write(height, (unit) => {
      for (const outpoint of outpoints) {
        const tx = unit.need(outpoint.txId);
        unit.setSlot(tx, outpoint.index, change(unit.slot(tx, outpoint.index), outpoint));
      }
    });
  }

  async reassign(outpoint: Outpoint, hash: Uint8Array, delay: number, height: number): Promise<void> {
    checkIds([hash]);
    this.write(height, (unit) => {
      const tx = unit.need(outpoint.txId);
      unfrozenSlot(unit.slot(tx, outpoint.index), outpoint);
      const spendableFrom = heightAfter(height, delay);
      if (spendableFrom === null) throw txRefusal.invalid(outpoint.txId, `cannot wait ${delay} blocks from height ${height} on`);
      unit.reassign(tx, outpoint.index, hash, spendableFrom);
    });
  }

  async preserve(txIds: readonly Uint8Array[], until: number, height: number): Promise<readonly Uint8Array[]> {
    checkHeight(until);
    return this.write(height, (unit) => {
      unit.load(txIds);
      for (const txId of txIds) {
        const tx = unit.find(txId);
        if (tx !== undefined) unit.change(tx, { preserveUntil: Math.max(tx.state.preserveUntil ?? 0, until) });
      }
      return txIds.filter((txId) => unit.find(txId) === undefined);
    });
  }

  async expirePreservations(height: number): Promise<number> {
    checkHeight(height);
    const ended = [...this.#engine.scan(TX_PRESERVED, upTo(height))].map(([key]) => readHeightKey(key).txId);
    if (ended.length > 0) this.#changeAll(ended, height, () => ({ preserveUntil: null }));
    return ended.length;
  }

  async delete(txIds: readonly Uint8Array[]): Promise<void> {
    this.write(0, (unit) => {
      for (const tx of unit.needAll(txIds)) {
        unit.leaveParents(tx);
        unit.delete(tx);
      }
    });
  }

  async batchGet(txIds: readonly Uint8Array[]): Promise<readonly (TxRecord | null)[]> {
    return readRecords(this.#engine, txIds);
  }

  /** In batches: what becomes unmined or mined meanwhile may or may not be among them. */
  async *iterateUnmined(): AsyncIterable<UnminedTx> {
    let after: Uint8Array | null = null;
    for (;;) {
      const rows: readonly UnminedTx[] = this.#unmined(HEIGHT_MAX, after, PRUNE_UNMINED_BATCH);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined) return;
      after = heightKey(last.since, last.txId);
    }
  }

  async queryOldUnmined(cutoff: number, limit: number, after: UnminedTx | null = null): Promise<readonly UnminedTx[]> {
    return this.#unmined(cutoff, after === null ? null : heightKey(after.since, after.txId), limit);
  }

  #unmined(cutoff: number, after: Uint8Array | null, limit: number): readonly UnminedTx[] {
    const range = { ...upTo(cutoff), ...(after === null ? {} : { gte: keyAfter(after) }), limit };
    return [...this.#engine.scan(TX_UNMINED, range)].map(([key]) => {
      const { height: since, txId } = readHeightKey(key);
      return { txId, since };
    });
  }

  #due(allowedHeight: number, after: PruneCursor | null, limit: number): Iterable<Row> {
    const range = { ...upTo(allowedHeight), ...(after === null ? {} : { gte: keyAfter(heightKey(after.height, after.txId)) }), limit };
    return this.#engine.scan(TX_DUE, range);
  }

  async dueParents(allowedHeight: number, after: PruneCursor | null, limit: number): Promise<readonly DueParent[]> {
    const { mark } = readTotals(this.#engine);
    const due: DueRow[] = [];
    for (const [key, facts] of this.#due(allowedHeight, after, limit)) {
      const { height, txId } = readHeightKey(key);
      due.push(new DueRow(height, txId, facts, mark));
    }
    return due;
  }

  async countDue(height: number, limit: number): Promise<number> {
    let count = 0;
    for (const _ of this.#engine.scan(TX_DUE, { ...upTo(height), limit })) count++;
    return count;
  }

  async readParents(due: readonly Pick<DueParent, 'txId'>[]): Promise<readonly (PruneParent | null)[]> {
    return readParents(new TxUnit(this.#engine, this.settings, 0, this.#cache), due);
  }

  async readChildren(txIds: readonly Uint8Array[]): Promise<readonly ChildRead[]> {
    return childReads(this.#engine, this.#cache, txIds);
  }

  async readTombstones(pairs: readonly ParentChild[]): Promise<readonly boolean[]> {
    const unit = new TxUnit(this.#engine, this.settings, 0, this.#cache);
    unit.load(pairs.map(({ parent }) => parent));
    return pairs.map(({ parent, child }) => unit.hasTombstone(parent, child));
  }

  /** In one turn, so that nothing can change between the decision and the removal (F4). */
  async removeNext(heights: PruneHeights, after: PruneCursor | null, limit: number): Promise<NextRemoval> {
    checkHeight(heights.requested);
    if (!this.mayRemove(heights.requested)) return notRemoved(await this.dueParents(heights.allowed, after, limit));
    const [engine, cache, totals] = [this.#engine, this.#cache, readTotals(this.#engine)];
    cache.follow(totals.mark);
    const step = new PruneInPlace({ engine, cache, heights, totals, limit });
    step.decide(this.#due(heights.allowed, after, limit));
    const { count, last, others, childrenRead, parentsMissing, tombstonesWritten } = step;
    // Where others are still to be judged, the pass goes on from here if it is interrupted.
    const hasPassed = step.deletes && others.length === 0;
    const removed = step.deletes ? this.#removeInPlace(step, heights.requested, hasPassed ? last : after) : NOTHING_REMOVED;
    return { count, last, others, hasPassed, ...removed, childrenRead, parentsMissing, tombstonesWritten };
  }

  #removeInPlace(step: PruneInPlace, height: number, cursor: PruneCursor | null): typeof NOTHING_REMOVED {
    const { lastCompleted, prunedHeight } = this.#progress();
    this.beforeRemoval(height);
    const batch = this.#engine.batch();
    try {
      const deleted = step.write(batch, newMark());
      const blobsDeleted = this.putRemoved(deleted, batch);
      const progress = { lastCompleted, unfinished: { height, cursor }, prunedHeight: Math.max(prunedHeight, height) };
      batch.put(TX_RECORD, PROGRESS_KEY, encodeProgress(progress));
      batch.commit();
      return { deleted, blobsDeleted };
    } catch (error) {
      // The engine has one batch for all: what is in it must not go with the next commit.
      batch.clear();
      throw error;
    }
  }

  async removeParents(removal: Removal): Promise<RemovalResult> {
    const { lastCompleted, prunedHeight } = this.#progress();
    const unfinished = { height: removal.height, cursor: removal.cursor };
    checkHeight(removal.height);
    const all = removal.parents.map(({ parent }) => parent.txId);
    if (all.length > 0 && !this.mayRemove(removal.height)) return { deleted: [], changed: all, tombstonesWritten: 0, parentsMissing: 0 };
    if (removal.parents.length > 0) this.beforeRemoval(removal.height);
    const current = currentUnit(removal);
    let blobsDeleted = 0;
    const result = this.#commit(
      current ?? new TxUnit(this.#engine, this.settings, removal.height, this.#cache),
      (unit) => removeProven(unit, removal, current !== null),
      ({ deleted }, batch) => {
        blobsDeleted = this.putRemoved(deleted, batch);
        return { lastCompleted, unfinished, prunedHeight: deleted.length > 0 ? Math.max(prunedHeight, removal.height) : prunedHeight };
      },
    );
    return { ...result, blobsDeleted };
  }

  /** Whether what a pass at this height has proven holds for the chain as it is now. */
  protected mayRemove(_height: number): boolean {
    return true;
  }

  /** Something is about to be deleted, by a pass at this height. */
  protected beforeRemoval(_height: number): void {}

  /** What else goes with deleted records, in the same batch. Returns how many blobs that are. */
  protected putRemoved(_deleted: readonly Uint8Array[], _batch: Batch): number {
    return 0;
  }

  async pruneProgress(): Promise<PruneProgress> {
    return this.#progress();
  }

  #progress(): PruneProgress {
    return readProgress(this.#engine);
  }

  async setPassProgress(progress: PassProgress): Promise<void> {
    const batch = this.#engine.batch();
    batch.put(TX_RECORD, PROGRESS_KEY, encodeProgress({ ...this.#progress(), ...progress }));
    batch.commit();
  }

  async stats(): Promise<TxStoreStats> {
    return { records: readTotals(this.#engine).records, bytes: this.#engine.stats().bytes };
  }

  async close(): Promise<void> {}
}

const NOTHING_REMOVED: Pick<NextRemoval, 'deleted' | 'blobsDeleted'> = { deleted: [], blobsDeleted: 0 };

/** Keys of a height up to this one. */
function upTo(height: number): { readonly lt?: Uint8Array } {
  return height >= HEIGHT_MAX ? {} : { lt: heightKey(height + 1) };
}

/** Every one is left to be judged. */
function notRemoved(others: readonly DueParent[]): NextRemoval {
  const last = others.at(-1) ?? null;
  return { count: others.length, last, others, hasPassed: false, deleted: [], childrenRead: 0, parentsMissing: 0, tombstonesWritten: 0 };
}
