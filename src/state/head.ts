/**
 * The head: the block the store is at, with the totals of the unspent set there.
 * It is in the batch of the block it describes, so there is nothing to reconcile
 * after a crash.
 *
 * It is one of the reserved rows of the busy `chain` column.
 */
import type { Batch, Reader } from '../engine/engine.ts';
import type { Point } from '../ledgers/ledger.ts';
import { CHAIN, chainKey, META_PREFIX, metaKey } from '../projections/chain.ts';
import { readBigU64, readU64, writeBigU64, writeU64 } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';

export { META_PREFIX, metaKey };

const HEAD_KEY = metaKey('head');
const HEAD_BYTES = 81;

/** What the unspent outputs add up to. */
export interface Totals {
  /** How many there are. */
  readonly utxos: number;
  /** The sum of their values in the chain's smallest unit. */
  readonly value: bigint;
  /** Inputs that could not be resolved because the store began in the middle of the chain. */
  readonly missing: number;
}

export interface Head extends Point, Totals {
  readonly boundary: boolean;
  readonly era: number;
}

export const NO_TOTALS: Totals = { utxos: 0, value: 0n, missing: 0 };

export function headKey(head: Head): Uint8Array {
  return chainKey(head.height, head.boundary);
}

export function writeHead(batch: Batch, head: Head | null): void {
  if (head === null) {
    batch.del(CHAIN, HEAD_KEY);
    return;
  }
  const bytes = new Uint8Array(HEAD_BYTES);
  bytes.set(head.hash, 0);
  writeU64(bytes, 32, head.height);
  writeU64(bytes, 40, head.slot);
  bytes[48] = head.boundary ? 1 : 0;
  writeU64(bytes, 49, head.utxos);
  writeBigU64(bytes, 57, head.value >> 64n);
  writeBigU64(bytes, 65, head.value & 0xffff_ffff_ffff_ffffn);
  writeU64(bytes, 73, head.missing * 256 + head.era);
  batch.put(CHAIN, HEAD_KEY, bytes);
}

export function readHead(reader: Reader): Head | null {
  const bytes = reader.get(CHAIN, HEAD_KEY);
  if (bytes === undefined) return null;
  if (bytes.length !== HEAD_BYTES)
    throw new UnspentError('STORE_DAMAGED', `the head record has ${bytes.length} bytes, expected ${HEAD_BYTES}`);
  const missingAndEra = readU64(bytes, 73);
  return {
    hash: bytes.slice(0, 32),
    height: readU64(bytes, 32),
    slot: readU64(bytes, 40),
    boundary: bytes[48] === 1,
    utxos: readU64(bytes, 49),
    value: (readBigU64(bytes, 57) << 64n) | readBigU64(bytes, 65),
    missing: Math.floor(missingAndEra / 256),
    era: missingAndEra % 256,
  };
}
