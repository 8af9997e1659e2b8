/**
 * Blocks of the chain by their height, and their headers as clients get them.
 */
import { readExtra } from '../../../ledgers/bitcoin/index.ts';
import type { ChainRow } from '../../../projections/chain.ts';
import type { Query } from '../../../query/query.ts';
import { toHex } from '../../../util/bytes.ts';
import { RPC, RpcError } from './rpc.ts';

/** A header as subscribers are told of it. */
export function headerEntry(query: Query, height: number): { readonly height: number; readonly hex: string } {
  return { height, hex: headerHex(blockAt(query, height)) };
}

/** Throws an RpcError. */
export function blockAt(query: Query, height: number): ChainRow {
  const row = query.blockAtHeight(height);
  if (row === null) throw new RpcError(RPC.badRequest, `height ${height} is out of range; the tip is at ${tipOf(query)}`);
  return row;
}

/** Throws an RpcError when there is none yet. */
export function tipOf({ head }: Query): number {
  if (head === null) throw new RpcError(RPC.node, 'the store has no blocks yet');
  return head.height;
}

export function headerHex(row: ChainRow): string {
  return toHex(readExtra(row.extra).header);
}
