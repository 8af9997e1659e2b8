/**
 * One step of a prune pass, where what it needs is at hand: the next rows of the
 * index of what is due are decided on and deleted in one turn, as bytes, and no
 * object is made for a record. It decides by the rules that all stores share.
 * Whatever is out of the ordinary is left to be judged as everywhere (chunk.ts):
 * so both decide alike.
 *
 * A parent that stays is written again, with a tombstone. Many of those are due
 * themselves, further on in the index: they are decided on at once and go along,
 * so that nothing is written for them first.
 */
import type { Batch, Engine, Row } from '../../engine/engine.ts';
import { OUTPOINT_BYTES, TXID_BYTES } from '../../ledgers/outpoint.ts';
import { readU32 } from '../../util/bytes.ts';
import { isUnspentError } from '../../util/errors.ts';
import { isSameId } from '../../util/id-map.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import type { DueParent, PruneCursor } from '../prune-store.ts';
import { isDeep } from '../rules/stability.ts';
import { type PruneHeights, reasonOfRecord } from '../rules/verdict.ts';
import { bodyBytes, HEAD_BYTES, NO_SLOT, REASSIGNED, SLOT_BYTES, SPENT } from './codec.ts';
import { HEIGHT_BYTES, readHeightKey, TX_RECORD } from './columns.ts';
import { DueRow } from './due-row.ts';
import { idKeys } from './id-keys.ts';
import { loadedTx } from './loaded-tx.ts';
import { GONE, UNKNOWN } from './mined-heights.ts';
import { isPrunedSpender, rowWithPruned } from './pruned-slots.ts';
import { RecordHead } from './record-head.ts';
import { NO_ROW, RowTable } from './row-table.ts';
import { putTotals, type TxTotals } from './totals.ts';
import type { TxCache } from './tx-cache.ts';
import { deleteRow, moveDue, putRow } from './write.ts';

/** Records with more are left to be judged. */
const INPUTS_MAX = 64;
/** So many times as many as were asked for go at once. */
const GOING_MAX = 2;

export interface PruneStep {
  readonly engine: Engine;
  readonly cache: TxCache;
  readonly heights: PruneHeights;
  /** Of the state that is read. */
  readonly totals: TxTotals;
  /** Rows of the index that are looked at. */
  readonly limit: number;
}

/** Its bytes are used again: one step comes after the other. */
const table = new RowTable();
const idScratch = new Uint8Array(TXID_BYTES);

export class PruneInPlace {
  readonly #step: PruneStep;
  readonly #head = new RecordHead(table.bytes, 0);
  /** The last row that was looked at. */
  #lastKey: Uint8Array | null = null;
  count = 0;
  readonly others: DueParent[] = [];
  /** Numbers of those that are to be deleted. */
  readonly #going: number[] = [];
  /** By number: it is to be deleted. */
  readonly #isGoing: boolean[] = [];
  /** Of each that goes, its parents that may be there: numbers. */
  readonly #children: number[] = [];
  readonly #parents: number[] = [];
  /** Tombstones: the number of the record, and the slot. */
  readonly #tombstones: { readonly of: number; readonly slot: number }[] = [];
  childrenRead = 0;
  parentsMissing = 0;
  /** A parent of one that goes does not decode: the pass finds out whose (chunk.ts). */
  #isDamaged = false;

  constructor(step: PruneStep) {
    this.#step = step;
  }

  /** Reads and decides; nothing is changed. */
  decide(due: Iterable<Row>): void {
    table.clear();
    const rows = [...due];
    this.count = rows.length;
    this.#lastKey = rows.at(-1)?.[0] ?? null;
    const read = rows.map(([key, facts]) => table.add(key, HEIGHT_BYTES, facts));
    const hasRecord = (n: number): boolean => this.#isOf(n, readU32(rows[n][0], 0));
    let going = this.#thatMayGo(read.filter(hasRecord));
    while (going.length > 0) {
      for (const n of going) this.#isGoing[n] = true;
      // Those that were read as parents can be found already.
      for (const n of going) if (n < rows.length) table.enter(n);
      this.#going.push(...going);
      const parents = this.#parentsOf(going);
      this.#readRows(parents);
      const isFull = this.#going.length >= GOING_MAX * this.#step.limit;
      going = isFull ? [] : this.#thatMayGo(parents.filter((n) => this.#isAhead(n)));
    }
    if (this.#isDamaged || !this.#findTombstones()) this.#giveUp();
    const { mark } = this.#step.totals;
    for (const n of read) if (this.#isGoing[n] !== true) this.others.push(otherRow(rows[n], mark));
  }

  get last(): PruneCursor | null {
    return this.#lastKey === null ? null : readHeightKey(this.#lastKey);
  }

  get deletes(): boolean {
    return this.#going.length > 0;
  }

  get tombstonesWritten(): number {
    return this.#tombstones.length;
  }

  #giveUp(): void {
    this.#going.length = this.#isGoing.length = this.#tombstones.length = 0;
    this.childrenRead = this.parentsMissing = 0;
  }

  #stand(n: number): RecordHead {
    this.#head.bytes = table.bytes;
    this.#head.at = table.rowAt[n];
    return this.#head;
  }

