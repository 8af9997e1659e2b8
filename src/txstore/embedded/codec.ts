/**
 * Records as bytes. Integers are big-endian and of fixed width, so that a record
 * is read and changed without being taken apart:
 *
 *   head      flags u16, version, spendable, spentCount, unminedSince, deleteAtHeight, preserveUntil,
 *             coinbaseSpendableAt, counts of outputs, inputs, blocks, losers and reassigned outputs: u32 each
 *   blocks    hash 32, height u32, index u32, on the best chain u8
 *   losers    32 each: `conflictingChildren`
 *   reassigned  output u32, spendable from u32, hash 32
 *   slots     of the first page: state u8, spender 32, its input u32
 *   inputs    transaction 32, output u32
 *   outputs   amount u64, length of the script u16, script; large ones have rows of their own (`TX_OUTPUT`)
 *
 * The hash that binds a slot follows from its output and is not stored, unless the output was reassigned. What changes
 * with every spend stands in front of what never does. Whatever does not read back to its end is STORE_DAMAGED.
 */
import { OUTPOINT_BYTES, type Outpoint, TXID_BYTES, writeOutpoint } from '../../ledgers/outpoint.ts';
import { copyBytes, readU16, readU32, writeU16, writeU32 } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import type { ChildFacts } from '../prune-store.ts';
import type { DeletionState, TxBlock, TxRecord, TxSlot } from '../records.ts';
import { OUTPUT_HEAD_BYTES } from './outputs.ts';

/** A record without its inputs, outputs and tombstones. */
export interface TxState
  extends DeletionState,
    Pick<TxRecord, 'txId' | 'conflictingChildren' | 'isCoinbase' | 'coinbaseSpendableAt' | 'version'> {
  readonly outputCount: number;
  readonly inputCount: number;
  readonly reassigned: readonly ReassignedOutput[];
  /** There are rows of tombstones. */
  readonly hasTombstones: boolean;
  /** A slot was unspent since there were: tombstones may be of transactions that no slot names. */
  readonly wasUnspent: boolean;
  /** The outputs are in rows of their own. */
  readonly hasOutputRows: boolean;
}

export interface ReassignedOutput {
  readonly index: number;
  readonly spendableFrom: number;
  readonly hash: Uint8Array;
}

const HEAD_BYTES = 50;
const BLOCK_BYTES = TXID_BYTES + 9;
const REASSIGNED_BYTES = TXID_BYTES + 8;
export const SLOT_BYTES = 1 + TXID_BYTES + 4;

export const SLOT_STATES: readonly TxSlot['state'][] = ['unspent', 'spent', 'frozen'];
export const SPENT = 1;
/** The state of an output that can never be spent. */
export const NO_SLOT = 3;
/** Added to the state of a slot that was reassigned. */
export const REASSIGNED = 0x80;

const FLAG = {
  isConflicting: 0x1,
  isLocked: 0x2,
  isCreating: 0x4,
  isCoinbase: 0x8,
  unminedSince: 0x10,
  deleteAtHeight: 0x20,
  preserveUntil: 0x40,
  coinbaseSpendableAt: 0x80,
  hasTombstones: 0x100,
  wasUnspent: 0x200,
  hasOutputRows: 0x400,
} as const;

export function headBytes(state: TxState): number {
  const { blocks, conflictingChildren, reassigned } = state;
  return HEAD_BYTES + BLOCK_BYTES * blocks.length + TXID_BYTES * conflictingChildren.length + REASSIGNED_BYTES * reassigned.length;
}

