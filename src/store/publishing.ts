/**
 * How publishing to a copy elsewhere is doing (`publish/`), as plain data: for
 * status, metrics and the page, in whichever thread they are.
 */
import type { Config } from '../config/schema.ts';
import type { Fold, FoldOptions } from '../state/fold.ts';
import { fromHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { PUBLISH_REPORT_MS } from '../util/limits.ts';
import { pause } from '../util/pause.ts';

/** What stands of publishing in the status of a store: `unspent status --json` and `--watch --json` have it. */
export interface PublishingStatus {
  /** The copy, without secrets. */
  readonly target: string;
  /** Our own columns as tables, or tables for people. */
  readonly form: 'columns' | 'sql';
  /**
   * What the publisher does. `waiting`: another publisher leads. `catching-up`: the store itself is far behind its chain, and a copy that begins
   * waits for it. `unreachable`: the database does not answer, and is asked again.
   */
  readonly state: 'connecting' | 'waiting' | 'catching-up' | 'loading' | 'publishing' | 'unreachable' | 'stopped';
  /** Of the copy; null: the origin, or nothing is published. */
  readonly height: number | null;
  /** Blocks that the store is ahead of the copy. */
  readonly lag: number;
  /** What went wrong last; null: nothing, since it last went well. */
  readonly lastError: string | null;
}

export interface PublishReport extends PublishingStatus {
  readonly epoch: number;
  /** The number of the last change. */
  readonly seq: number;
  /** Since the process started. */
  readonly blocks: number;
  readonly undone: number;
  readonly rows: number;
  readonly bytes: number;
  readonly snapshots: number;
  /** Seconds that the newest commit took. */
  readonly commitSeconds: number;
  readonly commits: number;
  /** Seconds that all commits took. */
  readonly commitSecondsSum: number;
  /** The hash of the newest block below which history may be forgotten here, because the copy keeps it (`publish.history`). */
  readonly kept: string | null;
}

/** Null: nothing is published from here. */
export function publishingStatus(publishing: Publishing | null): PublishingStatus | null {
  if (publishing === null) return null;
  const { target, form, state, height, lag, lastError } = publishing.report;
  return { target, form, state, height, lag, lastError };
}

/** What a store knows of who publishes it. */
export interface Publishing {
  readonly report: PublishReport;
}

/** The block below which history may be forgotten here. */
export function keptHash(publishing: Publishing | null): Uint8Array | null {
  const kept = publishing?.report.kept ?? null;
  return kept === null ? null : fromHex(kept);
}

/** How fast a store may follow: no faster than its records in a database, and the copy that has its history alone, can. */
export function followPace(store: PacedStore): { readonly groupBlocks: number; readonly room: (signal: AbortSignal) => Promise<void> } {
  const { txs, fold, config } = store;
  const leaves = config.publish.history === 'copy';
  if (leaves) checkPublishing(store.publishing);
  const wanted = txs?.groupBlocks(config.sync.groupBlocks) ?? config.sync.groupBlocks;
  return {
    groupBlocks: leaves ? Math.min(wanted, blocksAheadMax(fold.options)) : wanted,
    async room(signal) {
      await txs?.room(signal);
      if (leaves) await publishedWithin(store, signal);
    },
  };
}

/** Resolves when the copy is near enough for more blocks to come, or the signal comes. Throws CONFIG. */
async function publishedWithin(store: PacedStore, signal: AbortSignal): Promise<void> {
  const { options, head } = store.fold;
  while (!signal.aborted) {
    const { height } = checkPublishing(store.publishing);
    if ((head?.height ?? -1) - (height ?? -1) <= blocksAheadMax(options)) return;
    await pause(PUBLISH_REPORT_MS, { signal });
  }
}

/** Throws CONFIG where nobody publishes, or has stopped to. */
function checkPublishing(publishing: Publishing | null): PublishReport {
  const why = publishing === null ? 'nothing is published: set publish.to' : 'publishing has stopped';
  if (publishing !== null && publishing.report.state !== 'stopped') return publishing.report;
  throw new UnspentError('CONFIG', `publish.history = copy, and ${why}${publishing === null ? '' : `: ${publishing.report.lastError}`}`);
}

/** Blocks that a store whose history the copy keeps may be ahead of it, and that it commits at once. */
function blocksAheadMax({ pruneDepth }: Pick<FoldOptions, 'pruneDepth'>): number {
  return Math.max(1, Math.floor(pruneDepth / 4));
}

interface PacedStore {
  readonly fold: Pick<Fold, 'head' | 'options'>;
  readonly config: { readonly publish: Pick<Config['publish'], 'history'>; readonly sync: Pick<Config['sync'], 'groupBlocks'> };
  readonly publishing: Publishing | null;
  readonly txs: { groupBlocks(wanted: number): number; room(signal: AbortSignal): Promise<void> } | null;
}
