/**
 * One atomic change of the embedded transaction store: records are loaded and
 * changed in memory, and written with all their index keys in one batch when the
 * whole call has succeeded. A record that is changed leaves its old place in an
 * index and takes the new one in that batch, so that an index never disagrees
 * with the records.
 */
import type { Batch, Reader } from '../../engine/engine.ts';
import { compareBytes, equalBytes, readU32, toHex, writeU32 } from '../../util/bytes.ts';
import { prefixEnd } from '../../util/key-range.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import type { TxRecord, TxSlot } from '../records.ts';
import { deleteAtHeightOf } from '../rules/deletion.ts';
import { needsParents } from '../rules/mining.ts';
import { txRefusal } from '../rules/refusals.ts';
import type { TxStoreSettings } from '../store.ts';
import { decodeSlots, decodeTx, encodeOutputs, encodeSlots, encodeTx, type SlotPage, type TxState } from './codec.ts';
import {
  heightKey,
  pageKey,
  pairKey,
  TX_DUE,
  TX_OUTPUT,
  TX_PAGE,
  TX_PRESERVED,
  TX_RECORD,
  TX_REFERENCE,
  TX_TOMBSTONE,
  TX_UNMINED,
} from './columns.ts';

/** A record in memory. */
export interface LoadedTx {
  readonly txId: Uint8Array;
  state: TxState;
  /** As it is stored; null: it is new. */
  readonly before: TxState | null;
  /** By number; those that were not needed are not there. */
  readonly pages: SlotPage[];
  readonly changedPages: Set<number>;
  /** Of a new record. */
  readonly outputs: TxRecord['outputs'] | null;
  isChanged: boolean;
  isDeleted: boolean;
}

export class TxUnit {
  /** Of the chain. A unit that takes in several blocks moves it from one to the next. */
  height: number;
  readonly #reader: Reader;
  readonly #settings: TxStoreSettings;
  readonly #loaded = new Map<string, LoadedTx | undefined>();
  readonly #tombstones: (readonly [parent: Uint8Array, child: Uint8Array, height: number])[] = [];

  constructor(reader: Reader, settings: TxStoreSettings, height: number) {
    this.#reader = reader;
    this.#settings = settings;
    this.height = height;
  }

