/**
 * Spending where the records are at hand: their bytes are changed where they
 * lie, in the ring of rows, and no object is made for a record. It decides by the
 * rules that all stores share. Whatever is out of the ordinary is undone, and
 * left to a unit (unit.ts), which says what is wrong: so both answer alike.
 */
import type { Batch, Engine } from '../../engine/engine.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { copyBytes, writeU32 } from '../../util/bytes.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import { deleteAtHeightOf } from '../rules/deletion.ts';
import { checkParent } from '../rules/slots.ts';
import type { SpendingTx, SpendOptions } from '../store.ts';
import { SLOT_BYTES, SPENT, UNSPENT } from './codec.ts';
import { pairKey, TX_RECORD, TX_TOMBSTONE } from './columns.ts';
import { idKeys } from './id-keys.ts';
import { loadedTx } from './loaded-tx.ts';
import { isPrunedSpender } from './pruned-slots.ts';
import { RecordHead } from './record-head.ts';
import { ENTRY_HEAD_BYTES, type RowCache } from './row-cache.ts';
import { newMark, putTotals, readTotals, type TxTotals } from './totals.ts';
import type { TxCache } from './tx-cache.ts';
import { moveDue, putRow } from './write.ts';

/** What it is done with. */
export interface PlaceOfWork {
  readonly engine: Engine;
  readonly cache: TxCache;
  /** R. */
  readonly retention: number;
  readonly height: number;
}

/** True: it is committed. False: nothing has happened. Throws what `checkParent` throws; nothing has happened then. */
export function spendInPlace(work: PlaceOfWork, txs: readonly SpendingTx[], options: SpendOptions): boolean {
  const { engine, cache } = work;
  const totals = readTotals(engine);
  cache.follow(totals.mark);
  const parents = parentIds(txs);
  if (parents === null || parents.length === 0) return false;
  const places = findRows(engine, cache.rows, parents);
  if (places === null || mayReplay(engine, cache.rows, places, txs)) return false;
  const spends = new SpendsInPlace(work, places);
  // First of all: if this ends half-way, what is at hand is not that of the store any more.
  const mark = newMark();
  cache.written(mark);
  try {
    if (!spends.spendAll(txs, options)) {
      spends.undo();
      cache.written(totals.mark);
      return false;
    }
  } catch (error) {
    spends.undo();
    cache.written(totals.mark);
    throw error;
  }
  const batch = engine.batch();
  try {
    spends.write(batch, { ...totals, mark });
    batch.commit();
  } catch (error) {
    // The engine has one batch for all: what is in it must not go with the next commit.
    batch.clear();
    throw error;
  }
  return true;
}

/** If the rows do not stay then, they are more than the ring has room for. */
const LOAD_ROUNDS_MAX = 4;

/** Of all inputs, one behind the other. Null: somebody looks at hashes, or an id is none. */
function parentIds(txs: readonly SpendingTx[]): Uint8Array[] | null {
  const ids: Uint8Array[] = [];
  for (const { inputs } of txs) {
    for (const { txId, hash } of inputs) {
      if (hash !== undefined || txId.length !== TXID_BYTES) return null;
      ids.push(txId);
    }
  }
  return ids;
}

/** Where the rows begin in the ring. Null: one does not exist, or they do not fit. Throws STORE_DAMAGED. */
function findRows(engine: Engine, rows: RowCache, txIds: readonly Uint8Array[]): Int32Array | null {
  // To put some in may end others that are needed, too: those are read in the next round.
  for (let round = 0; round < LOAD_ROUNDS_MAX; round++) {
    const places = rows.findAll(txIds);
    const unknown: Uint8Array[] = [];
    for (let n = 0; n < txIds.length; n++) if (places[n] < 0) unknown.push(txIds[n]);
    if (unknown.length === 0) return areThere(rows, places) ? places : null;
    const found = engine.getMany(TX_RECORD, idKeys(unknown));
    for (let n = 0; n < unknown.length; n++) {
      const row = found[n];
      if (row === undefined) return null;
      loadedTx(unknown[n], row, 0, row.length, true);
      rows.put(unknown[n], row);
    }
  }
  return null;
}

function areThere(rows: RowCache, places: Int32Array): boolean {
  for (let n = 0; n < places.length; n++) if (places[n] < 0 || rows.lengthAt(places[n]) === 0) return false;
  return true;
}

/** Whether one of the spenders was pruned before. */
function mayReplay(engine: Engine, rows: RowCache, places: Int32Array, txs: readonly SpendingTx[]): boolean {
  const head = new RecordHead(rows.bytes, 0);
  const pairs: Uint8Array[] = [];
  let n = 0;
  for (const { txId, inputs } of txs) {
    for (const input of inputs) {
      head.at = places[n++];
      if (head.hasPruned && isPrunedSpender(rows.bytes, head.prunedPlace(), head.slotsPlace(), txId)) return true;
      if (head.hasTombstones) pairs.push(pairKey(input.txId, txId));
    }
  }
  return pairs.length > 0 && engine.getMany(TX_TOMBSTONE, pairs).some((row) => row !== undefined);
}

