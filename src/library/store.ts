/**
 * The library's store: what a program does with one. It shows no engine, no fold
 * and no bytes; the open store behind it (`store/store.ts`) has all of that, where
 * only this class and the other doors of the library (`opened.ts`) can reach it.
 */
import type { Digest } from '../query/digest.ts';
import { type PointJson, renderPoint } from '../query/render.ts';
import type { Served, ServeOptions } from '../server/serve.ts';
import type { FollowProgress, FollowResult, Until } from '../sources/follow.ts';
import type { Source } from '../sources/source.ts';
import type { Totals } from '../state/head.ts';
import type { PruneCounts } from '../state/pruned.ts';
import { pinStore } from '../store/backup/pinned-store.ts';
import { type BackupOptions, type BackupReport, writeBackup } from '../store/backup/write.ts';
import { exportSnapshot, type SnapshotManifest } from '../store/snapshots.ts';
import { type StatusJson, statusJson } from '../store/status-json.ts';
import type { OpenStore } from '../store/store.ts';
import type { Verification } from '../store/verify/verify.ts';
import { type EventsOptions, eventForm, type StoreEventStream, streamOf } from './events.ts';
import { pinRead, readNow } from './pinned-read.ts';
import { StoreReads } from './reads.ts';
import { type BlockPlace, findBlock } from './text.ts';
import { StoreView } from './view.ts';

/** How a source is followed. */
export interface StoreFollowOptions {
  /** Where to stop: at the source's tip (the default, see `stay`), or before the first block above a slot or a height. */
  readonly until?: Until | undefined;
  /** Stay at the source's tip and take new blocks as they come, until the signal says otherwise. Default: false. */
  readonly stay?: boolean | undefined;
  /** Aborting it ends the following at a block; what was applied stays. */
  readonly signal?: AbortSignal | undefined;
  /** Told after each run of blocks. */
  readonly onProgress?: ((progress: FollowProgress) => void) | undefined;
  /** Told of each rollback: the block it went back to (null: the origin), and how many blocks were undone. */
  readonly onRollback?: ((to: PointJson | null, undone: number) => void) | undefined;
}

/** How the unspent set is written to files. */
export interface SnapshotExportOptions {
  /** A block of the chain inside the window; default: the one the store is at. */
  readonly at?: BlockPlace | undefined;
  /** Aborting it stops the export, which then leaves no snapshot behind. */
  readonly signal?: AbortSignal | undefined;
  /** Told now and then how many outputs were written. */
  readonly onRows?: ((rows: number) => void) | undefined;
}

/** How much of a store is to be pruned. */
export interface PruneOptions {
  /** Blocks at most; default: the setting `utxo.pruneBatchSize`. */
  readonly blocksMax?: number | undefined;
}

/**
 * One data directory that this process has open: the unspent outputs of a chain, and what else is switched on. Every
 * read here is of the block the store is at when it is asked; `view` gives reads that are all of one block.
 */
export class Store extends StoreReads implements AsyncDisposable {
  readonly #opened: OpenStore;

  /** @internal */
  constructor(opened: OpenStore) {
    super((body) => readNow(opened, body));
    this.#opened = opened;
  }

  /** @internal What the other doors of the package work on; programs get no class to ask. */
  static openStoreOf(store: Store): OpenStore {
    return store.#opened;
  }

  /** The directory it is in. */
  get data(): string {
    return this.#opened.data;
  }

  /** The name of its network. */
  get network(): string {
    return this.#opened.network.name;
  }

  /** What the unspent outputs add up to; null: the store keeps none (`utxo.enabled` is off). */
  totals(): Totals | null {
    return this.#opened.totals();
  }

