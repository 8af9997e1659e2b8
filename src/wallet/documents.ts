/**
 * Wallets, coins and transactions as documents, for `--json`, for REST and for
 * programs: ids as people know them, amounts as decimal strings, addresses where
 * a script has one, times in milliseconds since 1970. How ids and addresses are
 * written is the family's to say (`WalletNotation`); the rest is the same.
 */
import type { Asset } from '../ledgers/asset.ts';
import type { Outpoint } from '../ledgers/outpoint.ts';
import { toHex } from '../util/bytes.ts';
import {
  type AddressInfo,
  type CoinLease,
  LEASE_WITHOUT_END,
  type TxDetail,
  type TxStatus,
  type WalletBalance,
  type WalletBlock,
  type WalletCoin,
  type WalletInfo,
  type WalletTx,
} from './records.ts';
import { confirmations } from './rules/confirmations.ts';
import { isEvicted } from './rules/status.ts';

/** How a family writes what documents of wallets name. */
export interface WalletNotation {
  formatId(id: Uint8Array): string;
  /** Throws USAGE. */
  parseId(text: string): Uint8Array;
  /** What people call the coin of the chain, and how many decimals it has. */
  readonly coin: { readonly name: string; readonly decimals: number };
  /** Null: the script has none. */
  formatAddress(script: Uint8Array): string | null;
  /** What a transaction paid for its place in a block; null: not known. */
  feeOf(detail: TxDetail): bigint | null;
  /** The chain's store had forgotten what the transaction did when the wallet found it. */
  isPruned(tx: WalletTx): boolean;
}

/** A wallet. */
export interface WalletJson {
  /** Its name. */
  readonly name: string;
  /** It has no secrets: what it pays is signed elsewhere. */
  readonly watch_only: boolean;
  /** The block that it is at; null: none yet. */
  readonly synced_to: WalletBlockJson | null;
}

/** A block as wallets know it. */
export interface WalletBlockJson {
  /** Its height. */
  readonly height: number;
  /** Its hash. */
  readonly hash: string;
  /** Seconds since 1970, as its header has it. */
  readonly time: number;
}

/** An address of a wallet. */
export interface WalletAddressJson {
  /** As people write it; null: the script has none. */
  readonly address: string | null;
  /** Its script in hex. */
  readonly script: string;
  /** Which kind of script or address it is. */
  readonly kind: string;
  /** 0: to be given to others, 1: change; null: of no account. */
  readonly branch: number | null;
  /** Its place in the branch; null: of no account. */
  readonly index: number | null;
  /** Some transaction has paid it. */
  readonly used: boolean;
}

/** What a wallet has, in the smallest unit. */
export interface WalletBalanceJson {
  /** All unspent outputs of live transactions. */
  readonly total: string;
  /** What may be spent now. */
  readonly spendable: string;
  /** In blocks, and not of a coinbase that is too young. */
  readonly confirmed: string;
  /** Unconfirmed, by transactions of the wallet itself. */
  readonly trusted_pending: string;
  /** Unconfirmed, by others. */
  readonly untrusted_pending: string;
  /** Of coinbases that are too young. */
  readonly immature: string;
  /** Under leases. */
  readonly locked: string;
  /** What its coins hold besides, by unit; absent: the chain has no assets. */
  readonly assets?: readonly WalletAssetJson[];
}

/** An asset beside the coin of the chain. */
export interface WalletAssetJson {
  /** Policy and name, in hex. */
  readonly unit: string;
  /** How much of it. */
  readonly quantity: string;
}

