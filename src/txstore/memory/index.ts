/**
 * The transaction store in memory: a map of records, every answer by looking at
 * every record, no index. It is what the other stores are compared with, and a
 * store for tests of programs. Nothing of it outlives the process.
 */
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { compareBytes, equalBytes, toHex } from '../../util/bytes.ts';
import type {
  ChildRead,
  DueParent,
  ParentChild,
  PassProgress,
  PruneCursor,
  PruneParent,
  PruneProgress,
  Removal,
  RemovalResult,
} from '../prune-store.ts';
import type { TxRecord } from '../records.ts';
import { checkHeight, heightAfter } from '../rules/heights.ts';
import { checkUndoable, markedOnBestChain, minedIn, notMinedIn } from '../rules/mining.ts';
import { checkIds, checkMinedBlock, newRecord } from '../rules/new-record.ts';
import { txRefusal } from '../rules/refusals.ts';
import { checkTxStoreSettings, type ReorganisationLimit } from '../rules/settings.ts';
import { frozenSlot, unfrozenSlot } from '../rules/slots.ts';
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
import { markConflicting, resolveConflicts, spendAll, unspendAll } from './conflicts.ts';
import { TxDraft } from './draft.ts';
import { childReadOf, compareCursors, dueOf, pruneParentOf, removeAll } from './removal.ts';

export class MemoryTxStore implements TxStore {
  readonly settings: TxStoreSettings;
  #txs: ReadonlyMap<string, TxRecord> = new Map();
  #progress: PruneProgress = { unfinished: null, lastCompleted: 0, prunedHeight: 0 };

  /** Throws CONFIG. */
  constructor(settings: TxStoreSettings, limit: ReorganisationLimit) {
    checkTxStoreSettings(settings, limit);
    this.settings = settings;
  }

  /** All of it or nothing. */
  #write<T>(height: number, change: (draft: TxDraft) => T): T {
    checkHeight(height);
    const draft = new TxDraft(this.#txs, this.settings, height);
    const result = change(draft);
    this.#txs = draft.txs;
    return result;
  }

