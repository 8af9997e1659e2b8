/**
 * The transaction store in the engine of the chain, for what happens between
 * blocks: the mempool, transactions that nobody waits for any more, and prune
 * passes. Before a pass deletes anything the chain is told how far it cannot go
 * back any more.
 */
import type { Batch, Engine } from '../../engine/engine.ts';
import { HISTORY_TX, historyTxKey } from '../../projections/history/rows.ts';
import { readTxRow, TX } from '../../projections/transactions.ts';
import { toHex } from '../../util/bytes.ts';
import { TXS_FORGET_MAX } from '../../util/limits.ts';
import { TX_STORE_COLUMNS } from '../embedded/columns.ts';
import { EmbeddedTxStore } from '../embedded/index.ts';
import type { Removal, RemovalResult } from '../prune-store.ts';
import type { TxStoreSettings, TxStoreStats } from '../store.ts';
import type { ChainTx } from './chain-txs.ts';
import { forget, receiveTx } from './connect.ts';

export interface ChainTxOptions {
  /** The chain is not to go back below this height from now on. */
  readonly raiseHorizon: (height: number) => void;
  /** With a record the bytes of its transaction go from the history. */
  readonly boundsHistory: boolean;
}

export class ChainTxStore extends EmbeddedTxStore {
  readonly #engine: Engine;
  readonly #raiseHorizon: (height: number) => void;

  readonly #boundsHistory: boolean;

  constructor(engine: Engine, settings: TxStoreSettings, { raiseHorizon, boundsHistory }: ChainTxOptions) {
    // The horizon keeps the chain from going back further than the window, so that no deeper reorganisation is accepted.
    super(engine, settings, { depthMax: settings.window });
    this.#engine = engine;
    this.#boundsHistory = boundsHistory;
    this.#raiseHorizon = raiseHorizon;
  }

  override async removeParents(removal: Removal): Promise<RemovalResult> {
    if (removal.parents.length > 0) this.#raiseHorizon(removal.height - this.settings.window);
    return super.removeParents(removal);
  }

  /** A loser that was in no block has no bytes in the history. */
  protected override putRemoved(deleted: readonly Uint8Array[], batch: Batch): void {
    if (!this.#boundsHistory) return;
    for (const [n, row] of this.#engine.getMany(TX, deleted).entries()) {
      if (row === undefined) continue;
      const { height, txIndex } = readTxRow(row);
      batch.put(HISTORY_TX, historyTxKey(height, txIndex), deleted[n]);
    }
  }

  /** Of its own columns alone. */
  override async stats(): Promise<TxStoreStats> {
    const bytes = TX_STORE_COLUMNS.reduce((sum, { name }) => sum + this.#engine.stats(name).bytes, 0);
    return { ...(await super.stats()), bytes };
  }

  /** Transactions that wait in the mempool; those that do not fit the chain are passed over. Returns how many were taken. */
  receive(txs: readonly ChainTx[], height: number): number {
    return this.write(height, (unit) => {
      unit.load(txs.flatMap(({ tx, spends }) => [tx.txId, ...spends.map(({ txId }) => txId)]));
      let [taken, waiting] = [0, txs];
      for (let before = -1; before < taken; ) {
        before = taken;
        // One whose parent comes behind it is taken in the next round.
        waiting = waiting.filter((tx) => !receiveTx(unit, tx));
        taken = txs.length - waiting.length;
      }
      return taken;
    });
  }

  /** Gives up what is in no block since `cutoff` or longer, but for what somebody still waits for. Returns how many, bounded. */
  async giveUp(cutoff: number, isWaited: (txId: Uint8Array) => boolean, height: number): Promise<number> {
    const old = (await this.queryOldUnmined(cutoff, TXS_FORGET_MAX)).filter(({ txId }) => !isWaited(txId));
    if (old.length === 0) return 0;
    return this.write(height, (unit) => {
      const gone = new Set<string>();
      for (const { txId } of old) {
        const tx = unit.find(txId);
        // A loser goes when its time comes; its parents hold it as one.
        if (tx === undefined || tx.state.isConflicting || gone.has(toHex(txId))) continue;
        forget(unit, [tx]);
        gone.add(toHex(txId));
      }
      return gone.size;
    });
  }
}
