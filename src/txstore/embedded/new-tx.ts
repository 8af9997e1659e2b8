/** A transaction that is new to the embedded store, as the bytes of its record. */
import { writeU16, writeU32 } from '../../util/bytes.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import type { TxSlot } from '../records.ts';
import { checkNewRecord, coinbaseSpendableAt, newSlotState, unminedSinceOf } from '../rules/new-record.ts';
import type { NewStoredTx } from '../store.ts';
import {
  BLOCK_BYTES,
  bodyBytes,
  FLAG,
  HEAD,
  HEAD_BYTES,
  NO_SLOT,
  SLOT_BYTES,
  SLOT_STATES,
  UNSPENT,
  writeInputs,
  writeLists,
} from './codec.ts';
import type { LoadedTx, SlotPage } from './loaded-tx.ts';
import { smallOutputsBytes, writeSmallOutputs } from './outputs.ts';
import { RecordBytes } from './record-bytes.ts';
import type { RowRoom } from './row-room.ts';

const NONE: readonly never[] = [];

/** Throws INVALID_PARAM. */
export function newTx(tx: NewStoredTx, height: number, room: RowRoom): LoadedTx {
  const { txId, outputs } = tx;
  const smallBytes = smallOutputsBytes(outputs);
  const length = newRowBytes(tx, smallBytes);
  const at = room.take(length);
  writeNewRow(room.bytes, at, tx, height, smallBytes);
  return {
    txId,
    state: new RecordBytes(txId, room.bytes, at, at + length),
    before: null,
    pages: outputs.length <= TX_PAGE_SLOTS ? null : newPages(tx),
    outputs: smallBytes === null ? outputs : null,
    isChanged: true,
    isDeleted: false,
  };
}

/** `smallBytes`: what `smallOutputsBytes` says. */
export function newRowBytes({ inputs, outputs, blocks }: NewStoredTx, smallBytes: number | null): number {
  return HEAD_BYTES + BLOCK_BYTES * (blocks?.length ?? 0) + bodyBytes(outputs.length, inputs.length) + (smallBytes ?? 0);
}

/**
 * The row of a new record, into bytes that are 0. Returns the height at which the best chain has it; null: it has not.
 * Throws INVALID_PARAM.
 */
export function writeNewRow(to: Uint8Array, at: number, tx: NewStoredTx, height: number, smallBytes: number | null): number | null {
  const { inputs, outputs, blocks } = tx;
  const minedAt = checkNewRecord(tx, height);
  writeHead(to, at, tx, minedAt, height, smallBytes === null);
  if (blocks !== undefined) writeLists(to, at, { blocks, conflictingChildren: NONE, reassigned: NONE });
  const slotsAt = at + HEAD_BYTES + BLOCK_BYTES * (blocks?.length ?? 0);
  writeU32(to, at + HEAD.spendable, writeFirstSlots(to, slotsAt, tx));
  const outputsAt = writeInputs(to, slotsAt + bodyBytes(outputs.length, 0), inputs);
  if (smallBytes !== null) writeSmallOutputs(to, outputsAt, outputs);
  return minedAt;
}

/** All of it but the lengths of lists and `spendable`. */
function writeHead(to: Uint8Array, at: number, tx: NewStoredTx, minedAt: number | null, height: number, hasOutputRows: boolean): void {
  const unminedSince = unminedSinceOf(minedAt, height);
  const spendableAt = coinbaseSpendableAt(tx, minedAt, height);
  const flags =
    (tx.isConflicting ? FLAG.isConflicting : 0) |
    (tx.isLocked ? FLAG.isLocked : 0) |
    (tx.isCreating ? FLAG.isCreating : 0) |
    (tx.isCoinbase ? FLAG.isCoinbase : 0) |
    (unminedSince === null ? 0 : FLAG.unminedSince) |
    (spendableAt === null ? 0 : FLAG.coinbaseSpendableAt) |
    (hasOutputRows ? FLAG.hasOutputRows : 0);
  writeU16(to, at + HEAD.flags, flags);
  if (unminedSince !== null) writeU32(to, at + HEAD.unminedSince, unminedSince);
  if (spendableAt !== null) writeU32(to, at + HEAD.coinbaseSpendableAt, spendableAt);
  writeU32(to, at + HEAD.outputCount, tx.outputs.length);
  writeU32(to, at + HEAD.inputCount, tx.inputs.length);
}

/** Those behind the first, by number. */
function newPages(tx: NewStoredTx): SlotPage[] {
  const pages: SlotPage[] = [];
  for (let first = TX_PAGE_SLOTS; first < tx.outputs.length; first += TX_PAGE_SLOTS) {
    const bytes = new Uint8Array(bodyBytes(tx.outputs.length - first, 0));
    writeNewSlots(bytes, 0, tx, first);
    pages[first / TX_PAGE_SLOTS] = { bytes, at: 0, isChanged: true };
  }
  return pages;
}

/** The first page of slots. Returns how many outputs of all pages can ever be spent. */
function writeFirstSlots(to: Uint8Array, at: number, tx: NewStoredTx): number {
  let spendable = 0;
  for (let index = 0; index < tx.outputs.length; index++) {
    const state = newSlotState(tx, index);
    if (state !== null) spendable++;
    if (index < TX_PAGE_SLOTS) to[at + SLOT_BYTES * index] = slotByte(state);
  }
  return spendable;
}

/** A further page of slots, which begins with output `first`; the bytes are 0. */
function writeNewSlots(to: Uint8Array, at: number, tx: NewStoredTx, first: number): void {
  for (let n = 0; n < TX_PAGE_SLOTS && first + n < tx.outputs.length; n++) to[at + SLOT_BYTES * n] = slotByte(newSlotState(tx, first + n));
}

function slotByte(state: TxSlot['state'] | null): number {
  if (state === 'unspent') return UNSPENT;
  return state === null ? NO_SLOT : SLOT_STATES.indexOf(state);
}