  /** Every record, by id, to compare with those of another store. */
  records(): readonly TxRecord[] {
    return [...this.#txs.values()].sort((a, b) => compareBytes(a.txId, b.txId));
  }

  async create(txs: readonly NewStoredTx[], height: number): Promise<void> {
    this.#write(height, (draft) => {
      for (const tx of txs) {
        const record = newRecord(tx, height);
        if (draft.find(tx.txId) !== undefined) throw txRefusal.exists(tx.txId);
        draft.put(record);
        draft.change(tx.txId, {});
        if (record.isConflicting) draft.joinParents(record);
      }
    });
  }

  async finishCreate(txIds: readonly Uint8Array[], height: number): Promise<void> {
    this.#changeAll(txIds, height, () => ({ isCreating: false }));
  }

  #changeAll(txIds: readonly Uint8Array[], height: number, change: (record: TxRecord) => Partial<TxRecord>): void {
    this.#write(height, (draft) => {
      draft.checkAll(txIds);
      for (const txId of txIds) draft.change(txId, change(draft.need(txId)));
    });
  }

  async spend(txs: readonly SpendingTx[], height: number, options: SpendOptions = {}): Promise<void> {
    checkIds(txs.map(({ txId }) => txId));
    this.#write(height, (draft) => spendAll(draft, txs, options));
  }

  async unspend(spends: readonly OutputSpend[], height: number, { lock = false }: { readonly lock?: boolean } = {}): Promise<void> {
    this.#write(height, (draft) => unspendAll(draft, spends, lock));
  }

  async setMined(
    txs: readonly MinedTx[],
    block: BlockOfStore,
    isOnBestChain: boolean,
    height: number,
  ): Promise<readonly (readonly Uint8Array[])[]> {
    checkMinedBlock(block);
    const indexes = new Map(txs.map(({ txId, index }) => [toHex(txId), index]));
    const txIds = txs.map(({ txId }) => txId);
    this.#changeAll(txIds, height, (record) => {
      const index = indexes.get(toHex(record.txId)) ?? 0;
      return { ...minedIn(record, { ...block, index, isOnBestChain }), isLocked: false, isCreating: false };
    });
    return txIds.map((txId) => this.#txs.get(toHex(txId))!.blocks.map(({ hash }) => hash));
  }

  async unsetMined(txIds: readonly Uint8Array[], blockHash: Uint8Array, height: number): Promise<void> {
    this.#changeAll(txIds, height, (record) => {
      const gone = record.blocks.filter(({ hash }) => equalBytes(hash, blockHash));
      checkUndoable(record, gone, this.#progress.prunedHeight, this.settings.window);
      return notMinedIn(record, blockHash, height);
    });
  }

  async markOnBestChain(txIds: readonly Uint8Array[], isOnBestChain: boolean, height: number): Promise<void> {
    const missing = txIds.filter((txId) => !this.#txs.has(toHex(txId)));
    if (missing.length > 0) throw txRefusal.missing(missing.map((txId) => ({ missing: txId })));
    this.#changeAll(txIds, height, (record) => {
      if (!isOnBestChain) checkUndoable(record, record.blocks, this.#progress.prunedHeight, this.settings.window);
      return markedOnBestChain(record, isOnBestChain, height);
    });
  }

  async setConflicting(txIds: readonly Uint8Array[], isConflicting: boolean, height: number): Promise<ConflictMarks> {
    return this.#write(height, (draft) => markConflicting(draft, txIds, isConflicting));
  }

  async processConflicting(winners: readonly Uint8Array[], height: number): Promise<readonly Uint8Array[]> {
    return this.#write(height, (draft) => resolveConflicts(draft, winners));
  }

  async setLocked(txIds: readonly Uint8Array[], isLocked: boolean, height: number): Promise<void> {
    this.#changeAll(txIds, height, () => ({ isLocked }));
  }

  async freeze(outpoints: readonly Outpoint[], height: number): Promise<void> {
    this.#write(height, (draft) => {
      for (const o of outpoints) draft.setSlot(o.txId, o.index, frozenSlot(draft.slot(o.txId, o.index), o));
    });
  }

  async unfreeze(outpoints: readonly Outpoint[], height: number): Promise<void> {
    this.#write(height, (draft) => {
      for (const o of outpoints) draft.setSlot(o.txId, o.index, unfrozenSlot(draft.slot(o.txId, o.index), o));
    });
  }

  async reassign(outpoint: Outpoint, hash: Uint8Array, delay: number, height: number): Promise<void> {
    checkIds([hash]);
    this.#write(height, (draft) => {
      const slot = unfrozenSlot(draft.slot(outpoint.txId, outpoint.index), outpoint);
      const spendableFrom = heightAfter(height, delay);
      if (spendableFrom === null) throw txRefusal.invalid(outpoint.txId, `cannot wait ${delay} blocks from height ${height} on`);
      draft.setSlot(outpoint.txId, outpoint.index, { ...slot, hash, spendableFrom });
      draft.change(outpoint.txId, { spendable: draft.need(outpoint.txId).spendable + 1 });
    });
  }

  async preserve(txIds: readonly Uint8Array[], until: number, height: number): Promise<readonly Uint8Array[]> {
    checkHeight(until);
    const present = txIds.filter((txId) => this.#txs.has(toHex(txId)));
    this.#changeAll(present, height, ({ preserveUntil }) => ({ preserveUntil: Math.max(preserveUntil ?? 0, until) }));
    return txIds.filter((txId) => !present.includes(txId));
  }

  async expirePreservations(height: number): Promise<number> {
    const ended = this.records().filter(({ preserveUntil }) => preserveUntil !== null && preserveUntil <= height);
    this.#changeAll(
      ended.map(({ txId }) => txId),
      height,
      () => ({ preserveUntil: null }),
    );
    return ended.length;
  }

  async delete(txIds: readonly Uint8Array[]): Promise<void> {
    this.#write(0, (draft) => {
      draft.checkAll(txIds);
      for (const txId of txIds) {
        draft.leaveParents(draft.need(txId));
        draft.txs.delete(toHex(txId));
      }
    });
  }

  async batchGet(txIds: readonly Uint8Array[]): Promise<readonly (TxRecord | null)[]> {
    return txIds.map((txId) => this.#txs.get(toHex(txId)) ?? null);
  }

  async *iterateUnmined(): AsyncIterable<UnminedTx> {
    yield* this.#unmined();
  }

  async queryOldUnmined(cutoff: number, limit: number, after: UnminedTx | null = null): Promise<readonly UnminedTx[]> {
    const isBehind = ({ txId, since }: UnminedTx): boolean =>
      after === null || since > after.since || (since === after.since && compareBytes(txId, after.txId) > 0);
    return this.#unmined()
      .filter((tx) => tx.since <= cutoff && isBehind(tx))
      .slice(0, limit);
  }

  #unmined(): UnminedTx[] {
    const unmined = this.records().flatMap(({ txId, unminedSince }) => (unminedSince === null ? [] : [{ txId, since: unminedSince }]));
    return unmined.sort((a, b) => a.since - b.since);
  }

  async dueParents(allowedHeight: number, after: PruneCursor | null, limit: number): Promise<readonly DueParent[]> {
    return dueOf(this.#txs, allowedHeight)
      .filter((cursor) => after === null || compareCursors(cursor, after) > 0)
      .slice(0, limit);
  }

  async countDue(height: number, limit: number): Promise<number> {
    return Math.min(limit, dueOf(this.#txs, height).length);
  }

  async readParents(due: readonly Pick<DueParent, 'txId'>[]): Promise<readonly (PruneParent | null)[]> {
    return due.map(({ txId }) => {
      const record = this.#txs.get(toHex(txId));
      return record === undefined ? null : pruneParentOf(this.#txs, record);
    });
  }

  async readChildren(txIds: readonly Uint8Array[]): Promise<readonly ChildRead[]> {
    return txIds.map((txId) => childReadOf(this.#txs, txId));
  }

  async readTombstones(pairs: readonly ParentChild[]): Promise<readonly boolean[]> {
    return pairs.map(
      ({ parent, child }) => this.#txs.get(toHex(parent))?.tombstones.some((tombstone) => equalBytes(tombstone.txId, child)) ?? false,
    );
  }

  async removeParents(removal: Removal): Promise<RemovalResult> {
    const result = this.#write(removal.height, (draft) => removeAll(draft, removal));
    const { lastCompleted, prunedHeight } = this.#progress;
    const reached = result.deleted.length > 0 ? Math.max(prunedHeight, removal.height) : prunedHeight;
    this.#progress = { lastCompleted, prunedHeight: reached, unfinished: { height: removal.height, cursor: removal.cursor } };
    return result;
  }

  async pruneProgress(): Promise<PruneProgress> {
    return this.#progress;
  }

  async setPassProgress(progress: PassProgress): Promise<void> {
    this.#progress = { ...this.#progress, ...progress };
  }

  async stats(): Promise<TxStoreStats> {
    return { records: this.#txs.size, bytes: 0 };
  }

  async close(): Promise<void> {}
}
