/**
 * Wallets, coins and transactions as documents, for `--json` and for REST: ids
 * as people know them, amounts as decimal strings, addresses where a script has
 * one, times in milliseconds since 1970.
 */
import { type BitcoinNetwork, formatAddress, formatId } from '../../../ledgers/bitcoin/index.ts';
import type { Outpoint } from '../../../ledgers/outpoint.ts';
import { toHex } from '../../../util/bytes.ts';
import {
  type AccountInfo,
  type AddressInfo,
  type CoinLease,
  LEASE_WITHOUT_END,
  type TxDetail,
  type WalletBalance,
  type WalletBlock,
  type WalletCoin,
  type WalletInfo,
} from '../../records.ts';
import { confirmations } from '../../rules/confirmations.ts';
import { isEvicted } from '../../rules/status.ts';
import type { LeasedSelection, PreparedPayment } from './payment.ts';
import { feeOfTx } from './unconfirmed.ts';
import type { WalletContext } from './wallet-context.ts';

export function walletJson({ name, isWatchOnly, syncedTo }: WalletInfo): object {
  return { name, watch_only: isWatchOnly, synced_to: blockJson(syncedTo) };
}

function blockJson(block: WalletBlock | null): object | null {
  return block && { height: block.height, hash: formatId(block.hash), time: block.timestamp };
}

/** With the descriptors, which hold all that is needed to make the wallet again. */
export function accountJson(context: WalletContext, info: AccountInfo): object {
  const { external, change } = context.account(info);
  const { name, scope, nextExternalIndex, nextInternalIndex } = info;
  return {
    name,
    purpose: scope.purpose,
    descriptor: `${external}`,
    change: change && `${change}`,
    next_index: nextExternalIndex,
    next_change_index: nextInternalIndex,
  };
}

export function addressJson(network: BitcoinNetwork, { script, kind, derivation, isUsed }: AddressInfo): object {
  return {
    address: formatAddress(network, script),
    script: toHex(script),
    kind,
    branch: derivation?.branch ?? null,
    index: derivation?.index ?? null,
    used: isUsed,
  };
}

export function balanceJson(balance: WalletBalance): object {
  return {
    total: `${balance.total}`,
    spendable: `${balance.spendable}`,
    confirmed: `${balance.confirmed}`,
    trusted_pending: `${balance.trustedPending}`,
    untrusted_pending: `${balance.untrustedPending}`,
    immature: `${balance.immature}`,
    locked: `${balance.locked}`,
  };
}

/** `txid#index`. */
export function coinName({ txId, index }: Outpoint): string {
  return `${formatId(txId)}#${index}`;
}

export function coinJson(network: BitcoinNetwork, { syncedTo }: WalletInfo, coin: WalletCoin): object {
  return {
    outpoint: coinName(coin.outpoint),
    amount: `${coin.amount}`,
    address: formatAddress(network, coin.script),
    script: toHex(coin.script),
    kind: coin.kind,
    account: coin.account?.name ?? null,
    height: coin.height,
    confirmations: confirmations(coin.height, syncedTo?.height ?? null),
    coinbase: coin.isCoinbase,
    own_change: coin.isOwnChange,
    received: coin.received,
    lease: coin.lease && leaseJson(coin.lease),
  };
}

export function leaseJson({ id, expiresAt, releaseAfterSpendConfs }: CoinLease): object {
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
export function txJson(network: BitcoinNetwork, { syncedTo }: WalletInfo, detail: TxDetail, replacedBy: readonly Uint8Array[]): object {
  const { tx, status, block, received, label } = detail;
  const fee = feeOfTx(detail);
  return {
    txid: formatId(tx.id),
    status,
    change: `${txChange(detail)}`,
    fee: fee === null ? null : `${fee}`,
    block: blockJson(block),
    confirmations: confirmations(block?.height ?? null, syncedTo?.height ?? null),
    received,
    label,
    coinbase: tx.isCoinbase,
    evicted: isEvicted(detail),
    replaced_by: replacedBy.map(formatId),
    inputs: tx.inputs.map((input, i) => ({ outpoint: coinName(input), amount: amountAt(detail.ownedInputs, i) })),
    outputs: tx.outputs.map(({ script, amount }, i) => ({
      address: formatAddress(network, script),
      amount: `${amount}`,
      own: detail.ownedOutputs.some(({ index }) => index === i),
    })),
  };
}

/** Null: not the wallet's own, so not known. */
function amountAt(owned: TxDetail['ownedInputs'], i: number): string | null {
  const found = owned.find(({ index }) => index === i);
  return found === undefined ? null : `${found.amount}`;
}

export function selectionJson({ selection, leaseId, expiresAt }: LeasedSelection): object {
  const { algorithm, inputs, fee, vsize, change, waste } = selection;
  return {
    lease: toHex(leaseId),
    lease_expires_at: expiresAt,
    algorithm,
    inputs: inputs.map((coin) => ({ outpoint: coinName(coin), amount: `${coin.value}` })),
    fee: `${fee}`,
    vsize,
    change: `${change}`,
    waste: `${waste}`,
  };
}

export function paymentJson({ keys, network }: WalletContext, payment: PreparedPayment): object {
  const { psbt, changeScript } = payment;
  return {
    psbt: keys.formatPsbt(psbt),
    change_address: changeScript && formatAddress(network, changeScript),
    ...selectionJson(payment),
  };
}
