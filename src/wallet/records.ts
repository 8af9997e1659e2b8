/**
 * The values of the wallet room: what a wallet, an account, an address, a
 * transaction, a coin and a lease are, whatever database they rest in. All that
 * the store (store.ts) takes and gives is made of these.
 *
 * Amounts are bigint (satoshi, lovelace), ids are 32 bytes in the order of the
 * chain, times are milliseconds since 1970 (UTC) and always come from the caller.
 */
import type { Asset } from '../ledgers/asset.ts';
import type { Outpoint } from '../ledgers/outpoint.ts';

/** What a wallet believes of a transaction. The first two are live, the others dead. The database stores the position in this list. */
export const TX_STATUSES = ['pending', 'published', 'replaced', 'failed', 'orphaned'] as const;
/** What a wallet believes of a transaction: `pending` and `published` ones are live, the others dead. */
export type TxStatus = (typeof TX_STATUSES)[number];

/**
 * Kinds of scripts, in the order of their numbers in the database; `multisig` is bare. Those of Cardano are kinds of addresses: what spends
 * from them is a key, a script, or a key of Byron; `cardano-stake` is a reward address, and owns every output whose
 * address has its stake credential.
 */
export const SCRIPT_KINDS = [
  'p2pk',
  'p2pkh',
  'p2sh',
  'p2sh-p2wpkh',
  'p2wpkh',
  'p2wsh',
  'p2tr',
  'p2a',
  'cardano-key',
  'cardano-script',
  'cardano-byron',
  'cardano-stake',
  'multisig',
] as const;
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

/** A transaction as its family decodes it. Stores give it back as they got it, and never look into `raw`. */
export interface WalletTx {
  readonly id: Uint8Array;
  /** Empty where the chain's store does not have it: Cardano's keeps outputs, not transactions, and others may forget it (`isPrunedTx`). */
  readonly raw: Uint8Array;
  /** Empty for a coinbase, and where the chain's store does not know them any more (Cardano, below its window; `isPrunedTx`). */
  readonly inputs: readonly Outpoint[];
  readonly outputs: readonly WalletTxOutput[];
  readonly isCoinbase: boolean;
  /**
   * Cardano: its scripts failed in its block, so that it did nothing but spend its collateral. Inputs and outputs are then
   * those of the collateral. The same transaction has other ones where its scripts did not fail: these are two forms of
   * it, and the block decides which one a row has.
   */
  readonly scriptsFailed?: boolean | undefined;
}

