/**
 * Records in memory: the head as values, the rest as the bytes that are stored.
 * The bytes belong to the unit that loads them: they are changed in place, and
 * nothing else holds them.
 */
import type { Reader } from '../../engine/engine.ts';
import { OUTPOINT_BYTES, type Outpoint } from '../../ledgers/outpoint.ts';
import { distinctIds } from '../../util/id-map.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import { type NewTxState, newSlotState, newTxState } from '../rules/new-record.ts';
import { txRefusal } from '../rules/refusals.ts';
import type { NewStoredTx } from '../store.ts';
import { bodyBytes, checkBody, headBytes, NO_SLOT, readState, SLOT_BYTES, SLOT_STATES, type TxState, writeInputs } from './codec.ts';
import { pageKey, TX_PAGE, TX_RECORD } from './columns.ts';
import { smallOutputsBytes, writeSmallOutputs } from './outputs.ts';
import type { TxCache } from './tx-cache.ts';

export interface LoadedTx {
  readonly txId: Uint8Array;
  readonly state: TxState;
  /** What its index keys follow from, as it is stored; null: it is new. */
  readonly before: IndexedState | null;
  /** The first page of slots, inputs and small outputs are in here, one behind the other, up to `end`. */
  readonly bytes: Uint8Array;
  readonly slotsAt: number;
  readonly outputsAt: number;
  readonly end: number;
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

/** Reads records together, from the cache where they are there, into memory that they share. */
export function loadTxs(
  reader: Reader,
  cache: TxCache | null,
  txIds: readonly Uint8Array[],
  take: (n: number, tx: LoadedTx | null) => void,
): void {
  const rows = cache?.rows;
  const [known, unknown]: [number[], Uint8Array[]] = [[], []];
  let total = 0;
  for (const txId of txIds) {
    const at = rows?.find(txId) ?? -1;
    known.push(at);
    if (at < 0) unknown.push(txId);
    else total += rows!.lengthAt(at);
  }
  const found = unknown.length === 0 ? [] : reader.getMany(TX_RECORD, unknown);
  for (const row of found) total += row?.length ?? 0;
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
  // Only now: to put one in may end another whose place is still needed.
  for (const [n, row] of found.entries()) if (row !== undefined) rows?.put(unknown[n], row, 0, row.length);
}

/** `isUnchecked`: the bytes come from the disk. Throws STORE_DAMAGED. */
export function loadedTx(txId: Uint8Array, bytes: Uint8Array, at: number, length: number, isUnchecked: boolean): LoadedTx {
  const state = readState(txId, bytes, at, length);
  const slotsAt = at + headBytes(state);
  if (isUnchecked) checkBody(state, bytes, slotsAt, at + length);
  const { deleteAtHeight, unminedSince, preserveUntil, isConflicting, version } = state;
  return {
    txId,
    state,
    before: { deleteAtHeight, unminedSince, preserveUntil, isConflicting, version },
    bytes,
    slotsAt,
    outputsAt: slotsAt + bodyBytes(state),
    end: at + length,
    pages: null,
    outputs: null,
    isChanged: false,
    isDeleted: false,
  };
}

/** Throws INVALID_PARAM. */
export function newRow(tx: NewStoredTx, height: number): LoadedTx {
  const { txId, inputs, outputs } = tx;
  const smallBytes = smallOutputsBytes(outputs);
  const state = newState(newTxState(tx, height), tx, smallBytes === null);
  const outputsAt = bodyBytes(state);
  const bytes = new Uint8Array(outputsAt + (smallBytes ?? 0));
  writeNewSlots(bytes, tx, 0);
  writeInputs(bytes, outputsAt - OUTPOINT_BYTES * inputs.length, inputs);
  if (smallBytes !== null) writeSmallOutputs(bytes, outputsAt, outputs);
  const pages: SlotPage[] | null = outputs.length <= TX_PAGE_SLOTS ? null : [];
  for (let first = TX_PAGE_SLOTS; first < outputs.length; first += TX_PAGE_SLOTS) pages![first / TX_PAGE_SLOTS] = newPage(tx, first);
  return {
    txId,
    state,
    before: null,
    bytes,
    slotsAt: 0,
    outputsAt,
    end: bytes.length,
    pages,
    outputs: smallBytes === null ? outputs : null,
    isChanged: true,
    isDeleted: false,
  };
}

/** Field by field: to spread a record takes longer than to write one. */
function newState(state: NewTxState, { inputs, outputs }: NewStoredTx, hasOutputRows: boolean): TxState {
  return {
    txId: state.txId,
    isConflicting: state.isConflicting,
    isLocked: state.isLocked,
    isCreating: state.isCreating,
    isCoinbase: state.isCoinbase,
    hasTombstones: false,
    wasUnspent: false,
    hasOutputRows,
    version: state.version,
    spendable: state.spendable,
    spentCount: state.spentCount,
    unminedSince: state.unminedSince,
    deleteAtHeight: state.deleteAtHeight,
    preserveUntil: state.preserveUntil,
    coinbaseSpendableAt: state.coinbaseSpendableAt,
    outputCount: outputs.length,
    inputCount: inputs.length,
    blocks: state.blocks,
    conflictingChildren: state.conflictingChildren,
    reassigned: [],
  };
}

function newPage(tx: NewStoredTx, first: number): SlotPage {
  const bytes = new Uint8Array(SLOT_BYTES * Math.min(TX_PAGE_SLOTS, tx.outputs.length - first));
  writeNewSlots(bytes, tx, first);
  return { bytes, at: 0, isChanged: true };
}

/** The page of slots that begins with output `first`. */
function writeNewSlots(to: Uint8Array, tx: NewStoredTx, first: number): void {
  for (let n = 0; n < TX_PAGE_SLOTS && first + n < tx.outputs.length; n++) {
    const state = newSlotState(tx, first + n);
    to[SLOT_BYTES * n] = state === null ? NO_SLOT : SLOT_STATES.indexOf(state);
  }
}

export function pageCount({ outputCount }: Pick<TxState, 'outputCount'>): number {
  return Math.ceil(outputCount / TX_PAGE_SLOTS);
}

export function distinctParents(inputs: readonly Outpoint[]): Uint8Array[] {
  return distinctIds(inputs.map(({ txId }) => txId));
}

/** Throws STORE_DAMAGED. */
export function slotPage(reader: Reader, tx: LoadedTx, number: number): SlotPage {
  if (number === 0) return { bytes: tx.bytes, at: tx.slotsAt, isChanged: tx.isChanged };
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