/** All that stands in front of the slots; returns its length, which is `headBytes`. */
export function writeTxHead(to: Uint8Array, state: TxState): number {
  const { unminedSince, deleteAtHeight, preserveUntil, coinbaseSpendableAt, blocks, conflictingChildren, reassigned } = state;
  writeU16(to, 0, flagsOf(state));
  writeU32(to, 2, state.version);
  writeU32(to, 6, state.spendable);
  writeU32(to, 10, state.spentCount);
  writeU32(to, 14, unminedSince ?? 0);
  writeU32(to, 18, deleteAtHeight ?? 0);
  writeU32(to, 22, preserveUntil ?? 0);
  writeU32(to, 26, coinbaseSpendableAt ?? 0);
  writeU32(to, 30, state.outputCount);
  writeU32(to, 34, state.inputCount);
  writeU32(to, 38, blocks.length);
  writeU32(to, 42, conflictingChildren.length);
  writeU32(to, 46, reassigned.length);
  let at = HEAD_BYTES;
  for (const block of blocks) at = writeBlock(to, at, block);
  for (const child of conflictingChildren) {
    copyBytes(child, 0, to, at, TXID_BYTES);
    at += TXID_BYTES;
  }
  for (const { index, spendableFrom, hash } of reassigned) {
    writeU32(to, at, index);
    writeU32(to, at + 4, spendableFrom);
    copyBytes(hash, 0, to, at + 8, TXID_BYTES);
    at += REASSIGNED_BYTES;
  }
  return at;
}

function flagsOf(state: TxState): number {
  return (
    (state.isConflicting ? FLAG.isConflicting : 0) |
    (state.isLocked ? FLAG.isLocked : 0) |
    (state.isCreating ? FLAG.isCreating : 0) |
    (state.isCoinbase ? FLAG.isCoinbase : 0) |
    (state.unminedSince === null ? 0 : FLAG.unminedSince) |
    (state.deleteAtHeight === null ? 0 : FLAG.deleteAtHeight) |
    (state.preserveUntil === null ? 0 : FLAG.preserveUntil) |
    (state.coinbaseSpendableAt === null ? 0 : FLAG.coinbaseSpendableAt) |
    (state.hasTombstones ? FLAG.hasTombstones : 0) |
    (state.wasUnspent ? FLAG.wasUnspent : 0) |
    (state.hasOutputRows ? FLAG.hasOutputRows : 0)
  );
}

/** The record at `at`, of `length` bytes; blocks, losers and hashes are views of it. Throws STORE_DAMAGED. */
export function readState(txId: Uint8Array, bytes: Uint8Array, at: number, length: number): TxState {
  if (length < HEAD_BYTES) throw damaged(length);
  const flags = readU16(bytes, at);
  const [blockCount, loserCount, reassignedCount] = [readU32(bytes, at + 38), readU32(bytes, at + 42), readU32(bytes, at + 46)];
  const losersAt = at + HEAD_BYTES + BLOCK_BYTES * blockCount;
  const reassignedAt = losersAt + TXID_BYTES * loserCount;
  if (reassignedAt + REASSIGNED_BYTES * reassignedCount > at + length) throw damaged(length);
  return {
    txId,
    isConflicting: (flags & FLAG.isConflicting) !== 0,
    isLocked: (flags & FLAG.isLocked) !== 0,
    isCreating: (flags & FLAG.isCreating) !== 0,
    isCoinbase: (flags & FLAG.isCoinbase) !== 0,
    hasTombstones: (flags & FLAG.hasTombstones) !== 0,
    wasUnspent: (flags & FLAG.wasUnspent) !== 0,
    hasOutputRows: (flags & FLAG.hasOutputRows) !== 0,
    version: readU32(bytes, at + 2),
    spendable: readU32(bytes, at + 6),
    spentCount: readU32(bytes, at + 10),
    unminedSince: (flags & FLAG.unminedSince) === 0 ? null : readU32(bytes, at + 14),
    deleteAtHeight: (flags & FLAG.deleteAtHeight) === 0 ? null : readU32(bytes, at + 18),
    preserveUntil: (flags & FLAG.preserveUntil) === 0 ? null : readU32(bytes, at + 22),
    coinbaseSpendableAt: (flags & FLAG.coinbaseSpendableAt) === 0 ? null : readU32(bytes, at + 26),
    outputCount: readU32(bytes, at + 30),
    inputCount: readU32(bytes, at + 34),
    blocks: readMany(blockCount, (n) => readBlock(bytes, at + HEAD_BYTES + n * BLOCK_BYTES)),
    conflictingChildren: readMany(loserCount, (n) => readId(bytes, losersAt + n * TXID_BYTES)),
    reassigned: readMany(reassignedCount, (n) => readReassigned(bytes, reassignedAt + n * REASSIGNED_BYTES)),
  };
}