/** An unspent output of a wallet. */
export interface WalletCoinJson {
  /** `txid#index`. */
  readonly outpoint: string;
  /** In the smallest unit. */
  readonly amount: string;
  /** What it holds besides; absent: nothing. */
  readonly assets?: readonly WalletAssetJson[];
  /** Whose it is; null: the script has no address. */
  readonly address: string | null;
  /** Its script in hex; on Cardano the bytes of its address. */
  readonly script: string;
  /** Which kind of script or address owns it. */
  readonly kind: string;
  /** The name of the account; null: of none. */
  readonly account: string | null;
  /** Of its block; null: in none. */
  readonly height: number | null;
  /** How deep it is; null: not known. */
  readonly confirmations: number | null;
  /** It is of a coinbase. */
  readonly coinbase: boolean;
  /** All inputs of its transaction are the wallet's own. */
  readonly own_change: boolean;
  /** Its transaction is in no block, and the mempool has it no more. */
  readonly evicted: boolean;
  /** When it was first seen. */
  readonly received: number;
  /** Who has reserved it; null: nobody. */
  readonly lease: WalletLeaseJson | null;
}

/** A coin that somebody has reserved. */
export interface WalletLeaseJson {
  /** Whoever leases, 64 hex digits. */
  readonly id: string;
  /** When it ends; null: it does not by itself. */
  readonly expires_at: number | null;
  /** It outlives a spend, up to so many confirmations of it; null: it does not. */
  readonly release_after_spend_confs: number | null;
}

/** A transaction as one wallet sees it. */
export interface WalletTxJson {
  /** Its id. */
  readonly txid: string;
  /** What the wallet believes of it. */
  readonly status: TxStatus;
  /** What it did to the wallet. */
  readonly change: string;
  /** What it paid for its place; null: not known. */
  readonly fee: string | null;
  /** Null: in none. */
  readonly block: WalletBlockJson | null;
  /** How deep it is; null: not known. */
  readonly confirmations: number | null;
  /** When it was first seen. */
  readonly received: number;
  /** What it was for. */
  readonly label: string;
  /** It made its coins itself. */
  readonly coinbase: boolean;
  /** The mempool had it, and has it no more. */
  readonly evicted: boolean;
  /** Its scripts failed, so that it spent its collateral and did nothing else; absent: they did not. */
  readonly scripts_failed?: true;
  /**
   * The chain's store had forgotten its bytes when the wallet found it: of what it did only the coins of the wallet that it
   * is known to have spent are told, and all it paid is spent. Absent: it is known as a whole.
   */
  readonly pruned?: true;
  /** What took its place, what took the place of that, and so on. */
  readonly replaced_by: readonly string[];
  /** What it spends. */
  readonly inputs: readonly WalletTxInputJson[];
  /** What it pays. */
  readonly outputs: readonly WalletTxOutputJson[];
}

/** An input of a transaction. */
export interface WalletTxInputJson {
  /** `txid#index`. */
  readonly outpoint: string;
  /** Null: not the wallet's own, so not known. */
  readonly amount: string | null;
}

/** An output of a transaction. */
export interface WalletTxOutputJson {
  /** Null: the script has none. */
  readonly address: string | null;
  /** In the smallest unit. */
  readonly amount: string;
  /** What it holds besides; absent: nothing. */
  readonly assets?: readonly WalletAssetJson[];
  /** It is the wallet's. */
  readonly own: boolean;
}

export function walletJson({ formatId }: WalletNotation, { name, isWatchOnly, syncedTo }: WalletInfo): WalletJson {
  return { name, watch_only: isWatchOnly, synced_to: blockJson(formatId, syncedTo) };
}

function blockJson(formatId: WalletNotation['formatId'], block: WalletBlock | null): WalletBlockJson | null {
  return block && { height: block.height, hash: formatId(block.hash), time: block.timestamp };
}

export function addressJson({ formatAddress }: WalletNotation, { script, kind, derivation, isUsed }: AddressInfo): WalletAddressJson {
  return {
    address: formatAddress(script),
    script: toHex(script),
    kind,
    branch: derivation?.branch ?? null,
    index: derivation?.index ?? null,
    used: isUsed,
  };
}

