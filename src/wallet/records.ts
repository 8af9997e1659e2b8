/**
 * The values of the wallet room: what a wallet, an account, an address, a
 * transaction, a coin and a lease are, whatever database they rest in. All that
 * the store (store.ts) takes and gives is made of these.
 *
 * Amounts are bigint (satoshi, lovelace), ids are 32 bytes in the order of the
 * chain, times are milliseconds since 1970 (UTC) and always come from the caller.
 */
import type { Outpoint } from '../ledgers/outpoint.ts';

/** What a wallet believes of a transaction. The first two are live, the others dead. The database stores the position in this list. */
export const TX_STATUSES = ['pending', 'published', 'replaced', 'failed', 'orphaned'] as const;
export type TxStatus = (typeof TX_STATUSES)[number];

/** Kinds of scripts, in the order of their numbers in the database. */
export const SCRIPT_KINDS = ['p2pk', 'p2pkh', 'p2sh', 'p2sh-p2wpkh', 'p2wpkh', 'p2wsh', 'p2tr', 'p2a'] as const;
export type ScriptKind = (typeof SCRIPT_KINDS)[number];

export type WalletId = number;
export type AccountId = number;

/** A block of the best chain that some wallet needs. */
export interface WalletBlock {
  readonly height: number;
  readonly hash: Uint8Array;
  /** Seconds since 1970, as its header has it. */
  readonly timestamp: number;
}

/** A transaction as its family decodes it. */
export interface WalletTx {
  readonly id: Uint8Array;
  readonly raw: Uint8Array;
  /** Empty for a coinbase. */
  readonly inputs: readonly Outpoint[];
  readonly outputs: readonly WalletTxOutput[];
  readonly isCoinbase: boolean;
}

export interface WalletTxOutput {
  /** What must be satisfied to spend it: a script of the Bitcoin family, an address of Cardano. */
  readonly script: Uint8Array;
  readonly amount: bigint;
}

export interface WalletInfo {
  readonly id: WalletId;
  readonly name: string;
  readonly isWatchOnly: boolean;
  readonly isImported: boolean;
  readonly masterPublicKey: Uint8Array | null;
  readonly syncedTo: WalletBlock | null;
  readonly birthday: number | null;
  readonly birthdayBlock: WalletBlock | null;
}

/** The keys below m / purpose' / coin type' are of one scope: 84' is wpkh, 86' is tr. */
export interface KeyScope {
  readonly purpose: number;
  readonly coinType: number;
}

export interface AccountInfo {
  readonly id: AccountId;
  readonly scope: KeyScope;
  readonly name: string;
  /** Null: an account of an imported extended key. */
  readonly number: number | null;
  readonly publicKey: Uint8Array | null;
  readonly masterFingerprint: number | null;
  readonly nextExternalIndex: number;
  readonly nextInternalIndex: number;
  readonly createdAt: number;
}

/** 0: addresses that are given to others; 1: change. */
export type AddressBranch = 0 | 1;

export interface AddressInfo {
  readonly script: Uint8Array;
  readonly kind: ScriptKind;
  readonly publicKey: Uint8Array | null;
  /** Null: imported by itself, of no account. */
  readonly derivation: { readonly accountId: AccountId; readonly branch: AddressBranch; readonly index: number } | null;
  /** Some transaction has paid it. */
  readonly isUsed: boolean;
  readonly createdAt: number;
}

/** One transaction as one wallet sees it. */
export interface TxRow {
  readonly tx: WalletTx;
  readonly status: TxStatus;
  /** Null: not in a block. */
  readonly block: WalletBlock | null;
  /** Its place among the wallet's transactions of that block; null without one. */
  readonly confirmedOrder: number | null;
  readonly received: number;
  readonly label: string;
  /** Null: never seen in the mempool. It was evicted if it was last told to be gone. */
  readonly mempool: { readonly seenAt: number; readonly evictedAt: number | null } | null;
}

