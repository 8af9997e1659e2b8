/**
 * The mempool that the wire shapes of the Bitcoin family answer from.
 */
import { Mempool } from '../../query/bitcoin/mempool/mempool.ts';
import { assert } from '../../util/errors.ts';
import type { ServerContext } from '../context.ts';

/** Null: none is kept, because the store keeps no unspent set. */
export function mempoolOf({ mempool }: Pick<ServerContext, 'mempool'>): Mempool | null {
  assert(mempool === null || mempool instanceof Mempool, 'a store of the Bitcoin family keeps a mempool of its kind');
  return mempool;
}
