/**
 * The history of a wallet as documents, for REST and the page: transactions with
 * those that took their place, what reorganisations did, and events. What a
 * single transaction looks like is in `documents.ts`.
 */
import type { Outpoint } from '../ledgers/outpoint.ts';
import { toHex } from '../util/bytes.ts';
import { isUnspentError } from '../util/errors.ts';
import { coinName, txJson, type WalletNotation, type WalletTxJson } from './documents.ts';
import type { NumberedWalletEvent, TxDetail, TxStatus, WalletEvent, WalletInfo } from './records.ts';
import type { ReorgEffects } from './reorg-effects.ts';
import { ReplacementGroups } from './replacement-groups.ts';
import type { WalletStore } from './store.ts';

/** What documents are made with. */
export interface WalletReader {
  readonly store: WalletStore;
  readonly notation: WalletNotation;
}

/** A transaction, with all that took each other's place until it came to be what it is. */
export interface WalletEntryJson extends WalletTxJson {
  /** Null: it took nobody's place, and nobody took its place. */
  readonly group: WalletGroupJson | null;
}

/** Transactions that took each other's place. */
export interface WalletGroupJson {
  /** In the order in which the wallet heard of them. */
  readonly transactions: readonly WalletTxJson[];
  /** In the order in which the wallet came to believe them. */
  readonly replacements: readonly { readonly replaced: string; readonly replacement: string; readonly at: number }[];
  /** There are more of them than are told. */
  readonly is_cut: boolean;
}

/** What a reorganisation did. */
export interface WalletReorgJson {
  /** Of its event. */
  readonly sequence: number;
  /** Blocks above `to` are gone; the wallet was at `from`. */
  readonly from: number;
  readonly to: number;
  readonly depth: number;
  readonly transactions: readonly WalletReorgTxJson[];
  /** It did something to more transactions than are told. */
  readonly is_cut: boolean;
}

/** What a reorganisation did to a transaction. */
export interface WalletReorgTxJson {
  readonly txid: string;
  /** Height of the block that it lost; null: it was in none, and fell with what it spent. */
  readonly lost_block: number | null;
  /** What it was then. */
  readonly became: TxStatus;
  /** What it is now; null: it was forgotten. */
  readonly now: WalletTxJson | null;
}

/** What happened to a wallet. Which fields there are depends on the kind. */
export type WalletEventJson = { readonly sequence: number; readonly kind: WalletEvent['kind'] } & Readonly<
  Record<string, string | number | null>
>;

/** In the order given. */
export async function txsJson(reader: WalletReader, wallet: WalletInfo, details: readonly TxDetail[]): Promise<WalletTxJson[]> {
  const groups = await ReplacementGroups.load(reader.store, wallet.id, details);
  return details.map((detail) => txJson(reader.notation, wallet, detail, groups.replacedBy(detail)));
}

/** In the order given. */
export async function entriesJson(reader: WalletReader, wallet: WalletInfo, details: readonly TxDetail[]): Promise<WalletEntryJson[]> {
  const groups = await ReplacementGroups.load(reader.store, wallet.id, details);
  const { notation } = reader;
  const described = (detail: TxDetail): WalletTxJson => txJson(notation, wallet, detail, groups.replacedBy(detail));
  return details.map((detail) => {
    const group = groups.groupOf(detail);
    if (group === null) return { ...described(detail), group };
    const replacements = group.replacements.map(({ replaced, replacement, createdAt }) => {
      return { replaced: notation.formatId(replaced), replacement: notation.formatId(replacement), at: createdAt };
    });
    return { ...described(detail), group: { transactions: group.txs.map(described), replacements, is_cut: groups.isCut } };
  });
}

/** In the order given. */
export async function reorgsJson(reader: WalletReader, wallet: WalletInfo, reorgs: readonly ReorgEffects[]): Promise<WalletReorgJson[]> {
  const ids = new Map(reorgs.flatMap(({ txs }) => txs.map(({ txId }) => [toHex(txId), txId] as const)));
  const details: TxDetail[] = [];
  for (const txId of ids.values()) details.push(...(await knownDetail(reader.store, wallet, txId)));
  const now = new Map((await txsJson(reader, wallet, details)).map((tx) => [tx.txid, tx]));
  return reorgs.map(({ txs, isCut, ...reorg }) => {
    const transactions = txs.map(({ txId, height, status }) => {
      const txid = reader.notation.formatId(txId);
      return { txid, lost_block: height, became: status, now: now.get(txid) ?? null };
    });
    return { ...reorg, transactions, is_cut: isCut };
  });
}

/** None: it was pruned or deleted since. */
async function knownDetail(store: WalletStore, { id }: WalletInfo, txId: Uint8Array): Promise<TxDetail[]> {
  try {
    return [await store.getTxDetail(id, txId)];
  } catch (error) {
    if (!isUnspentError(error, 'TX_UNKNOWN')) throw error;
    return [];
  }
}

export function eventJson(notation: WalletNotation, { sequence, event }: NumberedWalletEvent): WalletEventJson {
  const fields = Object.entries(event).map(([name, value]) => FIELDS[name]?.(notation, value) ?? [name, value as string | number | null]);
  return { sequence, ...Object.fromEntries(fields) } as WalletEventJson;
}

type Field = (notation: WalletNotation, value: unknown) => readonly [name: string, value: string | null];
const idField =
  (name: string): Field =>
  ({ formatId }, value) => [name, value === null ? null : formatId(value as Uint8Array)];

/** Fields of events that documents write otherwise. */
const FIELDS: Readonly<Record<string, Field | undefined>> = {
  txId: idField('txid'),
  by: idField('by'),
  hash: idField('hash'),
  outpoint: (notation, value) => ['outpoint', coinName(notation, value as Outpoint)],
  leaseId: (_notation, value) => ['lease', toHex(value as Uint8Array)],
  amount: (_notation, value) => ['amount', `${value as bigint}`],
};
