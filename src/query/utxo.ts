/**
 * What readers are given: an output with where it stands and who spent it, and
 * how to ask for a page of them.
 */
import type { Reader } from '../engine/engine.ts';
import { KEY_BYTES } from '../ledgers/ledger.ts';
import { outpointIndex, outpointTxId } from '../ledgers/outpoint.ts';
import { readStored, type StoredOutput, type StoredSpend } from '../projections/coin.ts';
import { UNSPENT } from '../projections/utxo.ts';
import { UnspentError } from '../util/errors.ts';
import { SpentRows } from './spent-rows.ts';

export interface Utxo {
  readonly txId: Uint8Array;
  readonly index: number;
  readonly output: StoredOutput;
  /** Null: unspent. */
  readonly spent: StoredSpend | null;
}

/** In place of the block of an output that is in none, or of the one that spends it: behind every block there can be. */
export const PENDING_PLACE = { height: 0xffff_ffff, slot: Number.MAX_SAFE_INTEGER } as const;

/** Whether it is made, or spent, by a transaction that is in no block. */
export function isPending({ height }: Pick<StoredOutput, 'height'>): boolean {
  return height === PENDING_PLACE.height;
}

/** From one slot to another, both included. */
export interface SlotRange {
  readonly from: number;
  readonly to: number;
}

export interface PageRequest {
  /** Rows at most. */
  readonly limit?: number | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  /** Continue behind this index key (the `cursor` of the last row seen). */
  readonly after?: Uint8Array | undefined;
  /** Only outputs that came to the chain in these. */
  readonly slots?: SlotRange | undefined;
}

export interface IndexedUtxo extends Utxo {
  /** Where this row stands in its index; pass it as `after` to go on. */
  readonly cursor: Uint8Array;
}

/** Outputs by their keys, unspent or spent; null where the store knows none. */
export function outpointsOf(reader: Reader, keys: readonly Uint8Array[]): (Utxo | null)[] {
  if (keys.length === 0) return [];
  const unspent = reader.getMany(UNSPENT, keys);
  const gone = keys.filter((_, i) => unspent[i] === undefined);
  const spent = new SpentRows(reader).many(gone);
  let next = 0;
  return keys.map((key, i) => {
    const name = { txId: outpointTxId(key), index: outpointIndex(key) };
    const value = unspent[i];
    if (value !== undefined) return { ...name, output: readStored(value), spent: null };
    const read = spent[next++];
    return read === undefined ? null : { ...name, output: read.output, spent: read };
  });
}

/** Every unspent output, in the order of their outpoints. */
export function* unspentRows(reader: Reader): Generator<Utxo, void, void> {
  for (const [key, value] of reader.scan(UNSPENT)) {
    yield { txId: outpointTxId(key), index: outpointIndex(key), output: readStored(value), spent: null };
  }
}

/** Keys of an index are all of one length; another one would ask for another part of it. */
export function checkKey(key: Uint8Array): void {
  if (key.length !== KEY_BYTES) throw new UnspentError('USAGE', `a key has ${KEY_BYTES} bytes, this one ${key.length}`);
}
