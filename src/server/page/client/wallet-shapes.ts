/** What the server tells of wallets, as far as the page shows it (`src/wallet/documents.ts`, `history-documents.ts`). */
import type { Amount } from './shapes.ts';

export interface WalletHead {
  readonly name: string;
  readonly watch_only: boolean;
  readonly synced_to: { readonly height: number; readonly hash: string; readonly time: number } | null;
  readonly balance: WalletBalance;
}

export interface Wallet extends WalletHead {
  /** What it watches: these, or addresses. */
  readonly accounts?: readonly { readonly name: string; readonly descriptor: string }[];
  readonly addresses?: readonly { readonly address: string | null; readonly script: string }[];
  /** Events behind it are news. */
  readonly newest_event: number;
}

/** Decimal strings of the smallest unit. */
export interface WalletBalance {
  readonly total: string;
  readonly spendable: string;
  readonly confirmed: string;
  readonly trusted_pending: string;
  readonly untrusted_pending: string;
  readonly immature: string;
  readonly locked: string;
  /** Absent: the chain has none. */
  readonly assets?: readonly Amount[];
}

export interface WalletCoin {
  /** `txid#index`. */
  readonly outpoint: string;
  readonly amount: string;
  /** Absent: it holds none. */
  readonly assets?: readonly Amount[];
  readonly address: string | null;
  readonly kind: string;
  readonly height: number | null;
  readonly confirmations: number | null;
  readonly coinbase: boolean;
  readonly lease: WalletLease | null;
}

export interface WalletLease {
  readonly id: string;
  /** Milliseconds since 1970; null: it does not end by itself. */
  readonly expires_at: number | null;
  readonly release_after_spend_confs: number | null;
}

export type WalletTxStatus = 'pending' | 'published' | 'replaced' | 'failed' | 'orphaned';

export interface WalletTx {
  readonly txid: string;
  readonly status: WalletTxStatus;
  readonly change: string;
  readonly fee: string | null;
  readonly block: { readonly height: number; readonly hash: string } | null;
  readonly confirmations: number | null;
  /** Milliseconds since 1970. */
  readonly received: number;
  readonly label: string;
  readonly coinbase: boolean;
  readonly evicted: boolean;
  readonly scripts_failed?: true;
  readonly pruned?: true;
  readonly replaced_by: readonly string[];
  readonly inputs: readonly { readonly outpoint: string }[];
}

export interface WalletEntry extends WalletTx {
  readonly group: WalletGroup | null;
}

/** Transactions that took each other's place, oldest first. */
export interface WalletGroup {
  readonly transactions: readonly WalletTx[];
  readonly replacements: readonly { readonly replaced: string; readonly replacement: string }[];
  readonly is_cut: boolean;
}

export interface WalletReorg {
  readonly sequence: number;
  readonly from: number;
  readonly to: number;
  readonly depth: number;
  readonly transactions: readonly WalletReorgTx[];
  readonly is_cut: boolean;
}

export interface WalletReorgTx {
  readonly txid: string;
  readonly lost_block: number | null;
  readonly became: WalletTxStatus;
  readonly now: WalletTx | null;
}