  /** Reads those that are not loaded yet together. */
  load(txIds: readonly Uint8Array[]): void {
    const wanted = new Map<string, Uint8Array>();
    for (const txId of txIds) {
      const key = toHex(txId);
      if (!this.#loaded.has(key)) wanted.set(key, txId);
    }
    const rows = this.#reader.getMany(TX_RECORD, [...wanted.values()]);
    for (const [n, [key, txId]] of [...wanted].entries()) this.#loaded.set(key, loadedTx(txId, rows[n]));
  }

  find(txId: Uint8Array): LoadedTx | undefined {
    const key = toHex(txId);
    if (!this.#loaded.has(key)) this.load([txId]);
    const tx = this.#loaded.get(key);
    return tx?.isDeleted ? undefined : tx;
  }

  /** Throws TX_NOT_FOUND. */
  need(txId: Uint8Array): LoadedTx {
    const tx = this.find(txId);
    if (tx === undefined) throw txRefusal.notFound([txId]);
    return tx;
  }

  /** Throws TX_NOT_FOUND with all that are missing. */
  needAll(txIds: readonly Uint8Array[]): readonly LoadedTx[] {
    this.load(txIds);
    const missing = txIds.filter((txId) => this.find(txId) === undefined);
    if (missing.length > 0) throw txRefusal.notFound(missing);
    return txIds.map((txId) => this.need(txId));
  }

  create(record: TxRecord): LoadedTx {
    const { txId, outputs, tombstones: _, ...rest } = record;
    const slots = outputs.map(({ slot }) => slot);
    const pages: SlotPage[] = [slots.slice(0, TX_PAGE_SLOTS)];
    for (let at = TX_PAGE_SLOTS; at < slots.length; at += TX_PAGE_SLOTS) pages.push(slots.slice(at, at + TX_PAGE_SLOTS));
    const tx: LoadedTx = {
      txId,
      state: { ...rest, outputCount: outputs.length },
      before: null,
      pages,
      changedPages: new Set(pages.keys()),
      outputs,
      isChanged: true,
      isDeleted: false,
    };
    this.#loaded.set(toHex(txId), tx);
    return tx;
  }

  delete(tx: LoadedTx): void {
    tx.isDeleted = true;
    tx.isChanged = true;
  }

  /** And decides anew when it may be deleted. */
  change(tx: LoadedTx, part: Partial<TxState>): void {
    Object.assign(tx.state, part);
    const deleteAtHeight = deleteAtHeightOf(tx.state, this.height, this.#settings.retention);
    Object.assign(tx.state, { deleteAtHeight, version: (tx.before?.version ?? 0) + 1 });
    tx.isChanged = true;
  }

  /** Undefined: the transaction has no such output. */
  slot(tx: LoadedTx, index: number): TxSlot | null | undefined {
    return index < tx.state.outputCount ? this.page(tx, Math.floor(index / TX_PAGE_SLOTS))[index % TX_PAGE_SLOTS] : undefined;
  }

  setSlot(tx: LoadedTx, index: number, slot: TxSlot): void {
    const number = Math.floor(index / TX_PAGE_SLOTS);
    const page = this.page(tx, number);
    const wasSpent = page[index % TX_PAGE_SLOTS]?.state === 'spent';
    page[index % TX_PAGE_SLOTS] = slot;
    tx.changedPages.add(number);
    this.change(tx, { spentCount: tx.state.spentCount + (slot.state === 'spent' ? 1 : 0) - (wasSpent ? 1 : 0) });
  }

  page(tx: LoadedTx, number: number): SlotPage {
    const known = tx.pages[number];
    if (known !== undefined) return known;
    const page = readSlotPage(this.#reader, tx.txId, number, tx.state.outputCount);
    tx.pages[number] = page;
    return page;
  }

  /** Every transaction that a slot names, on whichever page, once, by id. */
  children(tx: LoadedTx): Uint8Array[] {
    const found = new Map<string, Uint8Array>();
    for (let number = 0; number < pageCount(tx.state); number++) {
      for (const slot of this.page(tx, number)) if (slot?.spender) found.set(toHex(slot.spender.txId), slot.spender.txId);
    }
    return [...found.values()].sort(compareBytes);
  }

  /** At which height the child was pruned; null: it was not. */
  tombstoneHeight(parent: Uint8Array, child: Uint8Array): number | null {
    const row = this.#reader.get(TX_TOMBSTONE, pairKey(parent, child));
    return row === undefined ? null : readU32(row, 0);
  }

  hasTombstone(parent: Uint8Array, child: Uint8Array): boolean {
    return this.tombstoneHeight(parent, child) !== null;
  }

  addTombstone(parent: Uint8Array, child: Uint8Array): void {
    this.#tombstones.push([parent, child, this.height]);
  }

  /** Distinct, those that are there. */
  parents(tx: LoadedTx): LoadedTx[] {
    return distinctParents(tx.state).flatMap((txId) => this.find(txId) ?? []);
  }

  joinParents(tx: LoadedTx): void {
    for (const parent of this.parents(tx)) {
      const others = parent.state.conflictingChildren.filter((txId) => !equalBytes(txId, tx.txId));
      setList(parent, [...others, tx.txId].sort(compareBytes));
    }
  }

  leaveParents(tx: LoadedTx): void {
    for (const parent of this.parents(tx)) {
      const others = parent.state.conflictingChildren.filter((txId) => !equalBytes(txId, tx.txId));
      if (others.length < parent.state.conflictingChildren.length) setList(parent, others);
    }
  }

  /** Puts all changes into the batch. Returns how many records there are more, or fewer, than before. */
  write(batch: Batch): number {
    let added = 0;
    for (const tx of this.#loaded.values()) {
      if (tx === undefined || !tx.isChanged || (tx.isDeleted && tx.before === null)) continue;
      if (tx.isDeleted) this.#writeDeleted(batch, tx);
      else writeChanged(batch, tx);
      writeIndexes(batch, tx);
      added += (tx.isDeleted ? 0 : 1) - (tx.before === null ? 0 : 1);
    }
    const value = new Uint8Array(4);
    for (const [parent, child, height] of this.#tombstones) {
      writeU32(value, 0, height);
      batch.put(TX_TOMBSTONE, pairKey(parent, child), value);
    }
    return added;
  }

  #writeDeleted(batch: Batch, { txId, state }: LoadedTx): void {
    batch.del(TX_RECORD, txId);
    for (let number = 0; number < pageCount(state); number++) {
      if (number > 0) batch.del(TX_PAGE, pageKey(txId, number));
      batch.del(TX_OUTPUT, pageKey(txId, number));
    }
    for (const [key] of this.#reader.scan(TX_TOMBSTONE, { gte: txId, lt: prefixEnd(txId, txId.length) })) batch.del(TX_TOMBSTONE, key);
  }
}

/** No decision rests on the list, so that the version stays. */
function setList(tx: LoadedTx, conflictingChildren: readonly Uint8Array[]): void {
  Object.assign(tx.state, { conflictingChildren });
  tx.isChanged = true;
}

export function pageCount({ outputCount }: TxState): number {
  return Math.ceil(outputCount / TX_PAGE_SLOTS);
}

/** A page but the first, which stands in the record. Throws STORE_DAMAGED. */
export function readSlotPage(reader: Reader, txId: Uint8Array, number: number, outputCount: number): SlotPage {
  const row = reader.get(TX_PAGE, pageKey(txId, number));
  if (row === undefined) throw txRefusal.damaged(txId, `has no page ${number} of slots`);
  return decodeSlots(row, Math.min(TX_PAGE_SLOTS, outputCount - number * TX_PAGE_SLOTS));
}

export function distinctParents({ inputs }: Pick<TxState, 'inputs'>): Uint8Array[] {
  return [...new Map(inputs.map(({ txId }) => [toHex(txId), txId])).values()];
}

function loadedTx(txId: Uint8Array, row: Uint8Array | undefined): LoadedTx | undefined {
  if (row === undefined) return undefined;
  const { state, slots } = decodeTx(row, TX_PAGE_SLOTS);
  const before = { ...state };
  return { txId, state, before, pages: [slots], changedPages: new Set(), outputs: null, isChanged: false, isDeleted: false };
}

function writeChanged(batch: Batch, { txId, state, pages, changedPages, outputs }: LoadedTx): void {
  batch.put(TX_RECORD, txId, encodeTx(state, pages[0]));
  for (const number of changedPages) if (number > 0) batch.put(TX_PAGE, pageKey(txId, number), encodeSlots(pages[number]));
  if (outputs === null) return;
  for (let number = 0; number * TX_PAGE_SLOTS < outputs.length; number++) {
    const page = outputs.slice(number * TX_PAGE_SLOTS, (number + 1) * TX_PAGE_SLOTS);
    batch.put(TX_OUTPUT, pageKey(txId, number), encodeOutputs(page));
  }
}

const EMPTY = new Uint8Array();

/** The keys by which a record is found, from what it was to what it is. */
function writeIndexes(batch: Batch, { txId, state, before, isDeleted }: LoadedTx): void {
  const after = isDeleted ? null : state;
  const move = (column: string, from: number | null | undefined, to: number | null | undefined): void => {
    if (from === to) return;
    if (from !== null && from !== undefined) batch.del(column, heightKey(from, txId));
    if (to !== null && to !== undefined) batch.put(column, heightKey(to, txId), EMPTY);
  };
  move(TX_DUE, before?.deleteAtHeight, after?.deleteAtHeight);
  move(TX_UNMINED, before?.unminedSince, after?.unminedSince);
  move(TX_PRESERVED, before?.preserveUntil, after?.preserveUntil);
  const [didNeed, needs] = [before !== null && needsParents(before), after !== null && needsParents(after)];
  if (didNeed === needs) return;
  for (const parent of distinctParents(state)) {
    if (needs) batch.put(TX_REFERENCE, pairKey(parent, txId), EMPTY);
    else batch.del(TX_REFERENCE, pairKey(parent, txId));
  }
}
