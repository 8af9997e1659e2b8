/**
 * Stored values as the store has them: without the key of the owner, which is a
 * hash of bytes that stand behind it. Rows of `utxo_unspent`, of `utxo_spent` and
 * of undo records that carry outputs are packed; coins, and whatever else keeps a
 * stored value (the history, snapshots), have the whole one (`coin.ts`).
 *
 * The rule: the key of kind `address` is left out, and a mark stands in its place;
 * every other key that does not stand in the output stays. A ledger makes it again
 * (`Ledger.ownerKey`) from the output alone, the same as it found it in the block.
 */
import { KEY_BYTES, type KeyKind, type Ledger } from '../ledgers/ledger.ts';
import { copyBytes } from '../util/bytes.ts';
import { AT, Coin, isPacked, KEY_MASK_SHIFT, OWNER_LEFT_OUT, outputOffset, placesEnd, type StoredOutput } from './coin.ts';

/** What of a ledger it takes to unpack. */
export type OwnerKeys = Pick<Ledger, 'ownerKey'>;

const ADDRESS_BIT = 1;
const KEY_STORED = 0;
/** Runs longer than that are copied by the platform. */
const LOOP_BYTES_MAX = 200;

/** Whether the whole form stores the key of the owner behind the places: it does, unless there is none or it stands in the output. */
function hasStoredOwner(bytes: Uint8Array, at: number): boolean {
  return ((bytes[at] >> KEY_MASK_SHIFT) & ADDRESS_BIT) !== 0 && bytes[at + AT.keys] === KEY_STORED;
}

/** The bytes that the value `bytes[at..end]` takes when it is packed. */
export function packedLength(bytes: Uint8Array, at: number, end: number): number {
  return end - at - (hasStoredOwner(bytes, at) ? KEY_BYTES : 0);
}

/** Writes the value `bytes[at..end]` packed at `toAt`; returns where it ends. */
export function writePacked(bytes: Uint8Array, at: number, end: number, to: Uint8Array, toAt: number): number {
  if (!hasStoredOwner(bytes, at)) return copyRun(bytes, at, end, to, toAt);
  const cut = placesEnd(bytes, at);
  copyBytes(bytes, at, to, toAt, cut - at);
  to[toAt + AT.keys] = OWNER_LEFT_OUT;
  return copyRun(bytes, cut + KEY_BYTES, end, to, toAt + cut - at);
}

/** The bytes that the value `bytes[at..end]` takes when it is whole. */
export function wholeLength(bytes: Uint8Array, at: number, end: number): number {
  return end - at + (isPacked(bytes, at) ? KEY_BYTES : 0);
}

/** Writes the packed value `bytes[at..end]` whole at `toAt`; returns where it ends. Throws BLOCK_INVALID where its output cannot be read. */
export function writeWhole(bytes: Uint8Array, at: number, end: number, to: Uint8Array, toAt: number, { ownerKey }: OwnerKeys): number {
  if (!isPacked(bytes, at)) return copyRun(bytes, at, end, to, toAt);
  const places = placesEnd(bytes, at);
  const keyAt = toAt + places - at;
  copyBytes(bytes, at, to, toAt, places - at);
  to[toAt + AT.keys] = KEY_STORED;
  ownerKey(bytes, outputOffset(bytes, at), end, to, keyAt);
  return copyRun(bytes, places, end, to, keyAt + KEY_BYTES);
}

/** The whole form of the packed value `bytes[at..]`; where nothing was left out, these bytes themselves. Throws BLOCK_INVALID. */
export function wholeValue(bytes: Uint8Array, at: number, ledger: OwnerKeys): Uint8Array {
  const end = bytes.length;
  if (!isPacked(bytes, at)) return at === 0 ? bytes : bytes.subarray(at);
  const whole = new Uint8Array(wholeLength(bytes, at, end));
  writeWhole(bytes, at, end, whole, 0, ledger);
  return whole;
}

/** The coin of a row: its outpoint, and its stored value from `at` on. Throws BLOCK_INVALID. */
export function coinOfRow(key: Uint8Array, bytes: Uint8Array, ledger: OwnerKeys, at = 0): Coin {
  const value = wholeValue(bytes, at, ledger);
  return new Coin(key, 0, value, 0, value.length, false);
}

/** The key of an output, of any kind; undefined: it has none of this kind. */
export function keyOf({ keys, raw }: Pick<StoredOutput, 'keys' | 'raw'>, kind: KeyKind, { ownerKey }: OwnerKeys): Uint8Array | undefined {
  if (kind !== 'address') return keys[kind];
  const key = new Uint8Array(KEY_BYTES);
  ownerKey(raw, 0, raw.length, key, 0);
  return key;
}

/** Short runs are copied by a loop, long ones by the platform. Returns where it ends. */
function copyRun(from: Uint8Array, at: number, end: number, to: Uint8Array, toAt: number): number {
  const length = end - at;
  if (length <= LOOP_BYTES_MAX) copyBytes(from, at, to, toAt, length);
  else to.set(from.subarray(at, end), toAt);
  return toAt + length;
}
