/**
 * All rows of a wallet store as plain text and numbers, in one order: what two
 * stores are compared by, and what the invariants of wallets are checked on. Ids
 * and scripts are hex in the order of the chain, amounts decimal. Numbers that a
 * database gives its rows are left out: another database gives others.
 */
import { toHex } from '../util/bytes.ts';
import type { WalletLabel } from './label-records.ts';
import type { ScriptKind, TxStatus } from './records.ts';

export interface WalletRows {
  /** Ascending. */
  readonly blocks: readonly { readonly height: number; readonly hash: string; readonly timestamp: number }[];
  /** By name. */
  readonly feeds: readonly { readonly feed: string; readonly position: string }[];
  /** In the order they were made. */
  readonly wallets: readonly RowsOfWallet[];
}

export interface RowsOfWallet {
  readonly name: string;
  readonly isWatchOnly: boolean;
  readonly syncedHeight: number | null;
  readonly birthdayHeight: number | null;
  readonly birthday: number | null;
  /** In the order they were made. `scope`: purpose/coin type. */
  readonly accounts: readonly {
    readonly scope: string;
    readonly name: string;
    readonly number: number | null;
    readonly nextExternalIndex: number;
    readonly nextInternalIndex: number;
  }[];
  /** In the order they were made. `account`: scope/name; null: imported by itself. */
  readonly addresses: readonly {
    readonly script: string;
    readonly kind: ScriptKind;
    readonly account: string | null;
    readonly branch: number | null;
    readonly index: number | null;
  }[];
  /** In the order they were added. */
  readonly txs: readonly {
    readonly txId: string;
    readonly status: TxStatus;
    readonly height: number | null;
    readonly confirmedOrder: number | null;
    readonly received: number;
    readonly isCoinbase: boolean;
    readonly label: string;
    readonly seenAt: number | null;
    readonly evictedAt: number | null;
  }[];
  /** By transaction, in the order those were added, and by index. `owner`: the script of the address. */
  readonly credits: readonly {
    readonly txId: string;
    readonly index: number;
    readonly amount: string;
    readonly owner: string;
    readonly spentBy: string | null;
    readonly spentInput: number | null;
  }[];
  /** By transaction, in the order those were added, and by input. `holdsEdge`: a credit is spent by this input. */
  readonly inputs: readonly {
    readonly txId: string;
    readonly input: number;
    readonly prevTxId: string;
    readonly prevIndex: number;
    readonly holdsEdge: boolean;
  }[];
  /** In the order they were added. */
  readonly replacements: readonly { readonly replaced: string; readonly replacement: string; readonly createdAt: number }[];
  /** By transaction id and index. */
  readonly leases: readonly {
    readonly txId: string;
    readonly index: number;
    readonly leaseId: string;
    readonly expiresAt: number;
    readonly releaseAfterSpendConfs: number | null;
  }[];
  /** In the order of their keys. */
  readonly labels: readonly LabelRow[];
}

/** The key first, then what it says. */
export type LabelRow = readonly (string | number | boolean | null)[];

export function labelRow({ type, ref, origin, txId, index, label, spendable, others, isForeign }: WalletLabel): LabelRow {
  return [type, ref, origin, txId === null ? null : toHex(txId), index, label, spendable, others, isForeign];
}