  /** Whether the row of the index has the record, and is where it belongs. */
  #isOf(n: number, height: number): boolean {
    const end = table.rowEnd[n];
    const head = this.#stand(n);
    if (end - head.at < HEAD_BYTES || head.prunedPlace() > end) return false;
    return head.outputsPlace() === end && head.deleteAtHeight === height;
  }

  /** Whether a record comes later in this pass: what came before was decided on. */
  #isAhead(n: number): boolean {
    const last = this.#lastKey;
    if (last === null || table.rowAt[n] === NO_ROW) return false;
    const due = this.#stand(n).deleteAtHeight;
    const lastDue = readU32(last, 0);
    if (due === null || due !== lastDue) return due !== null && due > lastDue;
    const at = table.idAt[n];
    for (let i = 0; i < TXID_BYTES; i++) {
      const order = table.bytes[at + i] - last[HEIGHT_BYTES + i];
      if (order !== 0) return order > 0;
    }
    return false;
  }

  /** Those for which everything is at hand and says that they may be deleted. */
  #thatMayGo(numbers: readonly number[]): number[] {
    const { heights } = this.#step;
    const [asked, ends, childAt]: [number[], number[], number[]] = [[], [], []];
    for (const n of numbers) {
      const before = childAt.length;
      if (this.#isOrdinary(n, childAt)) {
        asked.push(n);
        ends.push(childAt.length);
      } else childAt.length = before;
    }
    const minedAt = this.#step.cache.heights.getAllAt(table.bytes, childAt);
    this.childrenRead += childAt.length;
    const isStable = (n: number, child: number): boolean => {
      if (minedAt[child] === UNKNOWN) return false;
      if (minedAt[child] === GONE) return this.#hasPruned(n, childAt[child]);
      return isDeep(minedAt[child], heights.requested, heights.window);
    };
    let child = 0;
    return asked.filter((n, i) => {
      let isSo = true;
      for (; child < ends[i]; child++) isSo &&= isStable(n, child);
      return isSo;
    });
  }

  /** With the places of its distinct spenders. */
  #isOrdinary(n: number, childAt: number[]): boolean {
    const { engine, cache, heights } = this.#step;
    const head = this.#stand(n);
    if (reasonOfRecord(head, heights.allowed) !== null || head.isConflicting || head.unminedSince !== null) return false;
    if (head.hasTombstones || head.hasOutputRows || head.outputCount > TX_PAGE_SLOTS || head.inputCount > INPUTS_MAX) return false;
    if (cache.loadReferences(engine).mayHave(table.bytes, table.idAt[n])) return false;
    const { bytes } = table;
    const first = childAt.length;
    const slots = head.slotsPlace();
    const end = slots + bodyBytes(head.outputCount, 0);
    for (let slot = slots; slot < end; slot += SLOT_BYTES) {
      const state = bytes[slot] & ~REASSIGNED;
      if (state === SPENT) pushId(bytes, childAt, first, slot + 1);
      else if (state !== NO_SLOT) return false;
    }
    return true;
  }

  /** Whether the record says that a pass has deleted the spender that stands there. */
  #hasPruned(n: number, childAt: number): boolean {
    const head = this.#stand(n);
    return head.hasPruned && isPrunedSpender(table.bytes, head.prunedPlace(), head.slotsPlace(), table.bytes, childAt);
  }

  /** Those that were not known before. */
  #parentsOf(going: readonly number[]): number[] {
    const [children, parentAt, unread]: [number[], number[], number[]] = [[], [], []];
    for (const n of going) {
      const head = this.#stand(n);
      const first = parentAt.length;
      const inputs = head.slotsPlace() + bodyBytes(head.outputCount, 0);
      for (let input = 0; input < head.inputCount; input++) pushId(table.bytes, parentAt, first, inputs + OUTPOINT_BYTES * input);
      while (children.length < parentAt.length) children.push(n);
    }
    const minedAt = this.#step.cache.heights.getAllAt(table.bytes, parentAt);
    for (let i = 0; i < parentAt.length; i++) {
      if (minedAt[i] === GONE) {
        this.parentsMissing++;
        continue;
      }
      let parent = table.find(parentAt[i]);
      if (parent < 0) {
        parent = table.addId(parentAt[i]);
        unread.push(parent);
      }
      this.#children.push(children[i]);
      this.#parents.push(parent);
    }
    return unread;
  }

  #readRows(numbers: readonly number[]): void {
    const { rows } = this.#step.cache;
    const places = rows.findAllAt(
      table.bytes,
      numbers.map((n) => table.idAt[n]),
    );
    const unknown: number[] = [];
    for (const [i, n] of numbers.entries()) {
      if (places[i] < 0) unknown.push(n);
      else if (rows.lengthAt(places[i]) > 0) table.setRow(n, rows.bytes, places[i], rows.lengthAt(places[i]));
    }
    if (unknown.length === 0) return;
    const txIds = unknown.map((n) => table.bytes.subarray(table.idAt[n], table.idAt[n] + TXID_BYTES));
    const found = this.#step.engine.getMany(TX_RECORD, idKeys(txIds));
    for (const [i, n] of unknown.entries()) {
      const row = found[i];
      if (row === undefined) continue;
      if (!isWhole(txIds[i], row)) {
        this.#isDamaged = true;
        return;
      }
      table.setRow(n, row, 0, row.length);
    }
  }

  /** In the parents that stay. False: one of them is out of the ordinary. */
  #findTombstones(): boolean {
    for (const [i, parent] of this.#parents.entries()) {
      if (this.#isGoing[parent] === true) continue;
      if (table.rowAt[parent] === NO_ROW) {
        this.parentsMissing++;
        continue;
      }
      const head = this.#stand(parent);
      if (head.hasLosers || head.outputCount > TX_PAGE_SLOTS) return false;
      const slot = slotHeldBy(head, table.idAt[this.#children[i]]);
      if (slot !== null) this.#tombstones.push({ of: parent, slot });
    }
    return true;
  }

  /** Returns the ids of what is deleted. */
  write(batch: Batch, mark: number): Uint8Array[] {
    const { cache, heights, totals } = this.#step;
    // First of all: if this ends half-way, what is at hand is not that of the store any more.
    cache.written(mark);
    const places = this.#going.map((n) => table.idAt[n]);
    for (const n of this.#going) moveDue(batch, table.bytes, table.idAt[n], this.#stand(n).deleteAtHeight, null, null);
    for (const at of places) deleteRow(batch, table.bytes, at);
    cache.rows.forgetAllAt(table.bytes, places);
    cache.heights.setAllGone(table.bytes, places);
    for (const at of places) cache.ids?.remove(table.bytes, at);
    const tombstones = this.#tombstones.sort((a, b) => a.of - b.of || a.slot - b.slot);
    for (let first = 0, end = 0; first < tombstones.length; first = end) {
      const { of } = tombstones[first];
      while (end < tombstones.length && tombstones[end].of === of) end++;
      this.#rewrite(
        batch,
        of,
        tombstones.slice(first, end).map(({ slot }) => ({ slot, height: heights.requested })),
      );
    }
    putTotals(batch, { records: totals.records - this.#going.length, mark });
    return this.#ids(places);
  }

  #rewrite(batch: Batch, n: number, pruned: Parameters<typeof rowWithPruned>[2]): void {
    const head = this.#stand(n);
    const due = head.deleteAtHeight;
    const idAt = table.idAt[n];
    const row = rowWithPruned(head, table.rowEnd[n], pruned);
    putRow(batch, table.bytes, idAt, row);
    moveDue(batch, table.bytes, idAt, due, due, row);
    idScratch.set(table.bytes.subarray(idAt, idAt + TXID_BYTES));
    this.#step.cache.rows.put(idScratch, row);
  }

  #ids(places: readonly number[]): Uint8Array[] {
    const ids = new Uint8Array(TXID_BYTES * places.length);
    return places.map((at, n) => {
      const end = TXID_BYTES * (n + 1);
      ids.set(table.bytes.subarray(at, at + TXID_BYTES), end - TXID_BYTES);
      return ids.subarray(end - TXID_BYTES, end);
    });
  }
}

function isWhole(txId: Uint8Array, row: Uint8Array): boolean {
  try {
    loadedTx(txId, row, 0, row.length, true);
    return true;
  } catch (error) {
    if (isUnspentError(error, 'STORE_DAMAGED')) return false;
    throw error;
  }
}

function otherRow([key, facts]: Row, mark: number): DueRow {
  const { height, txId } = readHeightKey(key);
  return new DueRow(height, txId, facts, mark);
}

/** Unless it is among those from `first` on. */
function pushId(bytes: Uint8Array, places: number[], first: number, at: number): void {
  for (let n = first; n < places.length; n++) if (isSameId(bytes, places[n], bytes, at)) return;
  places.push(at);
}

/** The first slot of the first page that the transaction holds whose id stands there. */
function slotHeldBy(head: RecordHead, idAt: number): number | null {
  const { bytes } = head;
  for (let slot = 0, at = head.slotsPlace(); slot < head.outputCount; slot++, at += SLOT_BYTES)
    if ((bytes[at] & ~REASSIGNED) === SPENT && isSameId(bytes, at + 1, bytes, idAt)) return slot;
  return null;
}
