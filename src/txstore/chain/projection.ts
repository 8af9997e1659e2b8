/**
 * The transaction store in the engine of the chain: a step of the fold changes
 * records in the batch of its blocks, so that both are at the same block
 * whatever happens.
 *
 * Unlike other projections it is not byte for byte what it was when a step is
 * taken back: transactions of a block that is undone wait for another one, as
 * they do in the mempool of a node, and those that lost stay known as losers.
 * What it says of the best chain, who spends what, is exactly what it was.
 */
import type { ColumnSpec } from '../../engine/engine.ts';
import type { Projection } from '../../projections/projection.ts';
import { TX_STORE_COLUMNS } from '../embedded/columns.ts';
import { readProgress } from '../embedded/progress.ts';
import { cacheOf } from '../embedded/tx-cache.ts';
import { TxUnit } from '../embedded/unit.ts';
import type { TxStoreSettings } from '../store.ts';
import { chainBlock } from './chain-txs.ts';
import { connectBlock, disconnectBlock, loadBlocks } from './connect.ts';

export const TXS_NAME = 'txs';

/** Its columns together take some three times what the unspent set takes. The unspent set stays the main column. */
const WEIGHT = 60;
const columns: readonly ColumnSpec[] = TX_STORE_COLUMNS.map(({ main: _, weight, ...column }) => ({ ...column, weight: WEIGHT * weight }));

export function txsProjection(settings: TxStoreSettings): Projection {
  return {
    name: TXS_NAME,
    columns,
    apply(step, view, batch) {
      // The output of the first block of all was never in the set, and nothing can spend it.
      const blocks = step.blocks.filter(({ height }) => height > 0).map(chainBlock);
      const unit = new TxUnit(view, settings, 0, cacheOf(view));
      loadBlocks(unit, blocks);
      for (const block of blocks) connectBlock(unit, block);
      unit.write(batch);
      return undefined;
    },
    revert(step, _undo, view, batch) {
      const { prunedHeight } = readProgress(view);
      const unit = new TxUnit(view, settings, 0, cacheOf(view));
      for (const { hash, height, txs } of step.blocks)
        if (height > 0) disconnectBlock(unit, { hash, height, txIds: txs.map(({ id }) => id) }, prunedHeight, settings.window);
      unit.write(batch);
    },
  };
}