/** What a pass asks of a child, of the record at `at`. The record was read before without an error. */
export function readStoredChild(txId: Uint8Array, bytes: Uint8Array, at: number): ChildFacts {
  const flags = readU16(bytes, at);
  const blocks: ChildFacts['blocks'][number][] = [];
  for (let n = readU32(bytes, at + 38), block = at + HEAD_BYTES; n > 0; n--, block += BLOCK_BYTES)
    blocks.push({ height: readU32(bytes, block + TXID_BYTES), isOnBestChain: bytes[block + TXID_BYTES + 8] === 1 });
  return {
    txId,
    version: readVersion(bytes, at),
    unminedSince: (flags & FLAG.unminedSince) === 0 ? null : readU32(bytes, at + 14),
    isConflicting: (flags & FLAG.isConflicting) !== 0,
    blocks,
  };
}

/** Of the record at `at`. */
export function readVersion(bytes: Uint8Array, at: number): number {
  return readU32(bytes, at + 2);
}

/** The number of bytes behind the head of a record with its first page of slots and its inputs, without outputs. */
export function bodyBytes({ outputCount, inputCount }: Pick<TxState, 'outputCount' | 'inputCount'>): number {
  return SLOT_BYTES * Math.min(outputCount, TX_PAGE_SLOTS) + OUTPOINT_BYTES * inputCount;
}

/** Throws STORE_DAMAGED if slots, inputs and outputs do not end where the record does. */
export function checkBody(state: TxState, bytes: Uint8Array, slotsAt: number, end: number): void {
  let at = slotsAt + bodyBytes(state);
  if (!state.hasOutputRows) for (let n = 0; n < state.outputCount && at < end; n++) at += OUTPUT_HEAD_BYTES + readU16(bytes, at + 8);
  if (at !== end) throw damaged(end - slotsAt);
}

export function readInputs(bytes: Uint8Array, inputsAt: number, count: number): Outpoint[] {
  return readMany(count, (n) => {
    const at = inputsAt + n * OUTPOINT_BYTES;
    return { txId: readId(bytes, at), index: readU32(bytes, at + TXID_BYTES) };
  });
}

export function writeInputs(to: Uint8Array, at: number, inputs: readonly Outpoint[]): number {
  let end = at;
  for (const { txId, index } of inputs) {
    writeOutpoint(to, end, txId, 0, index);
    end += OUTPOINT_BYTES;
  }
  return end;
}

function writeBlock(to: Uint8Array, at: number, { hash, height, index, isOnBestChain }: TxBlock): number {
  copyBytes(hash, 0, to, at, TXID_BYTES);
  writeU32(to, at + TXID_BYTES, height);
  writeU32(to, at + TXID_BYTES + 4, index);
  to[at + TXID_BYTES + 8] = isOnBestChain ? 1 : 0;
  return at + BLOCK_BYTES;
}

function readBlock(bytes: Uint8Array, at: number): TxBlock {
  const [height, index] = [readU32(bytes, at + TXID_BYTES), readU32(bytes, at + TXID_BYTES + 4)];
  return { hash: readId(bytes, at), height, index, isOnBestChain: bytes[at + TXID_BYTES + 8] === 1 };
}

function readReassigned(bytes: Uint8Array, at: number): ReassignedOutput {
  return { index: readU32(bytes, at), spendableFrom: readU32(bytes, at + 4), hash: readId(bytes, at + 8) };
}

function readId(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.subarray(at, at + TXID_BYTES);
}

function readMany<T>(count: number, read: (n: number) => T): T[] {
  const values: T[] = [];
  for (let n = 0; n < count; n++) values.push(read(n));
  return values;
}

function damaged(length: number): UnspentError {
  return new UnspentError('STORE_DAMAGED', `a record of the transaction store is cut or malformed (${length} bytes)`, { length });
}
