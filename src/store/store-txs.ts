/**
 * The transactions of a store (`txs.store`): their records, the prune passes
 * beside following, and what an operator asks of both. The records themselves
 * change in the batches of the fold (`txstore/chain/projection.ts`).
 */
import type { Config } from '../config/schema.ts';
import { type SettingKey, settingValue } from '../config/schema.ts';
import type { MempoolChange } from '../ledgers/mempool-change.ts';
import type { Fold, FoldWatcher } from '../state/fold.ts';
import { ChainTxStore } from '../txstore/chain/chain-store.ts';
import { relayedTx } from '../txstore/chain/chain-txs.ts';
import { txsSettings } from '../txstore/chain/entry.ts';
import { type PassOutcome, Pruner } from '../txstore/prune/pruner.ts';
import type { ChainConditions } from '../txstore/rules/gates.ts';
import { toHex } from '../util/bytes.ts';
import { isUnspentError } from '../util/errors.ts';
import { READY_BLOCKS_BEHIND_MAX, TXS_CHUNK_PARENTS } from '../util/limits.ts';
import type { FollowState } from './following.ts';

/** What the rest of the store says of following. */
export interface FollowedChain {
  readonly following: FollowState | null;
}

export class StoreTxs implements FoldWatcher {
  readonly records: ChainTxStore;
  readonly pruner: Pruner;
  readonly #fold: Fold;
  readonly #config: Config;
  readonly #chain: FollowedChain;
  /** Ids of what the mempool has, in hex; null: it was not heard of, or is told anew. */
  #mempool: Set<string> | null = null;
  #wake: () => void = () => {};

  constructor(fold: Fold, config: Config, chain: FollowedChain) {
    const settings = txsSettings((key) => settingValue(config, key as SettingKey));
    this.#fold = fold;
    this.#config = config;
    this.#chain = chain;
    this.records = new ChainTxStore(fold.engine, settings, (height) => fold.raiseHorizon(height));
    this.pruner = this.prunerWith({ dryRun: config.txs.dryRun });
  }

  /** Another pruner over the same records, for whoever asks for a pass of its own. */
  prunerWith({ dryRun }: { readonly dryRun: boolean }): Pruner {
    const { minHeight, skipCatchUp } = this.#config.txs;
    return new Pruner({
      store: this.records,
      // One chunk is one turn of the event loop, in which no block is applied: it is kept short, and no two go together.
      settings: { dryRun, heightMin: minHeight, skipCatchUp, chunkParents: TXS_CHUNK_PARENTS, parallelChunks: 1 },
      conditions: async () => this.conditions(),
    });
  }

  /** What the gates of a pass ask. Blocks are applied completely or not at all. */
  conditions(): ChainConditions {
    const height = this.#fold.head?.height ?? 0;
    const { following } = this.#chain;
    const tip = following?.progress?.tip?.height;
    return {
      isIndexReady: true,
      // One rollback is one turn. Until its blocks are replaced the height is one that is `completed`.
      isReorganising: false,
      isResetting: false,
      isCatchingUp: following !== null && (following.progress === null || (tip !== undefined && tip - height > READY_BLOCKS_BEHIND_MAX)),
      tipHeight: height,
      appliedHeight: height,
    };
  }

  /** Passes while blocks come, until the signal does. Each is a number of short turns; blocks and readers get theirs in between. */
  async run(signal: AbortSignal): Promise<void> {
    this.#fold.watchers.add(this);
    const stop = (): void => this.#wake();
    signal.addEventListener('abort', stop);
    try {
      for (let done = 0; !signal.aborted; ) {
        const height = this.#fold.head?.height ?? 0;
        if (height > 0 && height !== done) await this.pass();
        done = height;
        if (!signal.aborted && (this.#fold.head?.height ?? 0) === done) await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.#fold.watchers.delete(this);
    }
  }

  applied(): void {
    this.#wake();
  }

  /** One pass at the height of the store. */
  async pass(): Promise<PassOutcome> {
    const height = this.#fold.head?.height ?? 0;
    await this.#giveUp(height);
    return this.pruner.prune(height);
  }

  async #giveUp(height: number): Promise<void> {
    const cutoff = height - this.#config.txs.unminedBlocks;
    const { isCatchingUp } = this.conditions();
    if (cutoff <= 0 || isCatchingUp) return;
    const known = this.#mempool;
    await this.records.giveUp(cutoff, (txId) => known?.has(toHex(txId)) === true, height);
  }

  /** What the mempool of the node that is followed does. `mweb`: of Litecoin. */
  take(change: MempoolChange, mweb: boolean): void {
    if (change.kind === 'reset') this.#mempool = null;
    else if (change.kind === 'remove') for (const id of change.ids) this.#mempool?.delete(toHex(id));
    else {
      const txs = change.txs.flatMap((raw) => readable(raw, mweb));
      const mempool = this.#mempool ?? new Set<string>();
      for (const { tx } of txs) mempool.add(toHex(tx.txId));
      this.#mempool = mempool;
      this.records.receive(txs, this.#fold.head?.height ?? 0);
    }
  }
}

/** What is no transaction is the node's affair: nobody can put it into a block. */
function readable(raw: Uint8Array, mweb: boolean): ReturnType<typeof relayedTx>[] {
  try {
    return [relayedTx(raw, mweb)];
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    return [];
  }
}