  /**
   * The store at one block: now, or at an earlier one inside the window. Release it, or declare it with `using`.
   * Throws USAGE, POINT_UNKNOWN or PRUNED.
   */
  view(place?: BlockPlace): StoreView {
    return new StoreView(pinRead(this.#opened, place));
  }

  /**
   * Takes blocks from a source, each in one atomic batch, until the source ends, `until` is reached or the signal comes;
   * the next call goes on from there. A source is a URL (docs/operating.md) or an object of your own (`unspent/sources`).
   */
  follow(source: string | Source, options: StoreFollowOptions = {}): Promise<FollowResult> {
    const opened = this.#opened;
    const { until, stay, signal, onProgress, onRollback } = options;
    return opened.follow(source, {
      ...(until === undefined ? {} : { until }),
      ...(signal === undefined ? {} : { signal }),
      follow: stay === true,
      onProgress,
      onRollback: onRollback && ((to, undone) => onRollback(renderPoint(to, opened.network.dialect), undone)),
    });
  }

  /**
   * What happens to the chain from a position on: each block that is applied or undone, with what it created and spent.
   * A program that stores the position of an event together with what it made of it, and begins there again, takes in
   * every block exactly once, whoever crashed. Throws USAGE when `after` is no position, EXPIRED when the events behind it
   * cannot be told any more, UNSUPPORTED when the store keeps no outputs.
   */
  events(options: EventsOptions = {}): StoreEventStream {
    const { after, signal } = options;
    const from = typeof after === 'object' ? after.hash : after;
    return streamOf(this.#opened.eventsAs({ after: from, signal }, eventForm(this.#opened.network.dialect)));
  }

  /** Undoes blocks, newest first, until `to` is the head; returns how many. Throws POINT_UNKNOWN or HORIZON, having changed nothing. */
  rollback(to: BlockPlace): number {
    const opened = this.#opened;
    return opened.rollback(opened.read((query) => findBlock(query, to, opened.network.dialect)));
  }

  /** Forgets what only blocks below the window could need, one bounded batch at a time. `follow` does so by itself. */
  prune(options: PruneOptions = {}): PruneCounts {
    return this.#opened.prune(options.blocksMax);
  }

  /** Checks everything the store keeps against the unspent set. It reads all of it. */
  verify(): Verification {
    return this.#opened.verify();
  }

  /** Count, sum and digest of the whole unspent set: equal sets have equal digests. It reads all of it. Throws UNSUPPORTED. */
  digest(): Digest {
    return this.#opened.digest();
  }

  /** Where the store is, how far back it can go, what it keeps and how large it is. */
  status(): StatusJson {
    const opened = this.#opened;
    return statusJson(opened, opened.status());
  }

  /**
   * Writes the unspent set to a new folder, as files that others can check and start from (docs/reference/snapshot.md);
   * the store may be followed meanwhile. Returns the manifest, which is also in the folder.
   */
  exportSnapshot(folder: string, options: SnapshotExportOptions = {}): Promise<SnapshotManifest> {
    const opened = this.#opened;
    const { at, signal, onRows } = options;
    const point = at === undefined ? null : opened.read((query) => findBlock(query, at, opened.network.dialect));
    return exportSnapshot(opened, folder, { at: point ?? undefined, signal, onRows });
  }

  /**
   * Makes a backup of the store at the block it is at, in a folder of backups (docs/backup.md); the store may be followed
   * meanwhile. Throws STORE_FOREIGN where the folder holds something else, DISK_FULL, IO, and leaves nothing behind.
   */
  backup(folder: string, options: BackupOptions = {}): Promise<BackupReport> {
    const { data, network } = this.#opened;
    return writeBackup({ data, network, pin: () => pinStore(this.#opened) }, folder, options);
  }

  /**
   * Serves it over HTTP: the API, events, metrics and the page. Resolves when it listens. Throws CONFIG where others
   * could reach it and the settings do not say so, IO where the port is taken.
   */
  async serve(options: ServeOptions = {}): Promise<Served> {
    // Loaded when it is first needed: most programs never serve.
    const { serve } = await import('../server/serve.ts');
    return serve(this.#opened, options);
  }

  /** Ends servers of it, then closes it. Views that are still held answer no more. */
  close(): Promise<void> {
    return this.#opened.close();
  }

  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