/** `assets`: null where the chain has none. */
export function balanceJson(balance: WalletBalance, assets: readonly Asset[] | null = null): WalletBalanceJson {
  return {
    total: `${balance.total}`,
    spendable: `${balance.spendable}`,
    confirmed: `${balance.confirmed}`,
    trusted_pending: `${balance.trustedPending}`,
    untrusted_pending: `${balance.untrustedPending}`,
    immature: `${balance.immature}`,
    locked: `${balance.locked}`,
    ...(assets === null ? {} : { assets: assets.map(assetJson) }),
  };
}

/** `txid#index`. */
export function coinName({ formatId }: WalletNotation, { txId, index }: Outpoint): string {
  return `${formatId(txId)}#${index}`;
}

export function coinJson(notation: WalletNotation, { syncedTo }: WalletInfo, coin: WalletCoin): WalletCoinJson {
  return {
    outpoint: coinName(notation, coin.outpoint),
    amount: `${coin.amount}`,
    ...someAssets(coin.assets),
    address: notation.formatAddress(coin.script),
    script: toHex(coin.script),
    kind: coin.kind,
    account: coin.account?.name ?? null,
    height: coin.height,
    confirmations: confirmations(coin.height, syncedTo?.height ?? null),
    coinbase: coin.isCoinbase,
    own_change: coin.isOwnChange,
    evicted: coin.isEvicted,
    received: coin.received,
    lease: coin.lease && leaseJson(coin.lease),
  };
}

export function assetJson({ policy, name, quantity }: Asset): WalletAssetJson {
  return { unit: toHex(policy) + toHex(name), quantity: `${quantity}` };
}

export function someAssets(assets: readonly Asset[] = []): { readonly assets?: readonly WalletAssetJson[] } {
  return assets.length === 0 ? {} : { assets: assets.map(assetJson) };
}

export function leaseJson({ id, expiresAt, releaseAfterSpendConfs }: CoinLease): WalletLeaseJson {
  return {
    id: toHex(id),
    expires_at: expiresAt === LEASE_WITHOUT_END ? null : expiresAt,
    release_after_spend_confs: releaseAfterSpendConfs,
  };
}

/** What a transaction did to the wallet. */
export function txChange({ ownedInputs, ownedOutputs }: TxDetail): bigint {
  const sum = (parts: readonly { readonly amount: bigint }[]): bigint => parts.reduce((total, { amount }) => total + amount, 0n);
  return sum(ownedOutputs) - sum(ownedInputs);
}

/** `replacedBy`: what took its place, what took the place of that, and so on. */
export function txJson(
  notation: WalletNotation,
  { syncedTo }: WalletInfo,
  detail: TxDetail,
  replacedBy: readonly Uint8Array[],
): WalletTxJson {
  const { tx, status, block, received, label } = detail;
  const fee = notation.feeOf(detail);
  return {
    txid: notation.formatId(tx.id),
    status,
    change: `${txChange(detail)}`,
    fee: fee === null ? null : `${fee}`,
    block: blockJson(notation.formatId, block),
    confirmations: confirmations(block?.height ?? null, syncedTo?.height ?? null),
    received,
    label,
    coinbase: tx.isCoinbase,
    evicted: isEvicted(detail),
    ...(tx.scriptsFailed === true ? { scripts_failed: true } : {}),
    ...(notation.isPruned(tx) ? { pruned: true } : {}),
    replaced_by: replacedBy.map(notation.formatId),
    inputs: tx.inputs.map((input, i) => ({ outpoint: coinName(notation, input), amount: amountAt(detail.ownedInputs, i) })),
    outputs: tx.outputs.map(({ script, amount, assets }, i) => ({
      address: notation.formatAddress(script),
      amount: `${amount}`,
      ...someAssets(assets),
      own: detail.ownedOutputs.some(({ index }) => index === i),
    })),
  };
}

/** Null: not the wallet's own, so not known. */
function amountAt(owned: TxDetail['ownedInputs'], i: number): string | null {
  const found = owned.find(({ index }) => index === i);
  return found === undefined ? null : `${found.amount}`;
}
