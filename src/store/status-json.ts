/**
 * The status of a store as a document: what `unspent status --json` prints and
 * what the library gives.
 */

import { type PointJson, renderPoint } from '../query/render.ts';
import type { FillProgress } from '../state/fill.ts';
import type { Head } from '../state/head.ts';
import type { SettingValue } from '../util/setting.ts';
import { type PublishingStatus, publishingStatus } from './publishing.ts';
import type { OpenStore, StoreStatus } from './store.ts';
import type { CageSummary } from './summary.ts';

/** When a block was made, in the chain's own words; what it has no words for is left out. */
export interface BlockTime {
  /** The epoch it is of. */
  readonly epoch?: number;
  /** ISO 8601, in UTC. */
  readonly time?: string;
  /** The era it is of. */
  readonly era?: string;
}

/** Where a store is, how far back it can go, what it keeps and how large it is. */
export interface StatusJson {
  /** Its directory. */
  readonly data: string;
  /** The name of its network. */
  readonly network: string;
  /** The newest block; null: none yet. */
  readonly tip: (PointJson & BlockTime) | null;
  /** The oldest block it can go back to; null: the origin. */
  readonly horizon: PointJson | null;
  /** The block of the snapshot it began with; null: it began with the first block it saw. */
  readonly snapshot: PointJson | null;
  /** It began in the middle of the chain, and not with a snapshot: outputs from before are not in it. */
  readonly partial: boolean;
  /** Unspent outputs; null: none are kept (`utxo.enabled`). */
  readonly utxos: number | null;
  /** The sum of their values in the chain's smallest unit, in decimal. */
  readonly value: string | null;
  /** Inputs that could not be resolved because the store is partial. */
  readonly missingInputs: number | null;
  /** Heights up to which spent outputs and undo records are gone; -1: none are. */
  readonly pruned: { readonly spentOutputs: number; readonly deltas: number };
  /** The mountain range over all outputs: its nodes and its merged root in hex; null where none is kept. */
  readonly mmr: { readonly size: number; readonly root: string } | null;
  /** Tokens, requests and what is wrong with them; null where no cages are followed (`cage.enabled`). */
  readonly cage: CageSummary | null;
  /** The settings in force that say what it keeps, how far back, and how it works, by key. */
  readonly settings: Readonly<Record<string, SettingValue>>;
  /** Names of what it keeps. */
  readonly projections: readonly string[];
  /** Those of them that were switched on later and are not ready yet. */
  readonly fills: readonly FillProgress[];
  /** The copy that is published by whoever has it open; null: none. */
  readonly publishing: PublishingStatus | null;
  /** Which engine it has, its bytes on disk, and what the engine says of itself. */
  readonly engine: { readonly kind: string; readonly bytes: number; readonly properties: Readonly<Record<string, string>> };
  /** Rows of each column, as the engine estimates them. */
  readonly keys: Readonly<Record<string, number>>;
}

export function statusJson(store: OpenStore, { head, totals, horizon, base, pruned, engine, ...rest }: StoreStatus): StatusJson {
  const { dialect } = store.network;
  return {
    ...rest,
    tip: head === null ? null : { ...renderPoint(head, dialect), ...blockTime(store, head) },
    horizon: renderPoint(horizon, dialect),
    snapshot: renderPoint(base, dialect),
    utxos: totals?.utxos ?? null,
    value: totals?.value.toString() ?? null,
    missingInputs: totals?.missing ?? null,
    pruned: { spentOutputs: pruned.spent, deltas: pruned.deltas },
    publishing: publishingStatus(store.publishing),
    engine: { kind: engine.kind, bytes: engine.bytes, properties: engine.properties },
  };
}

export function blockTime({ fold, network: { dialect } }: OpenStore, { height, slot, era }: Head): BlockTime {
  const epoch = dialect.clock.epoch(slot);
  const time = dialect.clock.time(slot, fold.rowAt(height));
  const name = dialect.eraName(era);
  return {
    ...(epoch === null ? {} : { epoch }),
    ...(time === null ? {} : { time: new Date(1000 * time).toISOString() }),
    ...(name === null ? {} : { era: name }),
  };
}
