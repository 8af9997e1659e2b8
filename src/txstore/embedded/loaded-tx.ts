/**
 * Records in memory, as a unit has them: read together, from what is at hand
 * where it is there, into bytes that belong to the unit and are changed in place.
 */
import type { Reader } from '../../engine/engine.ts';
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { distinctIds } from '../../util/id-map.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import { txRefusal } from '../rules/refusals.ts';
import type { NewStoredTx } from '../store.ts';
import { SLOT_BYTES, type TxState } from './codec.ts';
import { pageKey, TX_PAGE, TX_RECORD } from './columns.ts';
import { idKeys } from './id-keys.ts';
import { RecordBytes } from './record-bytes.ts';
import type { TxCache } from './tx-cache.ts';

export interface LoadedTx {
  readonly txId: Uint8Array;
  readonly state: RecordBytes;
  /** What its index keys follow from, as it is stored; null: it is new. */
  readonly before: IndexedState | null;
  /** Pages of slots but the first, by number; null: none was needed. */
  pages: SlotPage[] | null;
  /** Of a new record with rows of outputs. */
  readonly outputs: NewStoredTx['outputs'] | null;
  isChanged: boolean;
  isDeleted: boolean;
}

export type IndexedState = Pick<TxState, 'deleteAtHeight' | 'unminedSince' | 'preserveUntil' | 'isConflicting' | 'version'>;

/** Page 0 is in the record and changes with it. */
export interface SlotPage {
  readonly bytes: Uint8Array;
  readonly at: number;
  isChanged: boolean;
}

/** `isLast`: what is read does not stay at hand. `take` is given null where there is no record. Throws STORE_DAMAGED. */
export function loadTxs(
  reader: Reader,
  cache: TxCache | null,
  txIds: readonly Uint8Array[],
  isLast: boolean,
  take: (n: number, tx: LoadedTx | null) => void,
): void {
  const rows = cache?.rows;
  const known = rows?.findAll(txIds) ?? new Int32Array(txIds.length).fill(-1);
  const unknown: Uint8Array[] = [];
  let total = 0;
  for (let n = 0; n < txIds.length; n++) {
    const at = known[n];
    if (at < 0) unknown.push(txIds[n]);
    else total += rows!.lengthAt(at);
  }
  const found = unknown.length === 0 ? [] : reader.getMany(TX_RECORD, idKeys(unknown));
  for (const row of found) if (row !== undefined) total += row.length;
  // Copies: a change that fails must leave the cache as it is, and the engine in memory gives its own bytes.
  const bytes = new Uint8Array(total);
  let [end, next] = [0, 0];
  for (let n = 0; n < txIds.length; n++) {
    const at = known[n];
    const row = at < 0 ? found[next++] : undefined;
    const length = at < 0 ? (row?.length ?? 0) : rows!.lengthAt(at);
    if (row !== undefined) bytes.set(row, end);
    else if (length > 0) bytes.set(rows!.bytes.subarray(at, at + length), end);
    take(n, length === 0 ? null : loadedTx(txIds[n], bytes, end, length, at < 0));
    end += length;
  }
  if (isLast) return;
  // Only now: to put one in may end another whose place is still needed.
  for (let n = 0; n < unknown.length; n++) {
    const row = found[n];
    if (row !== undefined) rows?.put(unknown[n], row);
  }
}

/** `isUnchecked`: the bytes come from the disk. Throws STORE_DAMAGED. */
export function loadedTx(txId: Uint8Array, bytes: Uint8Array, at: number, length: number, isUnchecked: boolean): LoadedTx {
  const state = new RecordBytes(txId, bytes, at, at + length);
  if (isUnchecked) state.check();
  const { deleteAtHeight, unminedSince, preserveUntil, isConflicting, version } = state;
  const before = { deleteAtHeight, unminedSince, preserveUntil, isConflicting, version };
  return { txId, state, before, pages: null, outputs: null, isChanged: false, isDeleted: false };
}

export function pageCount({ outputCount }: Pick<TxState, 'outputCount'>): number {
  return Math.ceil(outputCount / TX_PAGE_SLOTS);
}

export function distinctParents(inputs: readonly Outpoint[]): Uint8Array[] {
  return distinctIds(inputs.map(({ txId }) => txId));
}

/** Throws STORE_DAMAGED. */
export function slotPage(reader: Reader, tx: LoadedTx, number: number): SlotPage {
  if (number === 0) return { bytes: tx.state.bytes, at: tx.state.slotsAt, isChanged: tx.isChanged };
  const known = tx.pages?.[number];
  if (known !== undefined) return known;
  const row = reader.get(TX_PAGE, pageKey(tx.txId, number));
  if (row === undefined) throw txRefusal.damaged(tx.txId, `has no page ${number} of slots`);
  const slots = Math.min(TX_PAGE_SLOTS, tx.state.outputCount - number * TX_PAGE_SLOTS);
  if (row.length !== SLOT_BYTES * slots) throw txRefusal.damaged(tx.txId, `has a page ${number} of ${row.length} bytes`);
  const page: SlotPage = { bytes: Uint8Array.prototype.slice.call(row), at: 0, isChanged: false };
  tx.pages ??= [];
  tx.pages[number] = page;
  return page;
}
