/**
 * Records and pages as bytes. Lengths and heights are varints; a slot is one
 * byte for its state, the hash that binds it, and the spender of a spent one.
 * Whatever does not read back to its end is STORE_DAMAGED.
 */
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { ByteReader, ByteWriter } from '../../util/byte-writer.ts';
import { readBigU64, writeBigU64 } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import type { DeletionState, TxBlock, TxRecord, TxSlot } from '../records.ts';

/** A record without its outputs and tombstones. */
export interface TxState
  extends DeletionState,
    Pick<TxRecord, 'inputs' | 'conflictingChildren' | 'isCoinbase' | 'coinbaseSpendableAt' | 'version'> {
  readonly outputCount: number;
}

/** Null: the output can never be spent. */
export type SlotPage = (TxSlot | null)[];

const STATES = ['unspent', 'spent', 'frozen'] as const;
/** The byte of an output without a slot. */
const NO_SLOT = 3;
/** Added to the state of a slot that may be spent from some height on. */
const HAS_HEIGHT = 0x80;

const writer = new ByteWriter();

export function encodeTx(state: TxState, slots: SlotPage): Uint8Array {
  writer.reset();
  const flags = [state.isConflicting, state.isLocked, state.isCreating, state.isCoinbase];
  writer.u8(flags.reduce((sum, flag, bit) => sum + (flag ? 1 << bit : 0), 0));
  for (const number of [state.version, state.outputCount, state.spendable, state.spentCount]) writer.varint(number);
  for (const height of [state.unminedSince, state.deleteAtHeight, state.preserveUntil, state.coinbaseSpendableAt])
    writer.varint(height === null ? 0 : height + 1);
  writer.varint(state.blocks.length);
  for (const block of state.blocks) writeBlock(block);
  writer.varint(state.conflictingChildren.length);
  for (const child of state.conflictingChildren) writer.run(child);
  writer.varint(state.inputs.length);
  for (const { txId, index } of state.inputs) {
    writer.run(txId);
    writer.varint(index);
  }
  for (const slot of slots) writeSlot(slot);
  return writer.view();
}

export function decodeTx(bytes: Uint8Array, pageSlots: number): { state: TxState; slots: SlotPage } {
  const reader = new ByteReader(bytes, 'a record of the transaction store');
  const flags = reader.u8();
  const [version, outputCount, spendable, spentCount] = readMany(4, () => reader.varint());
  const [unminedSince, deleteAtHeight, preserveUntil, coinbaseSpendableAt] = readMany(4, () => readHeight(reader));
  const state: TxState = {
    isConflicting: (flags & 1) !== 0,
    isLocked: (flags & 2) !== 0,
    isCreating: (flags & 4) !== 0,
    isCoinbase: (flags & 8) !== 0,
    version,
    outputCount,
    spendable,
    spentCount,
    unminedSince,
    deleteAtHeight,
    preserveUntil,
    coinbaseSpendableAt,
    blocks: readMany(reader.varint(), () => readBlock(reader)),
    conflictingChildren: readMany(reader.varint(), () => readId(reader)),
    inputs: readMany(reader.varint(), () => ({ txId: readId(reader), index: reader.varint() })),
  };
  const slots = readMany(Math.min(outputCount, pageSlots), () => readSlot(reader));
  reader.end();
  return { state, slots };
}

export function encodeSlots(slots: SlotPage): Uint8Array {
  writer.reset();
  for (const slot of slots) writeSlot(slot);
  return writer.view();
}

export function decodeSlots(bytes: Uint8Array, count: number): SlotPage {
  const reader = new ByteReader(bytes, 'a page of slots');
  const slots = readMany(count, () => readSlot(reader));
  reader.end();
  return slots;
}

type OutputValue = Pick<TxRecord['outputs'][number], 'amount' | 'script'>;

export function encodeOutputs(outputs: readonly OutputValue[]): Uint8Array {
  const amountBytes = new Uint8Array(8);
  writer.reset();
  for (const { amount, script } of outputs) {
    writeBigU64(amountBytes, 0, amount);
    writer.run(amountBytes);
    writer.varint(script.length);
    writer.run(script);
  }
  return writer.view();
}

export function decodeOutputs(bytes: Uint8Array): OutputValue[] {
  const reader = new ByteReader(bytes, 'a page of outputs');
  const outputs: OutputValue[] = [];
  while (!reader.isAtEnd) outputs.push({ amount: readBigU64(reader.run(8), 0), script: reader.run(reader.varint()).slice() });
  return outputs;
}

function writeBlock({ hash, height, index, isOnBestChain }: TxBlock): void {
  writer.run(hash);
  writer.varint(height);
  writer.varint(index);
  writer.u8(isOnBestChain ? 1 : 0);
}

function readBlock(reader: ByteReader): TxBlock {
  return { hash: readId(reader), height: reader.varint(), index: reader.varint(), isOnBestChain: reader.u8() === 1 };
}

function writeSlot(slot: TxSlot | null): void {
  if (slot === null) {
    writer.u8(NO_SLOT);
    return;
  }
  writer.u8(STATES.indexOf(slot.state) + (slot.spendableFrom === null ? 0 : HAS_HEIGHT));
  writer.run(slot.hash);
  if (slot.spender !== null) {
    writer.run(slot.spender.txId);
    writer.varint(slot.spender.vin);
  }
  if (slot.spendableFrom !== null) writer.varint(slot.spendableFrom);
}

function readSlot(reader: ByteReader): TxSlot | null {
  const byte = reader.u8();
  if (byte === NO_SLOT) return null;
  const state = STATES[byte & ~HAS_HEIGHT];
  if (state === undefined) throw new UnspentError('STORE_DAMAGED', `a slot has the state ${byte}`);
  const hash = readId(reader);
  const spender = state === 'spent' ? { txId: readId(reader), vin: reader.varint() } : null;
  return { hash, state, spender, spendableFrom: byte >= HAS_HEIGHT ? reader.varint() : null };
}

/** 32 bytes of its own: a view would keep the whole row in memory. */
function readId(reader: ByteReader): Uint8Array {
  return reader.run(TXID_BYTES).slice();
}

function readHeight(reader: ByteReader): number | null {
  const number = reader.varint();
  return number === 0 ? null : number - 1;
}

function readMany<T>(count: number, read: () => T): T[] {
  const values: T[] = [];
  for (let n = 0; n < count; n++) values.push(read());
  return values;
}
