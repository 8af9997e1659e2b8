/**
 * The documents readers get: field names that indexers of this chain share
 * (snake_case), bytes as hex, amounts as decimal strings, absent fields left
 * out. The command line and the server give the same ones.
 */

export interface PointJson {
  readonly height: number;
  readonly slot: number;
  readonly hash: string;
}

export interface AmountJson {
  /** `lovelace` or `satoshi`, or policy and name joined. */
  readonly unit: string;
  readonly policy_id?: string;
  readonly asset_name?: string;
  readonly quantity: string;
}

/** Where on the chain something stands. */
export interface PlaceJson {
  readonly slot: number;
  readonly block: number;
  readonly block_hash?: string;
  /** Absent where the chain has none. */
  readonly epoch?: number;
  /** Unix seconds. */
  readonly block_time?: number;
}

export interface SpentJson {
  /** Absent when the ledger itself removed the output. */
  readonly spent_tx_hash?: string;
  readonly spent_at_slot: number;
  readonly spent_at_block: number;
  readonly spent_at_block_hash?: string;
  readonly spent_block_time?: number;
  readonly spent_epoch?: number;
}

export interface UtxoJson extends PlaceJson, Partial<SpentJson> {
  readonly tx_hash: string;
  readonly output_index: number;
  /** Absent where the owner cannot be written as an address. */
  readonly owner_addr?: string;
  readonly owner_stake_addr?: string;
  readonly owner_payment_credential?: string;
  readonly owner_stake_credential?: string;
  /** Of the Bitcoin family: what an output is owned by, and its kind as nodes call it. */
  readonly script?: string;
  readonly script_type?: string;
  readonly lovelace_amount?: string;
  readonly satoshi_amount?: string;
  /** The chain's own coin first. */
  readonly amounts: readonly AmountJson[];
  readonly data_hash?: string;
  readonly inline_datum?: string;
  readonly script_ref?: string;
  readonly reference_script_hash?: string;
  readonly is_collateral_return?: boolean;
  readonly is_coinbase?: boolean;
}

export interface TxJson extends PlaceJson {
  readonly tx_hash: string;
  readonly tx_index: number;
  readonly valid: boolean;
}

export interface BlockJson extends PointJson {
  readonly epoch?: number;
  /** Unix seconds. */
  readonly block_time?: number;
  readonly era?: string;
  /** Absent of the block with which a store began as a snapshot; so is its size. */
  readonly tx_count?: number;
  /** Bytes. */
  readonly size?: number;
  /** Absent where the chain says "none". */
  readonly previous_hash?: string;
  /** Absent where the chain does not say who made it. */
  readonly issuer?: string;
  /** Of the Bitcoin family: what its header says besides. */
  readonly weight?: number;
  readonly version?: number;
  readonly merkle_root?: string;
  readonly bits?: number;
  readonly nonce?: number;
}

export interface BalanceJson {
  readonly utxo_count: number;
  readonly lovelace_amount?: string;
  readonly satoshi_amount?: string;
  readonly amounts: readonly AmountJson[];
}

/** A datum or a script, and where it was seen first. */
export interface SeenJson extends PlaceJson {
  readonly hash: string;
  /** Of a script: `native`, or `plutusV1` and up. */
  readonly type?: string;
  /** Of a script: its own bytes, which are what its hash is of (behind a byte for its type). */
  readonly script?: string;
  /** The datum, or `[kind, script]`. */
  readonly cbor: string;
  readonly tx_hash: string;
  /** Absent: it came with the transaction, beside its outputs. */
  readonly output_index?: number;
}
