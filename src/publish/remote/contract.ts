/**
 * A published copy of a store, as a reader needs it: the columns of the store in
 * a database elsewhere, changed by whole published changes only, and one moment
 * of them that stays as it is while it is read. Everything that waits is here; a
 * new kind of database implements this and nothing else.
 */
import type { Row } from '../../engine/engine.ts';

/** What the copy says of itself at one moment: the row that each published change moves. */
export interface CopyHead {
  /** The number of the change. It only grows; the same number is the same state. */
  readonly seq: number;
  /** Of whom has published it: each leader has its own. */
  readonly epoch: number;
  readonly publisher: string | null;
  /** Null: before the first block. */
  readonly height: number | null;
  readonly slot: number | null;
  /** Unix milliseconds; null: not said. */
  readonly publishedAt: number | null;
  /** False: it is being loaded, and is no state of the store yet. */
  readonly complete: boolean;
}

/** Rows of a column in key order, at most `limit` of them. */
export interface RemoteRange {
  /** First key, inclusive. */
  readonly gte: Uint8Array | undefined;
  /** End key, exclusive. */
  readonly lt: Uint8Array | undefined;
  /** From the last to the first. */
  readonly reverse: boolean;
  readonly limit: number;
}

/** One moment of the copy: every read of it is of the same published change. */
export interface RemoteSnapshot {
  readonly head: CopyHead;
  /** Of the identity document at this moment: another text means another store. */
  readonly identity: string;
  /** True: it can be read no more, because the database has lost it. */
  readonly isLost: boolean;
  /** Values in the order of the keys. Throws COPY_UNREACHABLE. */
  getMany(column: string, keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]>;
  /** Throws COPY_UNREACHABLE. */
  scan(column: string, range: RemoteRange): Promise<Row[]>;
  /** A newer moment is read by most from now on: this one needs little. */
  retire(): void;
  release(): void;
}

/** What a column takes in the database, as far as that says so. */
export interface RemoteSize {
  readonly bytes: number;
  /** About how many rows; null: not known. */
  readonly rows: number | null;
}

export interface RemoteStore {
  /** Without a password, for messages and status. */
  readonly name: string;
  /** The newest published change. Throws COPY_UNREACHABLE, COPY_UNREADY where nothing was published. */
  newest(): Promise<CopyHead>;
  /** That change, pinned. Throws as `newest` does. */
  pin(): Promise<RemoteSnapshot>;
  sizes(columns: readonly string[]): Promise<ReadonlyMap<string, RemoteSize>>;
  /** Called when a change may have been published: sooner than asking would tell, but nobody may rely on it. */
  onMove(listener: () => void): void;
  /** Statements so far. */
  readonly statements: number;
  close(): Promise<void>;
}
