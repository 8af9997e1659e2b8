/**
 * The documents readers get: field names that indexers of this chain share
 * (snake_case), bytes as hex, amounts as decimal strings, absent fields left
 * out. The command line and the server give the same ones.
 */

export interface PointJson {
  /** Blocks before it: the first block has height 0. */
  readonly height: number;
  /** The chain's own clock; of the Bitcoin family, the height again. */
  readonly slot: number;
  /** The hash of the block in hex, as people of the family write it. */
  readonly hash: string;
}

/** An amount of the chain's coin or of an asset. */
export interface AmountJson {
  /** `lovelace` or `satoshi`, or policy and name joined. */
  readonly unit: string;
  /** Of an asset: its policy in hex. */
  readonly policy_id?: string;
  /** Of an asset: its name in hex. */
  readonly asset_name?: string;
  /** How much, in the smallest unit, in decimal. */
  readonly quantity: string;
}

/** Where on the chain something stands. */
export interface PlaceJson {
  /** The slot of its block. */
  readonly slot: number;
  /** The height of its block. */
  readonly block: number;
  /** The hash of its block. Absent where the store does not have the block. */
  readonly block_hash?: string;
  /** Absent where the chain has none. */
  readonly epoch?: number;
  /** Unix seconds. */
  readonly block_time?: number;
}

/** Where and by what an output was spent. */
export interface SpentJson {
  /** Absent when the ledger itself removed the output. */
  readonly spent_tx_hash?: string;
  /** The slot of the block that spent it. */
  readonly spent_at_slot: number;
  /** The height of the block that spent it. */
  readonly spent_at_block: number;
  /** The hash of the block that spent it. */
  readonly spent_at_block_hash?: string;
  /** When that block was made, in Unix seconds. */
  readonly spent_block_time?: number;
  /** The epoch of that block. Absent where the chain has none. */
  readonly spent_epoch?: number;
  /** The transaction that spends it is in no block yet: nothing but its id is known. */
  readonly spent_pending?: true;
}

/** An output: what it holds, whose it is, where it stands and, once it is spent, by what. */
export interface UtxoJson extends PlaceJson, Partial<SpentJson> {
  /** The id of the transaction that made it, in hex as people of the family write it. */
  readonly tx_hash: string;
  /** Which of that transaction's outputs it is, from 0. */
  readonly output_index: number;
  /** Absent where the owner cannot be written as an address. */
  readonly owner_addr?: string;
  /** The stake address that belongs to the owner, in bech32. Absent: it has none. */
  readonly owner_stake_addr?: string;
  /** The payment credential of the owner: 28 bytes in hex. */
  readonly owner_payment_credential?: string;
  /** The stake credential of the owner: 28 bytes in hex. */
  readonly owner_stake_credential?: string;
  /** Of the Bitcoin family: the script that the output is owned by, in hex. */
  readonly script?: string;
  /** Of the Bitcoin family: the kind of that script as nodes call it. */
  readonly script_type?: string;
  /** Of Cardano: its lovelace, in decimal. */
  readonly lovelace_amount?: string;
  /** Of the Bitcoin family: its value in the smallest unit, in decimal. */
  readonly satoshi_amount?: string;
  /** The chain's own coin first. */
  readonly amounts: readonly AmountJson[];
  /** The hash of its datum, where it has one by hash, in hex. */
  readonly data_hash?: string;
  /** Its inline datum: CBOR in hex. */
  readonly inline_datum?: string;
  /** The script it carries for others to refer to: CBOR `[kind, script]` in hex. */
  readonly script_ref?: string;
  /** The hash of that script in hex. */
  readonly reference_script_hash?: string;
  /** Of Cardano: it is the change of a collateral. */
  readonly is_collateral_return?: boolean;
  /** Of the Bitcoin family: it is a block's reward. */
  readonly is_coinbase?: boolean;
  /** The store began with a node's own set, which does not say which block made it: it was not a later one than this. */
  readonly at_or_before?: true;
}

/** The same without where it stands. */
export type PlacelessUtxoJson = Omit<UtxoJson, keyof PlaceJson>;

/** An output of a transaction that is in no block yet. */
export interface PendingUtxoJson extends PlacelessUtxoJson {
  readonly pending: true;
}

/** A transaction, and where it stands. */
export interface TxJson extends PlaceJson {
  /** Its id in hex, as people of the family write it. */
  readonly tx_hash: string;
  /** Which of its block's transactions it is, from 0. */
  readonly tx_index: number;
  /** False: a Cardano transaction whose scripts failed, so that only its collateral was spent. */
  readonly valid: boolean;
}

