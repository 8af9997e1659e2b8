/**
 * How the wallets beside a store are fed, as plain data: for status, metrics and
 * readiness. Whoever feeds them writes it down (`ChainConsumers.wallets`).
 */
export interface WalletsReport {
  /** `failed`: the database or the store refuses, and that is tried again. `stopped`: no waiting mends it. */
  readonly state: 'following' | 'failed' | 'stopped';
  /** Of the newest block that the wallets have; null: they have none, or are being scanned anew. */
  readonly height: number | null;
  /** Blocks taken in since the start, and the seconds from one to the next that were spent in the database of wallets. */
  readonly blocks: number;
  readonly blockSeconds: number;
  /** Times that the feed failed since the start. */
  readonly failures: number;
  /** Why it is not fed; null: it is. */
  readonly lastError: string | null;
}
