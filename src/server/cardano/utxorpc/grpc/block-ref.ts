/** Blocks as clients of UTxO RPC name them: by hash, or by height or slot where there is no hash. */
import type { ChainRow } from '../../../../projections/chain.ts';
import type { Query } from '../../../../query/query.ts';
import { toHex } from '../../../../util/bytes.ts';
import { UnspentError } from '../../../../util/errors.ts';
import { UTXORPC_POINTS_MAX } from '../../../../util/limits.ts';

export interface BlockRef {
  readonly slot: bigint;
  readonly hash: Uint8Array;
  readonly height: bigint;
}

/** Null: there is none on our chain. */
function findBlock(query: Query, { slot, hash, height }: BlockRef): ChainRow | null {
  if (hash.length > 0) return query.blockByHash(hash);
  if (height > 0n) return query.blockAtHeight(Number(height));
  const row = query.blockAtSlot(Number(slot));
  return row !== null && BigInt(row.slot) === slot ? row : null;
}

/** Throws POINT_UNKNOWN. */
export function blockOf(query: Query, ref: BlockRef): ChainRow {
  const row = findBlock(query, ref);
  if (row !== null) return row;
  const { slot, hash, height } = ref;
  throw new UnspentError('POINT_UNKNOWN', `there is no block ${toHex(hash)} of slot ${slot} and height ${height} on our chain`);
}

/**
 * Where a client goes on that says which blocks it has: the first of them that is on our chain, the newest block where
 * it says none; null: the origin, which is a point without hash, slot and height. Throws POINT_UNKNOWN, LIMIT.
 */
export function startOf(query: Query, intersect: readonly BlockRef[]): ChainRow | null {
  if (intersect.length === 0) return query.headRow();
  if (intersect.length > UTXORPC_POINTS_MAX)
    throw new UnspentError('LIMIT', `intersect has ${intersect.length} points, more than ${UTXORPC_POINTS_MAX}`, { field: 'intersect' });
  for (const ref of intersect) {
    if (isOrigin(ref)) return null;
    const row = findBlock(query, ref);
    if (row !== null) return row;
  }
  throw new UnspentError('POINT_UNKNOWN', 'none of the points to intersect at is on our chain', { field: 'intersect' });
}

function isOrigin({ slot, hash, height }: BlockRef): boolean {
  return slot === 0n && hash.length === 0 && height === 0n;
}