/** A transaction of an address or a credential, and what it did there. */
export interface OwnerTxJson extends PlaceJson {
  /** Its id in hex, as people of the family write it. */
  readonly tx_hash: string;
  /** Which of its block's transactions it is, from 0. */
  readonly tx_index: number;
  /** Outputs that it paid to the owner. */
  readonly received_outputs: number;
  /** What those are worth in the chain's smallest unit, in decimal. */
  readonly received_amount: string;
  /** Outputs of the owner that it spent. */
  readonly spent_outputs: number;
  /** What those are worth in the chain's smallest unit, in decimal. */
  readonly spent_amount: string;
}

/** An output that a transaction names: as a document of it or, where it was forgotten, by its name alone. */
export type InputJson = UtxoJson | Pick<UtxoJson, 'tx_hash' | 'output_index'>;

/** What a transaction gives to a script. */
export interface RedeemerJson {
  /** `spend`, `mint`, `certificate`, `withdrawal`, `vote` or `proposal`. */
  readonly purpose: string;
  /** Which of the inputs, policies, ... it is for, as the ledger sorts them. */
  readonly index: number;
  /** CBOR in hex. */
  readonly data: string;
  /** The memory it may use, in decimal. */
  readonly memory: string;
  /** The steps it may take, in decimal. */
  readonly steps: string;
}

/** A transaction of Cardano, with everything it names. */
export interface TransactionJson extends TxJson {
  /** Bytes. */
  readonly size: number;
  /** What was paid in lovelace, in decimal; of an invalid one, its collateral. Absent: an output it spent was forgotten. */
  readonly fee?: string;
  /** The first slot it may be in, in decimal. */
  readonly invalid_before?: string;
  /** The first slot it may no longer be in, in decimal. */
  readonly invalid_hereafter?: string;
  /** As written in its body; spent, unless it is invalid. */
  readonly inputs: readonly InputJson[];
  /** The outputs that came into being; of an invalid one, the change of its collateral. */
  readonly outputs: readonly UtxoJson[];
  /** Spent if it is invalid. */
  readonly collateral_inputs?: readonly InputJson[];
  /** In lovelace, in decimal. */
  readonly total_collateral?: string;
  /** Outputs it only looks at. */
  readonly reference_inputs?: readonly InputJson[];
  /** Assets it makes and, with a negative quantity, destroys. */
  readonly mint?: readonly AmountJson[];
  /** Hashes of keys in hex. */
  readonly required_signers?: readonly string[];
  /** Certificates it carries. */
  readonly certificate_count?: number;
  /** The lovelace that it withdraws from reward accounts, in decimal. */
  readonly withdrawal_amount?: string;
  /** What it gives to scripts. */
  readonly redeemers?: readonly RedeemerJson[];
  /** CBOR of its auxiliary data (metadata among it) in hex. */
  readonly auxiliary_data?: string;
  /** The transaction as it was submitted, in hex. */
  readonly cbor: string;
}

/** A block of the chain, as its row in the store says. */
export interface BlockJson extends PointJson {
  /** The epoch it is of. Absent where the chain has none. */
  readonly epoch?: number;
  /** Unix seconds. */
  readonly block_time?: number;
  /** The era it is of. Absent where the chain has none. */
  readonly era?: string;
  /** Absent of the block with which a store began as a snapshot; so is its size. */
  readonly tx_count?: number;
  /** Bytes. */
  readonly size?: number;
  /** Absent where the chain says "none". */
  readonly previous_hash?: string;
  /** Absent where the chain does not say who made it. */
  readonly issuer?: string;
  /** Of the Bitcoin family: its weight (BIP141). Absent where only the header of the block is known. */
  readonly weight?: number;
  /** Of the Bitcoin family: the version its header states. */
  readonly version?: number;
  /** Of the Bitcoin family: the root over its transactions, in hex as nodes write it. */
  readonly merkle_root?: string;
  /** Of the Bitcoin family: the target of its proof of work in the short form of headers. */
  readonly bits?: number;
  /** Of the Bitcoin family: the number that its proof of work was found with. */
  readonly nonce?: number;
}

/** What the unspent outputs of an owner add up to. */
export interface BalanceJson {
  /** How many outputs that are. */
  readonly utxo_count: number;
  /** Of Cardano: the sum in lovelace, in decimal. */
  readonly lovelace_amount?: string;
  /** Of the Bitcoin family: the sum in its smallest unit, in decimal. */
  readonly satoshi_amount?: string;
  /** The chain's own coin first, then each asset. */
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
