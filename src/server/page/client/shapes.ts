/** What the server answers, as far as the page reads it. The reference at /docs/api has all of it. */

export interface Amount {
  /** `lovelace` or `satoshi`, or policy and name joined. */
  readonly unit: string;
  readonly quantity: string;
}

export interface Utxo {
  readonly tx_hash: string;
  readonly output_index: number;
  readonly owner_addr?: string;
  /** Of the Bitcoin family. */
  readonly script?: string;
  readonly script_type?: string;
  readonly is_coinbase?: boolean;
  readonly owner_stake_addr?: string;
  readonly owner_payment_credential?: string;
  readonly owner_stake_credential?: string;
  /** The chain's own coin first. */
  readonly amounts: readonly Amount[];
  readonly data_hash?: string;
  readonly inline_datum?: string;
  readonly script_ref?: string;
  readonly reference_script_hash?: string;
  readonly is_collateral_return?: boolean;
  readonly slot: number;
  readonly block: number;
  readonly block_hash?: string;
  readonly epoch?: number;
  /** Unix seconds. */
  readonly block_time: number;
  readonly spent_tx_hash?: string;
  readonly spent_at_slot?: number;
  readonly spent_at_block?: number;
  readonly spent_at_block_hash?: string;
  readonly spent_block_time?: number;
}

export interface Point {
  readonly height: number;
  readonly slot: number;
  readonly hash: string;
}

/** What the set comes down to: those that are kept. */
export interface Roots {
  readonly mmr?: string;
  /** Null: of the empty tree. */
  readonly csmt?: string | null;
  readonly setHash?: string;
}

export interface Tip extends Point {
  readonly epoch?: number;
  readonly block_time: number;
  readonly era?: string;
}

export interface Rollback {
  /** Unix milliseconds. */
  readonly time: number;
  /** Null: the origin. */
  readonly to: Point | null;
  readonly undone: number;
}

export interface Status {
  readonly version: string;
  readonly network: string;
  readonly family: string;
  readonly healthy: boolean;
  /** Why it is not healthy, or not ready. */
  readonly reason: string | null;
  readonly tip: Tip | null;
  readonly lag_blocks: number | null;
  readonly lag_slots: number | null;
  readonly horizon: Point | null;
  /** Heights up to which they are gone; -1: none. */
  readonly pruned: { readonly spent_outputs: number; readonly deltas: number };
  /** Null: the store keeps no outputs. */
  readonly utxos: number | null;
  /** In the smallest unit of the chain, whose name is `unit`. */
  readonly value: string | null;
  readonly unit: string;
  /** What people call the coin: `ada`, `BTC`, `LTC`. */
  readonly coin: string;
  /** Seconds after which to ask again. */
  readonly refresh_seconds: number;
  /** What the server answers in besides its own API. */
  readonly shapes: readonly string[];
  readonly projections: readonly string[];
  readonly following: {
    readonly state: 'idle' | 'connecting' | 'following' | 'waiting' | 'stopped';
    readonly source: string | null;
    readonly peer: string | null;
    readonly version: string | null;
    readonly source_tip: { readonly slot: number; readonly height: number | null } | null;
    readonly rollbacks: readonly Rollback[];
    readonly fills: readonly { readonly projection: string; readonly done: number }[];
    readonly connections_lost: number;
    readonly last_error: string | null;
  };
  readonly bytes: number;
  /** Null: nothing is published from here. */
  readonly publishing: {
    readonly target: string;
    readonly form: string;
    readonly state: string;
    readonly epoch: number;
    readonly seq: number;
    readonly height: number | null;
    readonly lag: number;
    readonly rows: number;
    readonly commits: number;
    readonly commit_seconds_sum: number;
    readonly last_error: string | null;
  } | null;
  /** Null: no records of transactions are kept. */
  readonly txs: {
    readonly records: number;
    readonly bytes: number;
    readonly retention: number;
    readonly window: number;
    readonly state: 'ok' | 'at_risk' | 'behind';
    readonly due: number;
    readonly completed: number;
    readonly lag_blocks: number;
    readonly place: 'embedded' | 'sqlite' | 'postgres';
    readonly height: number;
    readonly feed_failure: string | null;
    /** Who takes in the blocks; records may go up to the height that each allows. */
    readonly consumers: readonly { readonly name: string; readonly height: number; readonly allows: number | null }[];
    /** Due longest first. */
    readonly blocked: readonly { readonly tx_id: string; readonly since: number; readonly reason: string; readonly child: string | null }[];
  } | null;
}

/** One second of the history. */
export interface Sample {
  /** Unix seconds. */
  readonly time: number;
  readonly height: number | null;
  readonly lag_blocks: number | null;
  readonly blocks_per_second: number;
  readonly apply_ms: number | null;
  readonly rollback_ms: number | null;
  readonly prune_ms: number | null;
  readonly requests_per_second: number;
  readonly p99_ms: number | null;
}

export interface Block extends Point {
  /** Absent: the first one. */
  readonly previous_hash?: string;
  readonly issuer?: string;
  readonly era?: string;
  /** Absent: the store began with this block as a snapshot. */
  readonly tx_count?: number;
  readonly size?: number;
  readonly epoch?: number;
  readonly block_time: number;
}

export interface Column {
  readonly name: string;
  readonly bytes: number;
}

export interface Balance {
  readonly utxo_count: number;
  readonly amounts: readonly Amount[];
}

/** A datum or script, and where it was seen first. */
export interface Seen {
  readonly hash: string;
  /** Of a script: `native`, or `plutusV1` and up. */
  readonly type?: string;
  readonly cbor: string;
  readonly tx_hash: string;
  readonly output_index?: number;
  readonly block: number;
  readonly block_hash?: string;
  readonly block_time: number;
}

/** What a block did. */
export interface Changes {
  readonly transactions: readonly { readonly tx_hash: string; readonly valid: boolean }[];
  readonly created: readonly Utxo[];
  readonly spent: readonly Utxo[];
}
