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
 *   pruned    which slots are of transactions that a pass has deleted, if there are any (pruned-slots.ts)
 *   outputs   amount u64, length of the script u16, script; large ones have rows of their own (`TX_OUTPUT`)
 *
 * The hash that binds a slot follows from its output and is not stored, unless the output was reassigned. What changes
 * with every spend stands in front of what never does. Whatever does not read back to its end is STORE_DAMAGED.
 */
import { OUTPOINT_BYTES, type Outpoint, TXID_BYTES, writeOutpoint } from '../../ledgers/outpoint.ts';
import { copyBytes, readU16, readU32, writeU32 } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import type { DeletionState, TxBlock, TxRecord, TxSlot } from '../records.ts';
import type { PrunedSlot } from './pruned-slots.ts';

/** A record without its inputs, outputs and tombstones. */
export interface TxState
  extends DeletionState,
    Pick<TxRecord, 'txId' | 'conflictingChildren' | 'isCoinbase' | 'coinbaseSpendableAt' | 'version'> {
  readonly outputCount: number;
  readonly inputCount: number;
  readonly reassigned: readonly ReassignedOutput[];
  /** Slots of the first page whose transaction a pass has deleted, by number. */
  readonly pruned: readonly PrunedSlot[];
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

export const HEAD_BYTES = 50;
export const BLOCK_BYTES = TXID_BYTES + 9;
export const REASSIGNED_BYTES = TXID_BYTES + 8;
export const SLOT_BYTES = 1 + TXID_BYTES + 4;

/** Where the fields of the head are. */
export const HEAD = {
  flags: 0,
  version: 2,
  spendable: 6,
  spentCount: 10,
  unminedSince: 14,
  deleteAtHeight: 18,
  preserveUntil: 22,
  coinbaseSpendableAt: 26,
  outputCount: 30,
  inputCount: 34,
  blockCount: 38,
  loserCount: 42,
  reassignedCount: 46,
} as const;

/** Heights have a flag that says whether there is one. */
export const FLAG = {
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
  hasPruned: 0x800,
} as const;

export const SLOT_STATES: readonly TxSlot['state'][] = ['unspent', 'spent', 'frozen'];
export const UNSPENT = 0;
export const SPENT = 1;
/** The state of an output that can never be spent. */
export const NO_SLOT = 3;
/** Added to the state of a slot that was reassigned. */
export const REASSIGNED = 0x80;

/** The lists between the head and the slots. */
export type TxLists = Pick<TxState, 'blocks' | 'conflictingChildren' | 'reassigned'>;

export function listsBytes({ blocks, conflictingChildren, reassigned }: TxLists): number {
  return BLOCK_BYTES * blocks.length + TXID_BYTES * conflictingChildren.length + REASSIGNED_BYTES * reassigned.length;
}

/** With their lengths in the head that begins at `at`. */
export function writeLists(to: Uint8Array, at: number, { blocks, conflictingChildren, reassigned }: TxLists): void {
  writeU32(to, at + HEAD.blockCount, blocks.length);
  writeU32(to, at + HEAD.loserCount, conflictingChildren.length);
  writeU32(to, at + HEAD.reassignedCount, reassigned.length);
  let end = at + HEAD_BYTES;
  for (const block of blocks) end = writeBlock(to, end, block);
  for (const child of conflictingChildren) {
    copyBytes(child, 0, to, end, TXID_BYTES);
    end += TXID_BYTES;
  }
  for (const { index, spendableFrom, hash } of reassigned) {
    writeU32(to, end, index);
    writeU32(to, end + 4, spendableFrom);
    copyBytes(hash, 0, to, end + 8, TXID_BYTES);
    end += REASSIGNED_BYTES;
  }
}

/** Of the record at `at`; hashes are views of it, as those of the other lists are. */
export function readBlocks(bytes: Uint8Array, at: number): TxBlock[] {
  return readMany(readU32(bytes, at + HEAD.blockCount), (n) => readBlock(bytes, at + HEAD_BYTES + n * BLOCK_BYTES));
}

export function readLosers(bytes: Uint8Array, at: number): Uint8Array[] {
  const losersAt = at + HEAD_BYTES + BLOCK_BYTES * readU32(bytes, at + HEAD.blockCount);
  return readMany(readU32(bytes, at + HEAD.loserCount), (n) => readId(bytes, losersAt + n * TXID_BYTES));
}

export function readReassigned(bytes: Uint8Array, at: number, slotsAt: number): ReassignedOutput[] {
  const count = readU32(bytes, at + HEAD.reassignedCount);
  return readMany(count, (n) => {
    const place = slotsAt - REASSIGNED_BYTES * (count - n);
    return { index: readU32(bytes, place), spendableFrom: readU32(bytes, place + 4), hash: readId(bytes, place + 8) };
  });
}

/**
 * Since which height the best chain has the record at `at`, for whoever relies on it: that of the highest of its blocks
 * there. 0: it is unmined, conflicting, or not what a record is.
 */
export function readMinedHeight(bytes: Uint8Array, at: number): number {
  if ((readU16(bytes, at) & (FLAG.unminedSince | FLAG.isConflicting)) !== 0) return 0;
  let best = 0;
  for (let n = readU32(bytes, at + HEAD.blockCount), block = at + HEAD_BYTES; n > 0; n--, block += BLOCK_BYTES) {
    const height = readU32(bytes, block + TXID_BYTES);
    if (height === 0) return 0;
    if (height > best && bytes[block + TXID_BYTES + 8] === 1) best = height;
  }
  return best;
}

/** The number of bytes of the first page of slots and of inputs. */
export function bodyBytes(outputCount: number, inputCount: number): number {
  return SLOT_BYTES * Math.min(outputCount, TX_PAGE_SLOTS) + OUTPOINT_BYTES * inputCount;
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

function readId(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.subarray(at, at + TXID_BYTES);
}

function readMany<T>(count: number, read: (n: number) => T): T[] {
  const values: T[] = [];
  for (let n = 0; n < count; n++) values.push(read(n));
  return values;
}

export function damagedRecord(length: number): UnspentError {
  return new UnspentError('STORE_DAMAGED', `a record of the transaction store is cut or malformed (${length} bytes)`, { length });
}
