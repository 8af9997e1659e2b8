/**
 * The transaction store on SQL: SQLite or PostgreSQL. Every call is one
 * transaction of the database. One that writes reads the records it needs under
 * their locks (unit.ts), changes them by the rules that all stores share, and
 * writes what changed (save.ts); after a transient failure it is made again.
 */
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { equalBytes } from '../../util/bytes.ts';
import { PRUNE_UNMINED_BATCH, TXS_READ_BATCH } from '../../util/limits.ts';
import { clearLosers, letWin, setLosers, spendInputs, unspendOutputs } from '../conflicts.ts';
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
import type { TxRecord, TxSlot } from '../records.ts';
import { checkHeight, HEIGHT_MAX, heightAfter } from '../rules/heights.ts';
import { checkUndoable, markedOnBestChain, minedIn, notMinedIn } from '../rules/mining.ts';
import { checkIds, checkMinedBlock } from '../rules/new-record.ts';
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
import { countDueRows, hasTombstones, readChildFacts, readDue, readPruneParents } from './candidates.ts';
import { readDescendants, readRivals, readWithParents } from './families.ts';
import { loadProgress, savePassProgress } from './progress.ts';
import { readIds, readUnmined, wholeRecords } from './reads.ts';
import { removeRows } from './removal.ts';
import { saveUnit } from './save.ts';
import { countRecords, databaseBytes } from './stats.ts';
import type { TxStoreDatabase, TxStoreTransaction } from './tables.ts';
import { type ReadTx, SqlUnit, type TxRowState } from './unit.ts';

export class SqlTxStore implements TxStore {
  readonly settings: TxStoreSettings;
  protected readonly database: TxStoreDatabase;

  /** The database has the schema (open.ts). Throws CONFIG. */
  constructor(database: TxStoreDatabase, settings: TxStoreSettings, limit: ReorganisationLimit) {
    checkTxStoreSettings(settings, limit);
    this.database = database;
    this.settings = settings;
  }

  /** All of it or nothing. */
  protected write<T>(height: number, change: (unit: SqlUnit, tx: TxStoreTransaction) => Promise<T>): Promise<T> {
    checkHeight(height);
    return this.database.write(async (tx) => {
      const unit = new SqlUnit(tx, this.settings, height);
      const result = await change(unit, tx);
      await saveUnit(tx, unit);
      return result;
    });
  }

