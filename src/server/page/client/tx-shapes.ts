/** Transactions as the server answers with them, as far as the page reads them: of Cardano in our own API, of the Bitcoin family in that of Esplora. */
import type { Amount, Utxo } from './shapes.ts';

/** Of an output that was forgotten only its name is known. */
export type Named = Pick<Utxo, 'tx_hash' | 'output_index'>;
export type Input = Utxo | Named;

export interface Redeemer {
  readonly purpose: string;
  readonly index: number;
  /** CBOR. */
  readonly data: string;
  readonly memory: string;
  readonly steps: string;
}

export interface Transaction {
  readonly tx_hash: string;
  readonly tx_index: number;
  readonly valid: boolean;
  readonly slot: number;
  readonly block: number;
  readonly block_hash?: string;
  readonly epoch?: number;
  readonly block_time: number;
  readonly size: number;
  readonly fee?: string;
  readonly invalid_before?: string;
  readonly invalid_hereafter?: string;
  readonly inputs: readonly Input[];
  readonly outputs: readonly Utxo[];
  readonly collateral_inputs?: readonly Input[];
  readonly total_collateral?: string;
  readonly reference_inputs?: readonly Input[];
  readonly mint?: readonly Amount[];
  readonly required_signers?: readonly string[];
  readonly certificate_count?: number;
  readonly withdrawal_amount?: string;
  readonly redeemers?: readonly Redeemer[];
  readonly auxiliary_data?: string;
  readonly cbor: string;
}

export interface EsploraOutput {
  readonly scriptpubkey: string;
  readonly scriptpubkey_asm: string;
  readonly scriptpubkey_type: string;
  readonly scriptpubkey_address?: string;
  readonly value: number;
}

export interface EsploraStatus {
  readonly confirmed: boolean;
  readonly block_height?: number;
  readonly block_hash?: string;
  readonly block_time?: number;
}

export interface EsploraTx {
  readonly txid: string;
  readonly version: number;
  readonly locktime: number;
  readonly size: number;
  readonly weight: number;
  readonly fee: number | null;
  readonly vin: readonly {
    readonly txid: string;
    readonly vout: number;
    readonly prevout: EsploraOutput | null;
    readonly is_coinbase: boolean;
    readonly sequence: number;
    readonly scriptsig: string;
    readonly witness?: readonly string[];
  }[];
  readonly vout: readonly EsploraOutput[];
  readonly status: EsploraStatus;
}

export interface EsploraSpend {
  readonly spent: boolean;
  readonly txid?: string;
  readonly status?: EsploraStatus;
}

/** A transaction of any family, with what the store knows of it. */
export interface ShownTx {
  readonly hash: string;
  /** Null: it waits for a block. */
  readonly place: {
    readonly height: number;
    readonly hash: string | undefined;
    readonly slot: number;
    readonly epoch: number | undefined;
    readonly time: number | null;
    /** Blocks from its own to the newest, both counted. */
    readonly confirmations: number;
  } | null;
  readonly valid: boolean;
  readonly size: number | null;
  /** What fees are counted by; null: the size itself. */
  readonly virtualSize: number | null;
  readonly fee: bigint | null;
  /** It makes coins out of nothing. */
  readonly isCoinbase: boolean;
  /** What it took: of one whose scripts failed, its collateral. */
  readonly inputs: readonly Input[];
  readonly outputs: readonly Utxo[];
  readonly whole: Transaction | null;
  readonly esplora: EsploraTx | null;
  /** What of it the store does not keep, and what would. */
  readonly missing: string | null;
}
