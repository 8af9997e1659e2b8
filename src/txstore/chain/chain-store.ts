/**
 * The transaction store in the engine of the chain, for what happens between
 * blocks: the mempool, transactions that nobody waits for any more, and prune
 * passes. Before a pass deletes anything the chain is told how far it cannot go
 * back any more.
 */
import type { Batch, Engine } from '../../engine/engine.ts';
import { TX_STORE_COLUMNS } from '../embedded/columns.ts';
import { EmbeddedTxStore } from '../embedded/index.ts';
import type { TxStoreSettings, TxStoreStats } from '../store.ts';
import type { ChainRecords } from './chain-records.ts';
import type { ChainTx } from './chain-txs.ts';
import { forgetOld, receiveTxs } from './connect.ts';
import { dropHistoryBytes } from './history-bytes.ts';
import { OldUnmined } from './old-unmined.ts';

export interface ChainTxOptions {
  /** The chain is not to go back below this height from now on. */
  readonly raiseHorizon: (height: number) => void;
  /** Of the newest block of the chain. */
  readonly headHeight: () => number;
  /** With a record the bytes of its transaction go from the history. */
  readonly boundsHistory: boolean;
}

export class ChainTxStore extends EmbeddedTxStore implements ChainRecords {
  readonly #engine: Engine;
  readonly #raiseHorizon: (height: number) => void;
  readonly #headHeight: () => number;
  readonly #boundsHistory: boolean;
  readonly #oldUnmined = new OldUnmined(this);

  constructor(engine: Engine, settings: TxStoreSettings, { raiseHorizon, headHeight, boundsHistory }: ChainTxOptions) {
    // The horizon keeps the chain from going back further than the window, so that no deeper reorganisation is accepted.
    super(engine, settings, { depthMax: settings.window });
    this.#engine = engine;
    this.#boundsHistory = boundsHistory;
    this.#raiseHorizon = raiseHorizon;
    this.#headHeight = headHeight;
  }

  /** A chain that has gone back further than the window since the pass began has left the blocks that it relies on. */
  protected override mayRemove(height: number): boolean {
    return this.#headHeight() >= height - this.settings.window;
  }

  protected override beforeRemoval(height: number): void {
    this.#raiseHorizon(height - this.settings.window);
  }

  protected override putRemoved(deleted: readonly Uint8Array[], batch: Batch): number {
    return this.#boundsHistory ? dropHistoryBytes(this.#engine, deleted, batch) : 0;
  }

  /** Of its own columns alone. */
  override async stats(): Promise<TxStoreStats> {
    const bytes = TX_STORE_COLUMNS.reduce((sum, { name }) => sum + this.#engine.stats(name).bytes, 0);
    return { ...(await super.stats()), bytes };
  }

  async receive(txs: readonly ChainTx[], height: number): Promise<number> {
    return this.write(height, (unit) => {
      unit.load(txs.flatMap(({ tx, spends }) => [tx.txId, ...spends.map(({ txId }) => txId)]));
      return receiveTxs(unit, txs);
    });
  }

  async giveUp(cutoff: number, isWaited: (txId: Uint8Array) => boolean, height: number): Promise<number> {
    const txIds = await this.#oldUnmined.next(cutoff, isWaited);
    return txIds.length === 0 ? 0 : this.write(height, (unit) => forgetOld(unit, txIds));
  }
}
