/**
 * What documents of wallets say that only the Bitcoin family has: accounts with
 * their descriptors, what coin selection decided, and payments to be signed.
 * All else is in `wallet/documents.ts`.
 */
import { type BitcoinNetwork, formatAddress, formatId, parseId } from '../../../ledgers/bitcoin/index.ts';
import { toHex } from '../../../util/bytes.ts';
import { coinName, type WalletNotation } from '../../documents.ts';
import { isPrunedTx } from '../../past/pruned-tx.ts';
import type { AccountInfo } from '../../records.ts';
import type { LeasedSelection, PreparedPayment } from './payment.ts';
import { feeOfTx } from './unconfirmed.ts';
import type { WalletContext } from './wallet-context.ts';

const DECIMALS = 8;

export function bitcoinNotation(network: BitcoinNetwork): WalletNotation {
  const coin = { name: network.unit, decimals: DECIMALS };
  return { formatId, parseId, coin, formatAddress: (script) => formatAddress(network, script), feeOf: feeOfTx, isPruned: isPrunedTx };
}

/** An account, with the descriptors: they hold all that is needed to make the wallet again. */
export interface WalletAccountJson {
  /** Its name. */
  readonly name: string;
  /** The first step of the path by which wallets derive such scripts; 0: nobody has agreed on one. */
  readonly purpose: number;
  /** Of the addresses that others pay to. */
  readonly descriptor: string;
  /** Of change; null: it goes to the same addresses. */
  readonly change: string | null;
  /** Of the next address that nobody was given. */
  readonly next_index: number;
  /** The same of change. */
  readonly next_change_index: number;
}

/** Coins that were chosen for a payment, and are leased. */
export interface WalletSelectionJson {
  /** To release the coins, or to lease them for longer. */
  readonly lease: string;
  /** When the lease ends. */
  readonly lease_expires_at: number;
  /** Which search has found them. */
  readonly algorithm: string;
  /** The coins. */
  readonly inputs: readonly WalletInputJson[];
  /** In satoshi. */
  readonly fee: string;
  /** Virtual bytes of the signed transaction, at most. */
  readonly vsize: number;
  /** What comes back. */
  readonly change: string;
  /** What the choice costs beyond what it must; less is better. */
  readonly waste: string;
}

/** A coin that a payment spends. */
export interface WalletInputJson {
  /** `txid#index`. */
  readonly outpoint: string;
  /** In satoshi. */
  readonly amount: string;
}

/** A payment to be signed. */
export interface WalletPaymentJson extends WalletSelectionJson {
  /** In base64. */
  readonly psbt: string;
  /** Null: there is no change. */
  readonly change_address: string | null;
}

export function accountJson(context: WalletContext, info: AccountInfo): WalletAccountJson {
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

export function selectionJson({ notation }: WalletContext, { selection, leaseId, expiresAt }: LeasedSelection): WalletSelectionJson {
  const { algorithm, inputs, fee, vsize, change, waste } = selection;
  return {
    lease: toHex(leaseId),
    lease_expires_at: expiresAt,
    algorithm,
    inputs: inputs.map((coin) => ({ outpoint: coinName(notation, coin), amount: `${coin.value}` })),
    fee: `${fee}`,
    vsize,
    change: `${change}`,
    waste: `${waste}`,
  };
}

export function paymentJson(context: WalletContext, payment: PreparedPayment): WalletPaymentJson {
  const { keys, notation } = context;
  const { psbt, changeScript } = payment;
  return {
    psbt: keys.formatPsbt(psbt),
    change_address: changeScript && notation.formatAddress(changeScript),
    ...selectionJson(context, payment),
  };
}