/** The height that stands for none among the heights of deletion as they were. */
const NOT_DUE = -1;

class SpendsInPlace {
  readonly #work: PlaceOfWork;
  readonly #rows: RowCache;
  /** Of the parent of each input. */
  readonly #places: Int32Array;
  readonly #head: RecordHead;
  /** The slots that were spent. */
  readonly #slots: Int32Array;
  #count = 0;
  /** The records that were changed, and when they were due before. */
  readonly #changed: Int32Array;
  readonly #dueBefore: Float64Array;
  #changedCount = 0;
  /** Which of them a place is, plus one, by a hash of the place; 0: none. */
  readonly #table: Int32Array;

  constructor(work: PlaceOfWork, places: Int32Array) {
    this.#work = work;
    this.#rows = work.cache.rows;
    this.#places = places;
    this.#head = new RecordHead(this.#rows.bytes, 0);
    this.#slots = new Int32Array(places.length);
    this.#changed = new Int32Array(places.length);
    this.#dueBefore = new Float64Array(places.length);
    this.#table = new Int32Array(2 ** Math.ceil(Math.log2(2 * places.length + 1)));
  }

  /** False: one of them is out of the ordinary. Throws what `checkParent` throws. */
  spendAll(txs: readonly SpendingTx[], options: SpendOptions): boolean {
    const head = this.#head;
    for (const { txId, inputs } of txs) {
      for (let vin = 0; vin < inputs.length; vin++) {
        head.at = this.#places[this.#count];
        if (head.isGuarded) checkParent(guarded(inputs[vin].txId, head), this.#work.height, options);
        if (!this.#spend(inputs[vin].index, txId, vin)) return false;
      }
    }
    return true;
  }

  #spend(index: number, spender: Uint8Array, vin: number): boolean {
    const head = this.#head;
    if (index >= head.outputCount || index >= TX_PAGE_SLOTS) return false;
    const slot = head.slotsPlace() + SLOT_BYTES * index;
    const { bytes } = this.#rows;
    if (bytes[slot] !== UNSPENT) return false;
    bytes[slot] = SPENT;
    copyBytes(spender, 0, bytes, slot + 1, TXID_BYTES);
    writeU32(bytes, slot + 1 + TXID_BYTES, vin);
    this.#slots[this.#count++] = slot;
    const due = head.deleteAtHeight;
    this.#note(head.at, due ?? NOT_DUE);
    head.spentCount++;
    head.version = (head.version + 1) >>> 0;
    const dueNow = deleteAtHeightOf(head, this.#work.height, this.#work.retention);
    if (dueNow !== due) head.deleteAtHeight = dueNow;
    return true;
  }

  /** The record there is one that was changed. */
  #note(place: number, due: number): void {
    const mask = this.#table.length - 1;
    for (let at = Math.imul(place, 0x9e37_79b1) >>> 7; ; at++) {
      const known = this.#table[at & mask];
      if (known !== 0 && this.#changed[known - 1] === place) return;
      if (known !== 0) continue;
      this.#changed[this.#changedCount] = place;
      this.#dueBefore[this.#changedCount] = due;
      this.#table[at & mask] = ++this.#changedCount;
      return;
    }
  }

  /** Everything is as it was. */
  undo(): void {
    const head = this.#head;
    for (let n = 0; n < this.#count; n++) {
      this.#rows.bytes.fill(0, this.#slots[n], this.#slots[n] + SLOT_BYTES);
      head.at = this.#places[n];
      head.spentCount--;
      head.version = (head.version - 1) >>> 0;
    }
    for (let n = 0; n < this.#changedCount; n++) {
      head.at = this.#changed[n];
      head.deleteAtHeight = heightOf(this.#dueBefore[n]);
    }
  }

  write(batch: Batch, totals: TxTotals): void {
    const [head, rows] = [this.#head, this.#rows];
    for (let n = 0; n < this.#changedCount; n++) {
      const at = this.#changed[n];
      const idAt = at - ENTRY_HEAD_BYTES;
      putRow(batch, rows.bytes, idAt, rows.bytes.subarray(at, at + rows.lengthAt(at)));
      head.at = at;
      moveDue(batch, rows.bytes, idAt, heightOf(this.#dueBefore[n]), head.deleteAtHeight, rows.bytes, at);
    }
    putTotals(batch, totals);
  }
}

function heightOf(due: number): number | null {
  return due === NOT_DUE ? null : due;
}

function guarded(
  txId: Uint8Array,
  { isCreating, isConflicting, isLocked, coinbaseSpendableAt }: RecordHead,
): Parameters<typeof checkParent>[0] {
  return { txId, isCreating, isConflicting, isLocked, coinbaseSpendableAt };
}