export interface WalletTxOutput {
  /**
   * What must be satisfied to spend it: a script of the Bitcoin family, an address of Cardano. Empty: no such output came
   * into being, or the chain's store has forgotten it; nobody owns it.
   */
  readonly script: Uint8Array;
  readonly amount: bigint;
  /** Cardano: what it holds besides lovelace. */
  readonly assets?: readonly Asset[] | undefined;
  /** Cardano: it carries a script for others to refer to, whose bytes whoever spends it pays for. */
  readonly carriesScript?: boolean | undefined;
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
export interface WalletTxRow {
  readonly tx: WalletTx;
  readonly status: TxStatus;
  /** Null: not in a block. */
  readonly block: WalletBlock | null;
  /** Its place among the wallet's transactions of that block; null without one. */
  readonly confirmedOrder: number | null;
  readonly received: number;
  readonly label: string;
  /** When the mempool was last told to have it, and when to have it no more; null: never. */
  readonly mempool: { readonly seenAt: number | null; readonly evictedAt: number | null };
}

/** A row, with those of its inputs and outputs that are the wallet's own. */
export interface TxDetail extends WalletTxRow {
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
  /** Of the address that owns it. */
  readonly kind: ScriptKind;
  readonly assets: readonly Asset[];
  readonly carriesScript: boolean;
  readonly account: { readonly id: AccountId; readonly scope: KeyScope; readonly number: number | null; readonly name: string } | null;
  readonly received: number;
  readonly isCoinbase: boolean;
  /** Null: unmined. */
  readonly height: number | null;
  /** All inputs of its transaction are the wallet's own. */
  readonly isOwnChange: boolean;
  /** Unmined, and the mempool was last told to have its transaction no more: it may be mined, but what spends the coin cannot be sent. */
  readonly isEvicted: boolean;
  /** Null: not leased at the time that was asked for. */
  readonly lease: CoinLease | null;
}

/** A coin that a process has reserved. */
export interface CoinLease {
  /** Whoever leases: 32 bytes of its choice. */
  readonly id: Uint8Array;
  /** From this moment on anybody may take it; LEASE_WITHOUT_END: never. */
  readonly expiresAt: number;
  /**
   * Null: only time ends it, and it does not count while the coin is spent. Otherwise it outlives the spend: it ends with
   * that many confirmations of it, and once a block that is older than `expiresAt` has one, it has no other end
   * (`expiresAt` becomes LEASE_WITHOUT_END, also if the block is undone).
   */
  readonly releaseAfterSpendConfs: number | null;
}

/** `expiresAt` of a coin frozen by its owner: later than every time there is. */
export const LEASE_WITHOUT_END = Number.MAX_SAFE_INTEGER;

/** total = confirmed + trustedPending + untrustedPending + immature; leases lock parts of each. */
export interface WalletBalance {
  /** Unspent outputs of live transactions. */
  readonly total: bigint;
  /** The part of it under a lease. */
  readonly locked: bigint;
  /** In a block, and not of a coinbase that is too young. */
  readonly confirmed: bigint;
  /** Unmined, and all inputs of the transaction are the wallet's own. */
  readonly trustedPending: bigint;
  readonly untrustedPending: bigint;
  /** Of a coinbase with fewer confirmations than `coinbaseMaturity` of the filter, or 100 where it says nothing. */
  readonly immature: bigint;
  /** What may be spent now: confirmed and trusted, mature, not locked and not evicted. */
  readonly spendable: bigint;
}

/**
 * What a committed change of the store did, row by row: `utxo.created` is a credit that is recorded, `utxo.spent` an
 * edge that is set, `utxo.unspent` one that is cleared. A credit of a transaction that dies has no event of its own:
 * `tx.status` says it. `by` is the transaction that won; null where none did. A call's events stand in this order:
 *
 *   sync.tip of a batch; then for each transaction: tx.added or tx.status, tx.confirmed; the branch that falls;
 *   utxo.created by index; for each of them the stored child that spends it (its branch, then utxo.spent);
 *   utxo.spent by input. At the end lease.released of leases that enough confirmations of a spend end.
 *
 *   A branch that falls: utxo.unspent, then tx.status, each first for the roots and then for their descendants, in the
 *   order in which the rows were added, and by input.
 *
 *   A rollback, wallet by wallet: reorg; tx.unconfirmed newest first, with tx.status behind that of a coinbase; the
 *   branch; sync.tip. A rewind is the same without reorg.
 */
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
  /** `height`: of the block that it lost. */
  | { readonly kind: 'tx.unconfirmed'; readonly txId: Uint8Array; readonly height: number }
  /** `tx.seen`: the mempool has it again after `tx.evicted`. `tx.deleted`: the row is gone, with its credits and their leases. */
  | { readonly kind: 'tx.evicted' | 'tx.seen' | 'tx.deleted'; readonly txId: Uint8Array }
  | { readonly kind: 'utxo.created' | 'utxo.spent' | 'utxo.unspent'; readonly outpoint: Outpoint; readonly amount: bigint }
  /** `lease.expired`: somebody else took the coin, or the row was cleared away. A renewal is `lease.acquired`. */
  | { readonly kind: 'lease.acquired' | 'lease.released' | 'lease.expired'; readonly outpoint: Outpoint; readonly leaseId: Uint8Array }
  | { readonly kind: 'sync.tip'; readonly height: number; readonly hash: Uint8Array }
  /** Blocks above `to` are gone; the wallet was at `from`. */
  | { readonly kind: 'reorg'; readonly from: number; readonly to: number; readonly depth: number };

/**
 * Why a status changed. `replaced`: by another unmined transaction; `conflict`: by one in a block; `ancestor`: it spent
 * an output of one that fell.
 */
export type StatusCause = 'broadcast' | 'replaced' | 'conflict' | 'ancestor' | 'invalidated' | 'disconnected' | 'confirmed' | 'reactivated';

export interface NumberedWalletEvent {
  readonly walletId: WalletId;
  /** Grows with every event of the database, in the order of commits: whoever has read up to n never misses one below it. */
  readonly sequence: number;
  readonly event: WalletEvent;
}
