/**
 * New records where they will be at hand: the row of each is copied into the
 * ring of rows and into the batch, without a record in memory. As
 * with spending (spend-in-place.ts), whatever is out of the ordinary is undone,
 * and left to a unit.
 */
import type { Batch } from '../../engine/engine.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import { Scratch } from '../../util/scratch.ts';
import { deleteAtHeightOf } from '../rules/deletion.ts';
import { unminedSinceOf } from '../rules/new-record.ts';
import type { NewStoredTx } from '../store.ts';
import { TX_RECORD, TX_UNMINED } from './columns.ts';
import { idKeys } from './id-keys.ts';
import { distinctParents } from './loaded-tx.ts';
import { newRowBytes, writeNewRow } from './new-tx.ts';
import { smallOutputsBytes } from './outputs.ts';
import { RecordHead } from './record-head.ts';
import type { PlaceOfWork } from './spend-in-place.ts';
import { newMark, putTotals, readTotals } from './totals.ts';
import { move, moveDue, putReference, putRow } from './write.ts';

/** Larger ones are not ordinary: some hundred inputs. */
const ROW_BYTES_MAX = 16 * 1024;
/** After a restart so many ids are read for each new one, until all are known. */
const IDS_LEARNT_EACH = 2;

/** True: it is committed. False: nothing has happened. Throws INVALID_PARAM; nothing has happened then. */
export function createInPlace(work: PlaceOfWork, txs: readonly NewStoredTx[]): boolean {
  const { engine, cache } = work;
  const totals = readTotals(engine);
  cache.follow(totals.mark);
  const txIds = ordinaryIds(txs);
  if (txIds === null || !areNew(work, txIds, totals.records)) return false;
  // First of all: if this ends half-way, what is at hand is not that of the store any more.
  const mark = newMark();
  cache.written(mark);
  const batch = engine.batch();
  const created = new CreatesInPlace(work, batch);
  try {
    if (!created.createAll(txs)) {
      batch.clear();
      created.undo(txs);
      cache.written(totals.mark);
      return false;
    }
  } catch (error) {
    batch.clear();
    created.undo(txs);
    cache.written(totals.mark);
    throw error;
  }
  try {
    created.finish(txs, txIds);
    cache.ids?.addAll(txIds);
    putTotals(batch, { records: totals.records + txs.length, mark });
    batch.commit();
  } catch (error) {
    // The engine has one batch for all: what is in it must not go with the next commit.
    batch.clear();
    throw error;
  }
  return true;
}

/** Null: not all of them are of one row, and in nobody's way. */
function ordinaryIds(txs: readonly NewStoredTx[]): Uint8Array[] | null {
  const txIds: Uint8Array[] = [];
  for (const { txId, outputs, isConflicting } of txs) {
    if (isConflicting === true || outputs.length > TX_PAGE_SLOTS || txId.length !== TXID_BYTES) return null;
    txIds.push(txId);
  }
  return txIds.length === 0 ? null : txIds;
}

function areNew({ engine, cache }: PlaceOfWork, txIds: readonly Uint8Array[], records: number): boolean {
  const ids = cache.learnIds(engine, records, IDS_LEARNT_EACH * txIds.length).thatMayBe(txIds);
  return ids.length === 0 || engine.getMany(TX_RECORD, idKeys(ids)).every((row) => row === undefined);
}

/** A row is made here, and copied to where it stays: what was just written is near. */
const scratch = new Scratch(ROW_BYTES_MAX);
const head = new RecordHead(scratch.bytes, 0);

class CreatesInPlace {
  readonly #work: PlaceOfWork;
  readonly #batch: Batch;
  /** How many rows are in the ring, and at which heights the best chain has them; 0: it has not. */
  #count = 0;
  readonly #minedAt: number[] = [];

  constructor(work: PlaceOfWork, batch: Batch) {
    this.#work = work;
    this.#batch = batch;
  }

  /** False: one of them is out of the ordinary. Throws INVALID_PARAM. */
  createAll(txs: readonly NewStoredTx[]): boolean {
    const { rows } = this.#work.cache;
    // An id that comes twice is found by its row.
    rows.hold();
    try {
      for (const tx of txs) if (!this.#create(tx)) return false;
      return true;
    } finally {
      rows.release();
    }
  }

  #create(tx: NewStoredTx): boolean {
    const { cache, height, retention } = this.#work;
    const smallBytes = smallOutputsBytes(tx.outputs);
    if (smallBytes === null) return false;
    const length = newRowBytes(tx, smallBytes);
    if (length > ROW_BYTES_MAX) return false;
    scratch.bytes.fill(0, 0, length);
    const minedAt = writeNewRow(scratch.bytes, 0, tx, height, smallBytes);
    head.version = 1;
    const due = deleteAtHeightOf(head, height, retention);
    if (due !== null) head.deleteAtHeight = due;
    const row = scratch.view(length);
    if (!cache.rows.add(tx.txId, row)) return false;
    this.#count++;
    putRow(this.#batch, tx.txId, 0, row);
    moveDue(this.#batch, tx.txId, 0, null, due, row);
    const unminedSince = unminedSinceOf(minedAt, height);
    if (unminedSince !== null) move(this.#batch, TX_UNMINED, tx.txId, 0, null, unminedSince);
    this.#minedAt.push(minedAt ?? 0);
    return true;
  }

  /** Nothing is known of any of them. */
  undo(txs: readonly NewStoredTx[]): void {
    for (let n = 0; n < this.#count; n++) this.#work.cache.rows.forget(txs[n].txId);
  }

  /** What those in no block reference, and what else is at hand. */
  finish(txs: readonly NewStoredTx[], txIds: readonly Uint8Array[]): void {
    const { cache } = this.#work;
    cache.heights.setAllMined(txIds, this.#minedAt);
    for (let n = 0; n < txs.length; n++) {
      // What the best chain does not have needs its parents.
      if (this.#minedAt[n] !== 0) continue;
      for (const parent of distinctParents(txs[n].inputs)) putReference(this.#batch, cache, parent, txIds[n]);
    }
  }
}