  #changeAll(txIds: readonly Uint8Array[], height: number, change: (tx: ReadTx) => Partial<TxRowState>): Promise<void> {
    return this.write(height, async (unit) => {
      await unit.read(txIds);
      for (const tx of unit.needAll(txIds)) unit.change(tx, change(tx));
    });
  }

  async create(txs: readonly NewStoredTx[], height: number): Promise<void> {
    await this.write(height, async (unit) => {
      const losers = txs.filter(({ isConflicting }) => isConflicting === true);
      await unit.read([...txs.map(({ txId }) => txId), ...losers.flatMap(({ inputs }) => inputs.map(({ txId }) => txId))]);
      for (const tx of txs) {
        const created = unit.create(tx);
        unit.change(created, {});
        if (created.state.isConflicting) unit.joinParents(created);
      }
    });
  }

  async finishCreate(txIds: readonly Uint8Array[], height: number): Promise<void> {
    await this.#changeAll(txIds, height, () => ({ isCreating: false }));
  }

  async spend(txs: readonly SpendingTx[], height: number, options: SpendOptions = {}): Promise<void> {
    checkIds(txs.map(({ txId }) => txId));
    await this.write(height, async (unit) => {
      const outpoints = txs.flatMap(({ inputs }) => inputs);
      await unit.read(outpoints.map(({ txId }) => txId));
      await unit.readSlots(outpoints);
      await unit.readTombstones(txs.flatMap(({ txId: child, inputs }) => inputs.map(({ txId: parent }) => ({ parent, child }))));
      spendInputs(unit, txs, options);
    });
  }

  async unspend(spends: readonly OutputSpend[], height: number, { lock = false }: { readonly lock?: boolean } = {}): Promise<void> {
    await this.write(height, async (unit) => {
      const outpoints = spends.map(({ outpoint }) => outpoint);
      await unit.read(outpoints.map(({ txId }) => txId));
      await unit.readSlots(outpoints);
      unspendOutputs(unit, spends, lock);
    });
  }

  async setMined(
    txs: readonly MinedTx[],
    block: BlockOfStore,
    isOnBestChain: boolean,
    height: number,
  ): Promise<readonly (readonly Uint8Array[])[]> {
    checkMinedBlock(block);
    const { hash, height: blockHeight } = block;
    return this.write(height, async (unit) => {
      const txIds = txs.map(({ txId }) => txId);
      await unit.read(txIds);
      const found = unit.needAll(txIds);
      for (const [n, tx] of found.entries()) {
        const mined = minedIn(tx.state, { hash, height: blockHeight, index: txs[n].index, isOnBestChain });
        unit.change(tx, { ...mined, isLocked: false, isCreating: false });
      }
      return found.map(({ state }) => state.blocks.map((one) => one.hash));
    });
  }

  async unsetMined(txIds: readonly Uint8Array[], blockHash: Uint8Array, height: number): Promise<void> {
    await this.write(height, async (unit, tx) => {
      const { prunedHeight } = await loadProgress(tx, 'shared');
      await unit.read(txIds);
      for (const one of unit.needAll(txIds)) {
        const record = one.state;
        const gone = record.blocks.filter(({ hash }) => equalBytes(hash, blockHash));
        checkUndoable(record, gone, prunedHeight, this.settings.window);
        unit.change(one, notMinedIn(record, blockHash, height));
      }
    });
  }

  async markOnBestChain(txIds: readonly Uint8Array[], isOnBestChain: boolean, height: number): Promise<void> {
    await this.write(height, async (unit, tx) => {
      const { prunedHeight } = await loadProgress(tx, 'shared');
      await unit.read(txIds);
      const missing = txIds.filter((txId) => unit.find(txId) === undefined);
      if (missing.length > 0) throw txRefusal.missing(missing.map((txId) => ({ missing: txId })));
      for (const one of unit.needAll(txIds)) {
        const record = one.state;
        if (!isOnBestChain) checkUndoable(record, record.blocks, prunedHeight, this.settings.window);
        unit.change(one, markedOnBestChain(record, isOnBestChain, height));
      }
    });
  }

  async setConflicting(txIds: readonly Uint8Array[], isConflicting: boolean, height: number): Promise<ConflictMarks> {
    return this.write(height, async (unit) => {
      await (isConflicting ? readDescendants : readWithParents)(unit, txIds);
      return isConflicting ? setLosers(unit, txIds) : clearLosers(unit, txIds);
    });
  }

  async processConflicting(winners: readonly Uint8Array[], height: number): Promise<readonly Uint8Array[]> {
    return this.write(height, async (unit) => {
      await readRivals(unit, winners);
      return letWin(unit, winners);
    });
  }

  async setLocked(txIds: readonly Uint8Array[], isLocked: boolean, height: number): Promise<void> {
    await this.#changeAll(txIds, height, () => ({ isLocked }));
  }

  async freeze(outpoints: readonly Outpoint[], height: number): Promise<void> {
    await this.#changeSlots(outpoints, height, frozenSlot);
  }

  async unfreeze(outpoints: readonly Outpoint[], height: number): Promise<void> {
    await this.#changeSlots(outpoints, height, unfrozenSlot);
  }

  #changeSlots(
    outpoints: readonly Outpoint[],
    height: number,
    change: (slot: TxSlot | null | undefined, at: Outpoint) => TxSlot,
  ): Promise<void> {
    return this.write(height, async (unit) => {
      await unit.read(outpoints.map(({ txId }) => txId));
      await unit.readSlots(outpoints);
      for (const outpoint of outpoints) {
        const tx = unit.need(outpoint.txId);
        unit.setSlot(tx, outpoint.index, change(unit.slot(tx, outpoint.index), outpoint));
      }
    });
  }

  async reassign(outpoint: Outpoint, hash: Uint8Array, delay: number, height: number): Promise<void> {
    checkIds([hash]);
    await this.write(height, async (unit) => {
      await unit.read([outpoint.txId]);
      await unit.readSlots([outpoint]);
      const tx = unit.need(outpoint.txId);
      const slot = unfrozenSlot(unit.slot(tx, outpoint.index), outpoint);
      const spendableFrom = heightAfter(height, delay);
      if (spendableFrom === null) throw txRefusal.invalid(outpoint.txId, `cannot wait ${delay} blocks from height ${height} on`);
      unit.setSlot(tx, outpoint.index, { ...slot, hash, spendableFrom });
      unit.change(tx, { spendable: tx.state.spendable + 1 });
    });
  }

  async preserve(txIds: readonly Uint8Array[], until: number, height: number): Promise<readonly Uint8Array[]> {
    checkHeight(until);
    return this.write(height, async (unit) => {
      await unit.read(txIds);
      for (const tx of unit.present(txIds)) unit.change(tx, { preserveUntil: Math.max(tx.state.preserveUntil ?? 0, until) });
      return txIds.filter((txId) => unit.find(txId) === undefined);
    });
  }

  async expirePreservations(height: number): Promise<number> {
    checkHeight(height);
    const ended = await this.database.readOne(({ db }) =>
      db.selectFrom('tx').select('hash').where('preserve_until', '<=', height).execute(),
    );
    if (ended.length === 0) return 0;
    const txIds = ended.map(({ hash }) => hash);
    return this.write(height, async (unit) => {
      await unit.read(txIds);
      // One that was preserved longer, or was deleted, before its row was locked is as its writer wants it.
      const txs = unit.present(txIds).filter(({ state }) => state.preserveUntil !== null && state.preserveUntil <= height);
      for (const tx of txs) unit.change(tx, { preserveUntil: null });
      return txs.length;
    });
  }

  async delete(txIds: readonly Uint8Array[]): Promise<void> {
    await this.write(0, async (unit) => {
      await unit.read(txIds);
      for (const tx of unit.needAll(txIds)) unit.delete(tx);
    });
  }

  async batchGet(txIds: readonly Uint8Array[]): Promise<readonly (TxRecord | null)[]> {
    return this.database.read((tx) => wholeRecords(tx, txIds));
  }

  /** Every record, by id. In batches: what is made or deleted meanwhile may or may not be among them. */
  async *records(): AsyncIterable<TxRecord> {
    let records: readonly (TxRecord | null)[] = [];
    do {
      const after = records.at(-1)?.txId ?? null;
      records = await this.database.read(async (tx) => wholeRecords(tx, await readIds(tx, after, TXS_READ_BATCH)));
      for (const record of records) if (record !== null) yield record;
    } while (records.length === TXS_READ_BATCH);
  }

  /** In batches: what becomes unmined or mined meanwhile may or may not be among them. */
  async *iterateUnmined(): AsyncIterable<UnminedTx> {
    let batch: readonly UnminedTx[] = [];
    do {
      const after = batch.at(-1) ?? null;
      batch = await this.database.readOne((tx) => readUnmined(tx, HEIGHT_MAX, after, PRUNE_UNMINED_BATCH));
      yield* batch;
    } while (batch.length === PRUNE_UNMINED_BATCH);
  }

  async queryOldUnmined(cutoff: number, limit: number, after: UnminedTx | null = null): Promise<readonly UnminedTx[]> {
    return this.database.readOne((tx) => readUnmined(tx, cutoff, after, limit));
  }

  async dueParents(allowedHeight: number, after: PruneCursor | null, limit: number): Promise<readonly DueParent[]> {
    return this.database.readOne((tx) => readDue(tx, allowedHeight, after, limit));
  }

  async countDue(height: number, limit: number): Promise<number> {
    return this.database.readOne((tx) => countDueRows(tx, height, limit));
  }

  async readParents(due: readonly Pick<DueParent, 'txId'>[]): Promise<readonly (PruneParent | null)[]> {
    const txIds = due.map(({ txId }) => txId);
    return this.database.read((tx) => readPruneParents(tx, txIds));
  }

  async readChildren(txIds: readonly Uint8Array[]): Promise<readonly ChildRead[]> {
    return this.database.read((tx) => readChildFacts(tx, txIds));
  }

  async readTombstones(pairs: readonly ParentChild[]): Promise<readonly boolean[]> {
    return this.database.readOne((tx) => hasTombstones(tx, pairs));
  }

  async removeParents(removal: Removal): Promise<RemovalResult> {
    checkHeight(removal.height);
    return this.database.write((tx) => removeRows(tx, this.settings, removal, this.notesBlobs));
  }

  /** Whether bytes of the records rest elsewhere, so that those that passes delete are noted (blob-notes.ts). */
  protected get notesBlobs(): boolean {
    return false;
  }

  async pruneProgress(): Promise<PruneProgress> {
    return this.database.readOne((tx) => loadProgress(tx, 'none'));
  }

  async setPassProgress(progress: PassProgress): Promise<void> {
    await this.database.writeOne((tx) => savePassProgress(tx, progress));
  }

  async stats(): Promise<TxStoreStats> {
    return { records: await this.database.read(countRecords), bytes: await databaseBytes(this.database) };
  }

  close(): Promise<void> {
    return this.database.close();
  }
}
