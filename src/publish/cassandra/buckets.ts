/**
 * Which partition of Cassandra a row is in: the bucket of its key. A bucket is
 * the beginning of the key, the rest of its bits cleared, so buckets have the
 * order of keys, and a scan in key order goes through them one after the other.
 *
 * How much of the key that is depends on what the keys of a column begin with:
 * a hash spreads rows by itself, a number is cut so that some thousand rows that
 * follow each other share a bucket and the newest do not all go to one that only
 * grows. Rows of several columns share the bucket that has the same beginning:
 * what a batch costs is the number of partitions that it touches.
 */
import type { ColumnSpec } from '../../engine/engine.ts';
import { CHAIN } from '../../projections/chain.ts';
import { CSMT } from '../../projections/csmt/csmt.ts';
import { HISTORY_TX } from '../../projections/history/rows.ts';
import { MMR_BITMAP, MMR_NODES, MMR_PRUNE } from '../../projections/mmr/rows.ts';
import { PLACE } from '../../projections/place.ts';
import { DELTA } from '../../projections/projection.ts';

/** So many bytes of the key, and which bits of the last of them. */
export interface BucketRule {
  readonly bytes: number;
  readonly mask: number;
}

/** A u64: 1024 that follow each other share a bucket. */
const BY_U64: BucketRule = { bytes: 7, mask: 0xfc };
/** The same of a u32. */
const BY_U32: BucketRule = { bytes: 3, mask: 0xfc };

/** Columns whose keys begin with something else than a hash. */
const RULES: Readonly<Record<string, BucketRule>> = {
  [CHAIN]: BY_U64,
  [DELTA]: BY_U64,
  [HISTORY_TX]: BY_U32,
  // A slot: the outputs of 256 of them share a bucket.
  [PLACE]: { bytes: 7, mask: 0xff },
  [MMR_NODES]: { bytes: 7, mask: 0xf0 },
  [MMR_PRUNE]: { bytes: 7, mask: 0xf0 },
  // A kind, then a u32.
  [MMR_BITMAP]: { bytes: 4, mask: 0xff },
  // The length of the path, then the path.
  [CSMT]: { bytes: 2, mask: 0xf0 },
};

/** A prefix of so many bytes is a number at most: of a trie, of which there may be one. */
const NUMBER_BYTES_MAX = 8;

/** Of one column in a copy that begins now; `count` as in the URL; `first`: the key of its first row, where there is one. */
export function bucketRule(
  { name, prefixBytes = NUMBER_BYTES_MAX + 1 }: ColumnSpec,
  count: number,
  first: Uint8Array | undefined,
): BucketRule {
  if (Object.hasOwn(RULES, name)) return RULES[name];
  if (prefixBytes <= NUMBER_BYTES_MAX) return { bytes: prefixBytes + 1, mask: 0xf0 };
  if (first !== undefined && startsWithZeros(first, 4)) return BY_U64;
  if (first !== undefined && startsWithZeros(first, 2)) return BY_U32;
  const bits = Math.log2(count);
  return { bytes: Math.ceil(bits / 8), mask: bits % 8 === 0 ? 0xff : 0xff & (0xff << (8 - (bits % 8))) };
}

function startsWithZeros(key: Uint8Array, count: number): boolean {
  return key.length > count && key.subarray(0, count).every((byte) => byte === 0);
}

/** Of a key, or of a bound of keys. */
export function bucketOf(key: Uint8Array, { bytes, mask }: BucketRule): Buffer {
  const bucket = Buffer.from(key.subarray(0, bytes));
  if (bucket.length === bytes) bucket[bytes - 1] &= mask;
  // A partition has a key of one byte at least.
  return bucket.length === 0 ? Buffer.alloc(1) : bucket;
}
