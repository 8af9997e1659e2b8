/** A transaction that is new to the embedded store, as the bytes of its record. */
import { writeU16, writeU32 } from '../../util/bytes.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import { type NewTxState, newSlotState, newTxState } from '../rules/new-record.ts';
import type { NewStoredTx } from '../store.ts';
import {
  bodyBytes,
  FLAG,
  HEAD,
  HEAD_BYTES,
  listsBytes,
  NO_SLOT,
  SLOT_BYTES,
  SLOT_STATES,
  type TxLists,
  writeInputs,
  writeLists,
} from './codec.ts';
import type { LoadedTx, SlotPage } from './loaded-tx.ts';
import { smallOutputsBytes, writeSmallOutputs } from './outputs.ts';
import { RecordBytes } from './record-bytes.ts';
import type { RowRoom } from './row-room.ts';

const NONE: TxLists['reassigned'] = [];

/** Throws INVALID_PARAM. */
export function newTx(tx: NewStoredTx, height: number, room: RowRoom): LoadedTx {
  const { txId, inputs, outputs } = tx;
  const state = newTxState(tx, height);
  const smallBytes = smallOutputsBytes(outputs);
  const lists: TxLists = { blocks: state.blocks, conflictingChildren: state.conflictingChildren, reassigned: NONE };
  const slotsAt = HEAD_BYTES + listsBytes(lists);
  const length = slotsAt + bodyBytes(outputs.length, inputs.length) + (smallBytes ?? 0);
  const at = room.take(length);
  const { bytes } = room;
  writeHead(bytes, at, state, tx, smallBytes === null);
  writeLists(bytes, at, lists);
  writeNewSlots(bytes, at + slotsAt, tx, 0);
  const outputsAt = writeInputs(bytes, at + slotsAt + bodyBytes(outputs.length, 0), inputs);
  if (smallBytes !== null) writeSmallOutputs(bytes, outputsAt, outputs);
  return {
    txId,
    state: new RecordBytes(txId, bytes, at, at + length),
    before: null,
    pages: outputs.length <= TX_PAGE_SLOTS ? null : newPages(tx),
    outputs: smallBytes === null ? outputs : null,
    isChanged: true,
    isDeleted: false,
  };
}

/** All of it but the lengths of lists; the bytes are 0. */
function writeHead(to: Uint8Array, at: number, state: NewTxState, { inputs, outputs }: NewStoredTx, hasOutputRows: boolean): void {
  const { unminedSince, coinbaseSpendableAt } = state;
  const flags =
    (state.isConflicting ? FLAG.isConflicting : 0) |
    (state.isLocked ? FLAG.isLocked : 0) |
    (state.isCreating ? FLAG.isCreating : 0) |
    (state.isCoinbase ? FLAG.isCoinbase : 0) |
    (unminedSince === null ? 0 : FLAG.unminedSince) |
    (coinbaseSpendableAt === null ? 0 : FLAG.coinbaseSpendableAt) |
    (hasOutputRows ? FLAG.hasOutputRows : 0);
  writeU16(to, at + HEAD.flags, flags);
  writeU32(to, at + HEAD.version, state.version);
  writeU32(to, at + HEAD.spendable, state.spendable);
  writeU32(to, at + HEAD.unminedSince, unminedSince ?? 0);
  writeU32(to, at + HEAD.coinbaseSpendableAt, coinbaseSpendableAt ?? 0);
  writeU32(to, at + HEAD.outputCount, outputs.length);
  writeU32(to, at + HEAD.inputCount, inputs.length);
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

/** The page of slots that begins with output `first`; the bytes are 0. */
function writeNewSlots(to: Uint8Array, at: number, tx: NewStoredTx, first: number): void {
  for (let n = 0; n < TX_PAGE_SLOTS && first + n < tx.outputs.length; n++) {
    const state = newSlotState(tx, first + n);
    to[at + SLOT_BYTES * n] = state === null ? NO_SLOT : SLOT_STATES.indexOf(state);
  }
}
