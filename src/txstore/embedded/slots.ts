/** The slots of a record in memory, as bytes and as values. */
import type { Reader } from '../../engine/engine.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { copyBytes, readU32, writeU32 } from '../../util/bytes.ts';
import { isSameId } from '../../util/id-map.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import type { SlotSpender, TxSlot } from '../records.ts';
import { txRefusal } from '../rules/refusals.ts';
import { slotHash } from '../rules/slots.ts';
import { NO_SLOT, REASSIGNED, SLOT_BYTES, SLOT_STATES, SPENT, UNSPENT } from './codec.ts';
import { pageKey, TX_OUTPUT } from './columns.ts';
import { type LoadedTx, slotPage } from './loaded-tx.ts';
import { decodeOutputRow, type OutputValue, readSmallOutput } from './outputs.ts';

const NO_HASH = new Uint8Array();

/**
 * Null: the output can never be spent; undefined: there is no such output. `withHash` false: nobody looks at the hash,
 * which is empty then. Throws STORE_DAMAGED.
 */
export function readSlot(reader: Reader, tx: LoadedTx, index: number, withHash = true): TxSlot | null | undefined {
  if (index >= tx.state.outputCount) return undefined;
  const number = Math.floor(index / TX_PAGE_SLOTS);
  const { bytes, at: pageAt } = slotPage(reader, tx, number);
  const at = pageAt + SLOT_BYTES * (index % TX_PAGE_SLOTS);
  const byte = bytes[at] & ~REASSIGNED;
  if (byte === NO_SLOT) return null;
  const state = SLOT_STATES[byte];
  if (state === undefined) throw txRefusal.damaged(tx.txId, `has a slot of state ${bytes[at]}`);
  const reassigned = bytes[at] === byte ? undefined : tx.state.reassigned.find((output) => output.index === index);
  return {
    hash: withHash ? (reassigned?.hash ?? hashOf(reader, tx, index)) : NO_HASH,
    state,
    spender: byte === SPENT ? { txId: slotSpenderId(bytes, at), vin: readU32(bytes, at + 1 + TXID_BYTES) } : null,
    spendableFrom: reassigned?.spendableFrom ?? null,
  };
}

/** Whether the output is the transaction's. Throws STORE_DAMAGED. */
export function isHeldBy(reader: Reader, tx: LoadedTx, index: number, spender: Uint8Array): boolean {
  if (index >= tx.state.outputCount) return false;
  const { bytes, at: pageAt } = slotPage(reader, tx, Math.floor(index / TX_PAGE_SLOTS));
  const at = pageAt + SLOT_BYTES * (index % TX_PAGE_SLOTS);
  return (bytes[at] & ~REASSIGNED) === SPENT && isSameId(bytes, at + 1, spender, 0);
}

/** The first slot of the first page that the transaction holds; null: none. */
export function slotHeldBy({ state }: LoadedTx, spender: Uint8Array): number | null {
  const { bytes, slotsAt, outputCount } = state;
  for (let slot = 0; slot < Math.min(outputCount, TX_PAGE_SLOTS); slot++) {
    const at = slotsAt + SLOT_BYTES * slot;
    if ((bytes[at] & ~REASSIGNED) === SPENT && isSameId(bytes, at + 1, spender, 0)) return slot;
  }
  return null;
}

/** Whether the output is unspent and was never reassigned. Throws STORE_DAMAGED. */
export function isUntouched(reader: Reader, tx: LoadedTx, index: number): boolean {
  if (index >= tx.state.outputCount) return false;
  const { bytes, at } = slotPage(reader, tx, Math.floor(index / TX_PAGE_SLOTS));
  return bytes[at + SLOT_BYTES * (index % TX_PAGE_SLOTS)] === UNSPENT;
}

/** A copy: the bytes of the slot may be another's soon. Not `slice`: of a Buffer, as some engines give rows, that would be a view. */
export function slotSpenderId(bytes: Uint8Array, at: number): Uint8Array {
  return new Uint8Array(slotSpenderView(bytes, at));
}

/** Of the slot as it is: good as long as nobody changes it. */
export function slotSpenderView(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.subarray(at + 1, at + 1 + TXID_BYTES);
}

/** Returns the state it had, without whether it was reassigned. */
export function writeSlotState(
  reader: Reader,
  tx: LoadedTx,
  index: number,
  state: number,
  spender: SlotSpender | null,
  isReassigned = false,
): number {
  const number = Math.floor(index / TX_PAGE_SLOTS);
  const page = slotPage(reader, tx, number);
  const at = page.at + SLOT_BYTES * (index % TX_PAGE_SLOTS);
  const was = page.bytes[at];
  page.bytes[at] = state | (isReassigned ? REASSIGNED : was & REASSIGNED);
  if (spender === null) page.bytes.fill(0, at + 1, at + SLOT_BYTES);
  else {
    copyBytes(spender.txId, 0, page.bytes, at + 1, TXID_BYTES);
    writeU32(page.bytes, at + 1 + TXID_BYTES, spender.vin);
  }
  page.isChanged = true;
  return was & ~REASSIGNED;
}

function hashOf(reader: Reader, tx: LoadedTx, index: number): Uint8Array {
  const { amount, script } = outputOf(reader, tx, index);
  return slotHash({ txId: tx.txId, index }, amount, script);
}

function outputOf(reader: Reader, tx: LoadedTx, index: number): OutputValue {
  if (!tx.state.hasOutputRows) return readSmallOutput(tx.state.bytes, tx.state.outputsAt, index);
  const output = tx.outputs?.[index] ?? readOutputRow(reader, tx.txId, Math.floor(index / TX_PAGE_SLOTS))[index % TX_PAGE_SLOTS];
  if (output === undefined) throw txRefusal.damaged(tx.txId, `has no output ${index}`);
  return output;
}

/** Throws STORE_DAMAGED. */
export function readOutputRow(reader: Reader, txId: Uint8Array, number: number): OutputValue[] {
  const row = reader.get(TX_OUTPUT, pageKey(txId, number));
  if (row === undefined) throw txRefusal.damaged(txId, `has no page ${number} of outputs`);
  return decodeOutputRow(row);
}
