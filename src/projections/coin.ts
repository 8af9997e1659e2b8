/**
 * A coin is an output on its way through a step: its outpoint key and its stored
 * value. Every projection works on these two byte runs, whether the output was
 * created a moment ago or read from the store, forward or back.
 *
 * Stored value (DESIGN decision 1), big-endian:
 *
 *   0  flags u8: bits 0..4 the ledger's, bits 5..7 which index keys are present
 *   1  height u32      5  slot u64      13  tx index u32      17  value u64
 *   25 one byte for each index key present, in the order of KEY_KINDS: where it
 *      stands in the output, or 0 when it does not
 *   .. those keys that do not, 28 bytes each
 *   .. the output exactly as it stood in the block
 *
 * That is its whole form, which coins have. Rows of the unspent set, of spent outputs and undo records leave the key
 * of the owner out, because it follows from the output (`packed.ts`).
 *
 * Spent value: who spent it, then the stored value, unless the undo record of
 * the block that spent it carries that:
 *
 *   0  spending tx id 32   32 input index u32   36 slot u64   44 height u32
 *
 * An output that the ledger itself removed has an id of zeros and input 0xffffffff.
 */
import { type Create, KEY_BYTES, KEY_KINDS, type KeyKind, type OutputKeys, type Point } from '../ledgers/ledger.ts';
import { TXID_BYTES } from '../ledgers/outpoint.ts';
import { copyBytes, readBigU64, readU32, readU64, writeU32, writeU64 } from '../util/bytes.ts';
import { assert } from '../util/errors.ts';

export const VALUE_HEADER_BYTES = 25;
export const SPENT_HEADER_BYTES = 48;
export const LEDGER_FLAGS_MASK = 0x1f;
export const KEY_MASK_SHIFT = 5;
export const NO_INPUT = 0xffff_ffff;
/** Tx index of the first output that the ledger grants in a block: behind every transaction a block can hold, so that index keys never collide. */
export const GRANT_TX_INDEX = 0x8000_0000;

/**
 * Tx indexes of outputs that came with a node's own set (`sources/node-set.ts`), which does not say where in its block a
 * transaction stood: from here on, in the order of their ids, so that index keys never collide.
 */
export const UNPLACED_TX_INDEX = 0x4000_0000;
/** The same where the block is not known either: its height and slot are then the newest that it can have. */
export const UNDATED_TX_INDEX = 0x6000_0000;

/** Whether height and slot of an output are only known to be not later than they say. */
export function isUndated(txIndex: number): boolean {
  return txIndex >= UNDATED_TX_INDEX && txIndex < GRANT_TX_INDEX;
}

/** Where the fields stand. */
export const AT = { flags: 0, height: 1, slot: 5, txIndex: 13, value: 17, keys: 25 } as const;
export const SPENT_AT = { txId: 0, input: 32, slot: 36, height: 44, value: SPENT_HEADER_BYTES } as const;

/** The transaction that spends an output. */
export interface Spender {
  /** Its id. */
  readonly txId: Uint8Array;
  /** Its place in its block. */
  readonly txIndex: number;
  /** The slot of its block. */
  readonly slot: number;
  /** The height of its block. */
  readonly height: number;
}

/** An output on its way through a step: its outpoint and its stored value, which `readStored` takes apart. */
export class Coin {
  /** The bytes its outpoint stands in. */
  readonly keyBytes: Uint8Array;
  /** Where its outpoint begins in them. */
  readonly keyAt: number;
  /** The bytes its stored value stands in. */
  bytes: Uint8Array;
  /** Where its stored value begins in them. */
  at: number;
  /** Where its stored value ends. */
  end: number;
  /** True when it was created inside the step. */
  readonly born: boolean;
  /** Who spends it inside the step. */
  spender: Spender | null = null;
  /** Which input of the spender consumes it. */
  input = 0;

  /** @internal */
  constructor(keyBytes: Uint8Array, keyAt: number, bytes: Uint8Array, at: number, end: number, born: boolean) {
    this.keyBytes = keyBytes;
    this.keyAt = keyAt;
    this.bytes = bytes;
    this.at = at;
    this.end = end;
    this.born = born;
  }

  /** The bytes of its stored value. */
  get length(): number {
    return this.end - this.at;
  }
}

const KIND_BIT: Readonly<Record<KeyKind, number>> = { address: 1, payment: 2, stake: 4 };
const ONES = [0, 1, 1, 2, 1, 2, 2, 3] as const;

/** A key further into the output than a byte can say is stored like one that is not in it. */
const PLACE_MAX = 0xff;

/** In place of where the owner's key stands: it was left out. No owner's key has this place. */
export const OWNER_LEFT_OUT = 0xff;

/** Bytes that `writeKeys` may need at most. */
export const KEYS_BYTES_MAX = KEY_KINDS.length * (1 + KEY_BYTES);

/** Writes places and keys behind a header at `at` whose flags are already there; returns where the output goes. */
export function writeKeys(to: Uint8Array, at: number, keys: OutputKeys, raw: Uint8Array, outputStart: number): number {
  const { mask, places, made } = keys;
  let place = at + AT.keys;
  let next = place + ONES[mask];
  for (let kind = 0; kind < KEY_KINDS.length; kind++) {
    if ((mask & (1 << kind)) === 0) continue;
    const position = places[kind];
    const inside = position > 0 && position <= (kind === 0 ? OWNER_LEFT_OUT - 1 : PLACE_MAX);
    to[place++] = inside ? position : 0;
    if (inside) continue;
    if (position === 0) copyBytes(made, KEY_BYTES * kind, to, next, KEY_BYTES);
    else copyBytes(raw, outputStart + position, to, next, KEY_BYTES);
    next += KEY_BYTES;
  }
  return next;
}

