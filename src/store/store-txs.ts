/**
 * The transactions of a store (`txs.store`): their records, the prune passes
 * beside following, and what an operator asks of both. The records themselves
 * change in the batches of the fold (`txstore/chain/projection.ts`).
 */
import { type Config, type SettingKey, settingValue } from '../config/schema.ts';
import type { MempoolChange } from '../ledgers/mempool-change.ts';
import { TXS_SWITCH } from '../projections/txs-switch.ts';
import type { Fold, FoldWatcher } from '../state/fold.ts';
import { ChainTxStore } from '../txstore/chain/chain-store.ts';
import { type ChainTx, relayedTx } from '../txstore/chain/chain-txs.ts';
import { txsSettings } from '../txstore/chain/entry.ts';
import { blockedTx, durationReports, type FormatId, passReport, type TxsReport } from '../txstore/chain/report.ts';
import { PruneCounters } from '../txstore/prune/counters.ts';
import { type PassResult, runPass } from '../txstore/prune/pass.ts';
import { type PassOutcome, Pruner } from '../txstore/prune/pruner.ts';
import { type PassSettings, PRUNE_DEFAULTS } from '../txstore/prune/settings.ts';
import type { ChainConditions } from '../txstore/rules/gates.ts';
import { toHex } from '../util/bytes.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { READY_BLOCKS_BEHIND_MAX, TXS_BLOCKED_SHOWN_MAX, TXS_CHUNK_PARENTS } from '../util/limits.ts';
import { switchText } from '../util/setting.ts';
import type { FollowState } from './following.ts';

/** What the rest of the store says of following. */
interface FollowedChain {
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
  #report: TxsReport | null = null;

  constructor(fold: Fold, config: Config, chain: FollowedChain) {
    this.#fold = fold;
    this.#config = config;
    this.#chain = chain;
    const settings = txsSettings((key) => settingValue(config, key as SettingKey));
    this.records = new ChainTxStore(fold.engine, settings, {
      raiseHorizon: (height) => fold.raiseHorizon(height),
      boundsHistory: config.txs.boundHistory && config.utxo.history,
    });
    this.pruner = new Pruner({
      store: this.records,
      settings: this.#passSettings(config.txs.dryRun),
      conditions: async () => this.conditions(),
    });
  }

  /** As of the last pass, or of the opening; null: nobody has asked yet. */
  get report(): TxsReport | null {
    return this.#report;
  }

  /** One chunk is one turn of the event loop, in which no block is applied: it is kept short, and no two go together. */
  #passSettings(dryRun: boolean): PassSettings {
    const { minHeight: heightMin, skipCatchUp } = this.#config.txs;
    return { ...PRUNE_DEFAULTS, dryRun, heightMin, skipCatchUp, chunkParents: TXS_CHUNK_PARENTS, parallelChunks: 1 };
  }

  get #height(): number {
    return this.#fold.head?.height ?? 0;
  }

  /** What the gates of a pass ask. Blocks are applied completely or not at all. */
  conditions(): ChainConditions {
    const { following } = this.#chain;
    const tip = following?.progress?.tip?.height;
    return {
      isIndexReady: true,
      // One rollback is one turn. Until its blocks are replaced the height is one that is `completed`.
      isReorganising: false,
      isResetting: false,
      isCatchingUp:
        following !== null && (following.progress === null || (tip !== undefined && tip - this.#height > READY_BLOCKS_BEHIND_MAX)),
      tipHeight: this.#height,
      appliedHeight: this.#height,
    };
  }

  /** Passes while blocks come, until the signal does. Each is a number of short turns; blocks and readers get theirs in between. */
  async run(signal: AbortSignal, formatId: FormatId): Promise<void> {
    this.#fold.watchers.add(this);
    const stop = (): void => this.#wake();
    signal.addEventListener('abort', stop);
    try {
      for (let done = 0; !signal.aborted; ) {
        const height = this.#height;
        if (height > 0 && height !== done) {
          await this.pass();
          await this.refresh(formatId);
        }
        done = height;
        if (!signal.aborted && this.#height === done) await new Promise<void>((resolve) => (this.#wake = resolve));
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
    await this.#giveUp();
    return this.pruner.prune(this.#height);
  }

  /** What a pass would do now, whatever the gates say. Changes nothing. */
  async look(): Promise<PassResult> {
    const height = this.#height;
    const heights = { requested: height, allowed: height, window: this.records.settings.window };
    const settings = this.#passSettings(true);
    return runPass({ store: this.records, settings, heights, counters: new PruneCounters(), now: () => performance.now() });
  }

  async #giveUp(): Promise<void> {
    const cutoff = this.#height - this.#config.txs.unminedBlocks;
    if (cutoff <= 0 || this.conditions().isCatchingUp) return;
    const known = this.#mempool;
    await this.records.giveUp(cutoff, (txId) => known?.has(toHex(txId)) === true, this.#height);
  }

  /** What the mempool of the node that is followed does. `mweb`: of Litecoin. */
  take(change: MempoolChange, mweb: boolean): void {
    if (change.kind === 'reset') this.#mempool = null;
    else if (change.kind === 'remove') for (const id of change.ids) this.#mempool?.delete(toHex(id));
    else {
      const txs = change.txs.flatMap((raw) => readable(raw, mweb));
      this.#mempool ??= new Set();
      for (const { tx } of txs) this.#mempool.add(toHex(tx.txId));
      this.records.receive(txs, this.#height);
    }
  }

  /** Looks anew. */
  async refresh(formatId: FormatId): Promise<TxsReport> {
    const { pruner, records } = this;
    const [progress, gauges] = [await records.pruneProgress(), await pruner.gauges()];
    const last = pruner.history.at(-1);
    this.#report = {
      ...records.settings,
      state: pruner.backlogState,
      completed: progress.lastCompleted,
      prunedHeight: progress.prunedHeight,
      gauges,
      counters: Object.fromEntries(pruner.counters.counts()),
      durations: durationReports(pruner),
      lastPass: last === undefined ? null : passReport(last),
      blocked: pruner.blocked(TXS_BLOCKED_SHOWN_MAX).map((kept) => blockedTx(kept, formatId)),
    };
    return this.#report;
  }
}

/** Throws UNSUPPORTED where the store keeps no records of transactions. */
export function needTxs({ txs }: { readonly txs: StoreTxs | null }): StoreTxs {
  if (txs !== null) return txs;
  throw new UnspentError('UNSUPPORTED', `this store keeps no records of transactions: it was made without ${switchText(TXS_SWITCH)}`);
}

/** What is no transaction is the node's affair: nobody can put it into a block. */
function readable(raw: Uint8Array, mweb: boolean): ChainTx[] {
  try {
    return [relayedTx(raw, mweb)];
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    return [];
  }
}
