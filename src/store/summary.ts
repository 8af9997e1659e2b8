/**
 * What an operator asks of a store, in one place: the status over HTTP, the
 * status on the command line and the metrics say the same because all of them
 * are made of this.
 */
import { type Config, SETTING_KEYS, type SettingKey, settingOf, settingValue } from '../config/schema.ts';
import type { EngineStats } from '../engine/engine.ts';
import type { ChainRow } from '../projections/chain.ts';
import type { Query } from '../query/query.ts';
import type { FillProgress } from '../state/fill.ts';
import type { Head, Totals } from '../state/head.ts';
import type { PrunedHeights } from '../state/pruned.ts';
import { toHex } from '../util/bytes.ts';
import { DIVERGED_TOKENS_SHOWN_MAX } from '../util/limits.ts';
import type { SettingValue } from '../util/setting.ts';

export interface StoreSummary {
  readonly head: Head | null;
  /** Of the unspent set; null: none is kept. */
  readonly totals: Totals | null;
  /** The oldest block it can go back to; null: the origin. */
  readonly horizon: ChainRow | null;
  readonly pruned: PrunedHeights;
  /** It began in the middle of the chain, and not with a snapshot. */
  readonly partial: boolean;
  /** The block of the snapshot it began with; null: of none. */
  readonly base: ChainRow | null;
  /** Nodes and merged root of the mountain range over all outputs; null where none is kept. */
  readonly mmr: { readonly size: number; readonly root: string } | null;
  /** What it knows of cages; null: it follows none. */
  readonly cage: CageSummary | null;
  /** What it keeps, how far back, how it prunes and applies: the settings in force, by key. */
  readonly settings: Readonly<Record<string, SettingValue>>;
}

export interface StoreStatus extends StoreSummary {
  readonly data: string;
  readonly network: string;
  readonly projections: readonly string[];
  /** Those of them that are not ready yet. */
  readonly fills: readonly FillProgress[];
  readonly engine: EngineStats;
  /** Rows of each column, as the engine estimates them. */
  readonly keys: Readonly<Record<string, number>>;
}

/** Counts of what a store keeps of cages (the MPFS protocol). */
export interface CageSummary {
  /** Tokens there are. */
  readonly tokens: number;
  /** Requests that wait. */
  readonly requests: number;
  /** Tokens that give no proofs, because their trie is not the one whose root is on chain. */
  readonly diverged: number;
  /** The first of those, as `POLICY.NAME` in hex, with what is wrong with them. */
  readonly divergedTokens: readonly { readonly token: string; readonly status: string }[];
  /** Outputs whose datum should be one of a cage and is not. */
  readonly malformed: number;
  /** Requests that were spent in a way that the scripts do not allow. */
  readonly gone: number;
}

/** Which store it is, and where its genesis is, is said elsewhere. */
const OF_THE_NETWORK: readonly SettingKey[] = ['network', 'genesis'];
const OF_THE_WORK: readonly SettingKey[] = ['utxo.pruneBatchSize', 'utxo.pruneScheduleSeconds', 'sync.groupBlocks'];
const SHOWN = SETTING_KEYS.filter((key) => (settingOf(key).shapesStore && !OF_THE_NETWORK.includes(key)) || OF_THE_WORK.includes(key));

export function summaryOf(query: Query, config: Config): StoreSummary {
  const base = query.base();
  return {
    head: query.head,
    totals: query.totals,
    horizon: query.horizon(config.utxo),
    pruned: query.pruned(),
    base,
    partial: base === null && query.firstHeight() > 0,
    mmr: config.utxo.enabled && config.utxo.store === 'mmr' ? rangeOf(query) : null,
    cage: config.utxo.enabled && config.cage.enabled ? cagesOf(query) : null,
    settings: Object.fromEntries(SHOWN.map((key) => [key, settingValue(config, key)])),
  };
}

function rangeOf(query: Query): StoreSummary['mmr'] {
  const { size, merged } = query.mmr().roots();
  return { size, root: toHex(merged) };
}

function cagesOf(query: Query): CageSummary {
  const cage = query.cage();
  const { tokens, requests, diverged, malformed, gone } = cage.counters();
  const divergedTokens: { token: string; status: string }[] = [];
  if (diverged > 0) {
    for (const { id, status } of cage.tokens()) {
      if (status === 'consistent') continue;
      divergedTokens.push({ token: `${toHex(id.policy)}.${toHex(id.name)}`, status });
      if (divergedTokens.length === Math.min(diverged, DIVERGED_TOKENS_SHOWN_MAX)) break;
    }
  }
  return { tokens, requests, diverged, divergedTokens, malformed, gone };
}

type Measure = (column: string) => { readonly properties: Readonly<Record<string, string>> };

/** Rows of each column, as the engine estimates them. */
export function keyEstimates(columns: readonly string[], measure: Measure): Readonly<Record<string, number>> {
  return Object.fromEntries(
    columns.map((column) => {
      const { properties } = measure(column);
      return [column, Number(properties['rocksdb.estimate-num-keys'] ?? properties['rows'] ?? 0)];
    }),
  );
}
