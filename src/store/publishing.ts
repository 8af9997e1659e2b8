/**
 * How publishing to a copy elsewhere is doing (`publish/`), as plain data: for
 * status, metrics and the page, in whichever thread they are.
 */
export interface PublishReport {
  /** The copy, without secrets. */
  readonly target: string;
  readonly form: 'columns' | 'sql';
  /**
   * `waiting`: another publisher leads. `catching-up`: the store itself is far behind its chain, and a copy that begins
   * waits for it. `unreachable`: the database does not answer, and is asked again.
   */
  readonly state: 'connecting' | 'waiting' | 'catching-up' | 'loading' | 'publishing' | 'unreachable' | 'stopped';
  readonly epoch: number;
  /** The number of the last change. */
  readonly seq: number;
  /** Of the copy; null: the origin, or nothing is published. */
  readonly height: number | null;
  /** Blocks that the store is ahead of the copy. */
  readonly lag: number;
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
  readonly lastError: string | null;
}

/** What a store knows of who publishes it. */
export interface Publishing {
  readonly report: PublishReport;
}