/** A row, with those of its inputs and outputs that are the wallet's own. */
export interface TxDetail extends TxRow {
  readonly ownedInputs: readonly { readonly index: number; readonly amount: bigint }[];
  readonly ownedOutputs: readonly { readonly index: number; readonly amount: bigint }[];
}

/** The wallet came to believe that `replacement` took the place of `replaced`. */
export interface TxReplacement {
  readonly replaced: Uint8Array;
  readonly replacement: Uint8Array;
  readonly createdAt: number;
}

/** An unspent output of a live transaction. */
export interface WalletCoin {
  readonly outpoint: Outpoint;
  readonly amount: bigint;
  /** As the funding transaction has it. */
  readonly script: Uint8Array;
  readonly kind: ScriptKind;
  readonly account: { readonly id: AccountId; readonly scope: KeyScope; readonly number: number | null; readonly name: string } | null;
  readonly received: number;
  readonly isCoinbase: boolean;
  /** Null: unmined. */
  readonly height: number | null;
  /** All inputs of its transaction are the wallet's own. */
  readonly isOwnChange: boolean;
  /** Null: not leased at the time that was asked for. */
  readonly lease: CoinLease | null;
}

/** A coin that a process has reserved. */
export interface CoinLease {
  /** Whoever leases: 32 bytes of its choice. */
  readonly id: Uint8Array;
  /** From this moment on anybody may take it; LEASE_WITHOUT_END: never. */
  readonly expiresAt: number;
  /** Null: only time ends it. Otherwise it ends with that many confirmations of a spend, and time does not count once one is confirmed. */
  readonly releaseAfterSpendConfs: number | null;
}

/** `expiresAt` of a coin frozen by its owner: later than every time there is. */
export const LEASE_WITHOUT_END = Number.MAX_SAFE_INTEGER;

export interface WalletBalance {
  /** Unspent outputs of live transactions. */
  readonly total: bigint;
  /** The part of it under a lease. */
  readonly locked: bigint;
  readonly confirmed: bigint;
  /** Unmined, and all inputs of the transaction are the wallet's own. */
  readonly trustedPending: bigint;
  readonly untrustedPending: bigint;
  /** Of a coinbase that is too young. */
  readonly immature: bigint;
  /** What may be spent now: confirmed and trusted, mature and not locked. */
  readonly spendable: bigint;
}

/** What a committed change of the store did. Told in order, once each, by `listEvents`. */
export type WalletEvent =
  | { readonly kind: 'tx.added'; readonly txId: Uint8Array; readonly status: TxStatus }
  | {
      readonly kind: 'tx.status';
      readonly txId: Uint8Array;
      readonly from: TxStatus;
      readonly to: TxStatus;
      readonly cause: StatusCause;
      readonly by: Uint8Array | null;
    }
  | { readonly kind: 'tx.confirmed'; readonly txId: Uint8Array; readonly height: number }
  | { readonly kind: 'tx.unconfirmed'; readonly txId: Uint8Array }
  | { readonly kind: 'tx.evicted'; readonly txId: Uint8Array }
  | { readonly kind: 'utxo.created' | 'utxo.spent' | 'utxo.unspent'; readonly outpoint: Outpoint; readonly amount: bigint }
  | { readonly kind: 'lease.acquired' | 'lease.released' | 'lease.expired'; readonly outpoint: Outpoint; readonly leaseId: Uint8Array }
  | { readonly kind: 'sync.tip'; readonly height: number; readonly hash: Uint8Array }
  | { readonly kind: 'reorg'; readonly from: number; readonly to: number; readonly depth: number };

/** Why a status changed. */
export type StatusCause = 'broadcast' | 'replaced' | 'conflict' | 'ancestor' | 'invalidated' | 'disconnected' | 'confirmed' | 'reactivated';

export interface NumberedWalletEvent {
  readonly walletId: WalletId;
  /** Grows with every event of the database. */
  readonly sequence: number;
  readonly event: WalletEvent;
}