/** Bytes that `writeStored` may need at most for an output of so many. */
export function storedBytesMax(outputBytes: number): number {
  return VALUE_HEADER_BYTES + KEYS_BYTES_MAX + outputBytes;
}

/** Writes the stored value of an output of a block's transaction at `at`; `keys` are those of the output. Returns where it ends. */
export function writeStored(
  to: Uint8Array,
  at: number,
  { height, slot }: Pick<Point, 'height' | 'slot'>,
  txIndex: number,
  raw: Uint8Array,
  create: Create,
  keys: OutputKeys,
): number {
  const length = create.end - create.start;
  to[at] = (create.flags & LEDGER_FLAGS_MASK) | (keys.mask << KEY_MASK_SHIFT);
  writeU32(to, at + AT.height, height);
  writeU64(to, at + AT.slot, slot);
  writeU32(to, at + AT.txIndex, txIndex);
  writeU32(to, at + AT.value, create.valueHi);
  writeU32(to, at + AT.value + 4, create.valueLo);
  const outputAt = writeKeys(to, at, keys, raw, create.start);
  if (length <= 128) copyBytes(raw, create.start, to, outputAt, length);
  else to.set(raw.subarray(create.start, create.end), outputAt);
  return outputAt + length;
}

/** Whether the key of the owner was left out of the stored value that begins at `at`. */
export function isPacked(bytes: Uint8Array, at: number): boolean {
  return ((bytes[at] >> KEY_MASK_SHIFT) & KIND_BIT.address) !== 0 && bytes[at + AT.keys] === OWNER_LEFT_OUT;
}

/** Where the places of the keys end in a stored value that begins at `at`. */
export function placesEnd(bytes: Uint8Array, at: number): number {
  return at + AT.keys + ONES[bytes[at] >> KEY_MASK_SHIFT];
}

/** Where the key of this kind stands in a stored value that begins at `at`, or -1. One that was left out must not be asked for. */
export function keyOffset(bytes: Uint8Array, at: number, kind: KeyKind): number {
  const mask = bytes[at] >> KEY_MASK_SHIFT;
  const bit = KIND_BIT[kind];
  if ((mask & bit) === 0) return -1;
  const places = at + AT.keys;
  const mine = places + ONES[mask & (bit - 1)];
  assert(bit !== KIND_BIT.address || bytes[mine] !== OWNER_LEFT_OUT, 'the key of the owner is asked of a packed value');
  if (bytes[mine] !== 0) return outputOffset(bytes, at) + bytes[mine];
  let stored = 0;
  for (let place = places; place < mine; place++) if (bytes[place] === 0) stored++;
  return places + ONES[mask] + KEY_BYTES * stored;
}

/** Where the raw output begins in a stored value that begins at `at`. */
export function outputOffset(bytes: Uint8Array, at: number): number {
  const places = at + AT.keys;
  const end = placesEnd(bytes, at);
  let stored = 0;
  for (let place = places; place < end; place++) if (bytes[place] === 0) stored++;
  return end + KEY_BYTES * stored;
}

/** Kinds of key that are part of the owner's address. */
export const PART_KINDS = ['payment', 'stake'] as const satisfies readonly KeyKind[];
/** A kind of key that is part of the owner's address. */
export type PartKind = (typeof PART_KINDS)[number];

/** An output as the store has it. */
export interface StoredOutput {
  /** Bits of the ledger's own. */
  readonly flags: number;
  /** The height of its block. */
  readonly height: number;
  /** The slot of its block. */
  readonly slot: number;
  /** Which transaction of its block made it. */
  readonly txIndex: number;
  /** In the chain's smallest unit. */
  readonly value: bigint;
  /** The 28-byte index keys that stand in it, by kind. That of the whole address follows from it (`keyOf`). */
  readonly keys: Partial<Record<PartKind, Uint8Array>>;
  /** The output exactly as it stood in its block. */
  readonly raw: Uint8Array;
}

/** A stored value taken apart, of either form. The bytes may go on behind it: pass those of a coin up to its end. */
export function readStored(bytes: Uint8Array, at = 0): StoredOutput {
  const keys: Partial<Record<PartKind, Uint8Array>> = {};
  for (const kind of PART_KINDS) {
    const offset = keyOffset(bytes, at, kind);
    if (offset >= 0) keys[kind] = bytes.subarray(offset, offset + KEY_BYTES);
  }
  return {
    flags: bytes[at] & LEDGER_FLAGS_MASK,
    height: readU32(bytes, at + AT.height),
    slot: readU64(bytes, at + AT.slot),
    txIndex: readU32(bytes, at + AT.txIndex),
    value: readBigU64(bytes, at + AT.value),
    keys,
    raw: bytes.subarray(outputOffset(bytes, at)),
  };
}

export interface StoredSpend {
  /** Null: removed by the ledger itself, not by a transaction. */
  readonly txId: Uint8Array | null;
  readonly input: number;
  readonly slot: number;
  readonly height: number;
  readonly output: StoredOutput;
}

/** The block that spent it, from a row of `utxo_spent`. */
export function spentHeight(bytes: Uint8Array): number {
  return readU32(bytes, SPENT_AT.height);
}

/** `body`: the stored value, where the row itself has none. */
export function readSpent(bytes: Uint8Array, body = bytes.subarray(SPENT_AT.value)): StoredSpend {
  const input = readU32(bytes, SPENT_AT.input);
  return {
    txId: input === NO_INPUT ? null : bytes.subarray(0, TXID_BYTES),
    input,
    slot: readU64(bytes, SPENT_AT.slot),
    height: spentHeight(bytes),
    output: readStored(body),
  };
}
