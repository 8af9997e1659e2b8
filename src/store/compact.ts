/**
 * Gives back the space of what a store has forgotten. RocksDB deletes by writing
 * that something is gone; the bytes go when it merges tables, and it merges those
 * of a level when the level is too large. Its binding cannot ask for a merge, so
 * the store is opened with levels so small that all of them are too large, and
 * RocksDB does the rest (docs/adr/0025-compaction.md). Nothing else is written:
 * to stop in the middle is to have compacted less.
 */
import { type Config, withValues } from '../config/schema.ts';
import type { ProjectionEntry } from '../projections/entry.ts';
import { COMPACT_LOOK_MS, COMPACT_MEMTABLE_BYTES, COMPACT_QUIET_LOOKS } from '../util/limits.ts';
import { pause } from '../util/pause.ts';
import { configFrom, type OpenOptions, type SettingValues } from './options.ts';
import { openStore } from './store.ts';

/** Which store is compacted. */
export interface CompactOptions {
  /** Directory of the store. Default: the setting `data`. */
  readonly data?: string | undefined;
  /** Settings of the store. They go before environment variables (`UNSPENT_*`) and ./unspent.toml. */
  readonly settings?: SettingValues | undefined;
  /** The entries of the program's own projections that the store keeps. */
  readonly projections?: readonly ProjectionEntry[] | undefined;
  /**
   * All settings, loaded already; `settings` is then left aside.
   * @internal
   */
  readonly config?: Config | undefined;
  /** Aborting it ends the work: the store is then compacted less. */
  readonly signal?: AbortSignal | undefined;
  /** Told now and then how large it is. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/** The size of a store before and after. */
export interface CompactResult {
  /** Bytes on disk before. */
  readonly before: number;
  /** Bytes on disk after. */
  readonly after: number;
}

/** Gives back the space of what the store has forgotten, by having the engine merge its files. Nobody else may have the store open. */
export async function compactDirectory(options: CompactOptions = {}): Promise<CompactResult> {
  const config = configFrom(options);
  const data = options.data ?? config.data;
  const small = withValues(config, { 'engine.memtableBytes': COMPACT_MEMTABLE_BYTES });
  const { projections } = options;
  const before = await opened({ data, config, projections }, async () => {});
  await opened({ data, config: small, projections }, (measure, isBusy) => untilQuiet(measure, isBusy, options));
  // What it wrote in between, its log above all, goes when it is opened once more.
  const after = await opened({ data, config, projections }, async () => {});
  return { before, after };
}

type Look = (measure: () => number, isBusy: () => boolean) => Promise<void>;

/** The bytes on disk before the body. */
async function opened(options: OpenOptions, body: Look): Promise<number> {
  const store = await openStore({ ...options, create: false });
  try {
    const measure = (): number => store.engine.stats().bytes;
    const bytes = measure();
    // Only RocksDB merges: of another engine there is nothing to wait for.
    await body(measure, () => (store.engine.stats().properties['rocksdb.num-running-compactions'] ?? '0') !== '0');
    return bytes;
  } finally {
    await store.close();
  }
}

/** Until the size has not changed and nothing was being merged for some looks. */
async function untilQuiet(measure: () => number, isBusy: () => boolean, { signal, onProgress }: CompactOptions): Promise<void> {
  let last = -1;
  for (let quiet = 0; quiet < COMPACT_QUIET_LOOKS && !signal?.aborted; ) {
    const bytes = measure();
    onProgress?.(bytes);
    quiet = bytes === last && !isBusy() ? quiet + 1 : 0;
    last = bytes;
    await pause(COMPACT_LOOK_MS, { signal });
  }
}
