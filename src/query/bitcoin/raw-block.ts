/** A block as its node sent it, byte by byte, from the history. */
import { joinBlock } from '../../ledgers/bitcoin/index.ts';
import type { ChainRow } from '../../projections/chain.ts';
import { rebuiltBlock } from '../../projections/history/rebuild.ts';
import { HISTORY_TX } from '../../projections/history/rows.ts';
import type { Query } from '../query.ts';

/** Throws UNSUPPORTED when the store keeps no history, PRUNED where bytes of transactions are gone. */
export function rawBlock(query: Query, row: ChainRow): Uint8Array {
  query.history();
  return rebuiltBlock(query.rowsOf([HISTORY_TX]), row, joinBlock).raw;
}
