/**
 * Coins for a payment of lovelace and assets: chosen and leased in one database
 * transaction. The transaction itself is made elsewhere, from what is decided
 * here: inputs, outputs, change and fee.
 */
import { randomBytes } from 'node:crypto';
import { parseUnit } from '../../ledgers/asset.ts';
import type { SizeParameters } from '../../ledgers/cardano/fee.ts';
import { formatAddress } from '../../ledgers/cardano/index.ts';
import { type OutputToWrite, sameRef } from '../../ledgers/cardano/transaction-write.ts';
import { type Outpoint, parseOutpoint } from '../../ledgers/outpoint.ts';
import { toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { coinName, someAssets, type WalletAssetJson } from '../documents.ts';
import { leaseMs } from '../lease-time.ts';
import type { WalletInfo } from '../records.ts';
import { refusal } from '../rules/failures.ts';
import type { Coin, Selection, SelectionOrder } from '../selection/cardano/coin.ts';
import { selectCoins } from '../selection/cardano/select.ts';
import type { CardanoWallets } from './cardano-wallets.ts';
import { spendableCoins } from './spendable-coins.ts';

/** A payment as people and programs say it. */
export interface PaymentText {
  readonly to: readonly PaidText[];
  /** Where what is left comes back to. Default: the first address that the wallet watches. */
  readonly changeAddress?: string | undefined;
  /** `txid#index`: these coins and no others. */
  readonly coins?: readonly string[] | undefined;
  readonly order?: SelectionOrder | undefined;
  /** Coins are leased for so many minutes. Default: 60. */
  readonly minutes?: number | undefined;
}

export interface PaidText {
  readonly address: string;
  /** Lovelace. */
  readonly amount: bigint;
  readonly assets?: readonly { readonly unit: string; readonly quantity: bigint }[] | undefined;
}

/** Coins that were chosen and are leased. */
export interface LeasedSelection {
  readonly selection: Selection;
  /** To release the coins, or to lease them for longer. */
  readonly leaseId: Uint8Array;
  readonly expiresAt: number;
}

/**
 * Only coins that a key can spend are chosen, and only those in blocks. Throws FUNDS_INSUFFICIENT, TX_TOO_LARGE,
 * OUTPUT_DUST, USAGE, UTXO_UNKNOWN for a coin that is none, is leased, or needs more than a signature.
 */
export async function selectPayment(
  wallets: CardanoWallets,
  wallet: WalletInfo,
  payment: PaymentText,
  parameters: SizeParameters,
): Promise<LeasedSelection> {
  const { store, now, notation } = wallets;
  const { order, coins: named, minutes } = payment;
  const outputs = payment.to.map((paid) => outputOf(wallets, paid));
  const changeAddress = await changeAddressOf(wallets, wallet, payment);
  const only = named?.map((text) => parseOutpoint(text, notation.parseId));
  const [leaseId, time, durationMs] = [randomBytes(32), now(), leaseMs(minutes)];
  const { selection } = await store.selectAndLease(
    wallet.id,
    { now: time, minConfs: 1, coinbaseMaturity: wallets.coinbaseMaturity },
    (free) => {
      const coins = spendableCoins(free);
      const terms = { outputs, changeAddress, parameters, ...(order === undefined ? {} : { order }) };
      const selection =
        only === undefined ? selectCoins(coins, terms) : selectCoins([], { ...terms, preset: only.map((each) => coinAt(coins, each)) });
      return { selection, coins: selection.inputs };
    },
    { id: leaseId, now: time, durationMs },
  );
  return { selection, leaseId, expiresAt: time + durationMs };
}

function outputOf(wallets: CardanoWallets, { address, amount, assets = [] }: PaidText): OutputToWrite {
  const held = assets.map(({ unit, quantity }) => ({ ...parseUnit(unit), quantity }));
  return { address: wallets.payable(address), lovelace: amount, ...(held.length === 0 ? {} : { assets: held }) };
}

async function changeAddressOf(wallets: CardanoWallets, wallet: WalletInfo, { changeAddress }: PaymentText): Promise<Uint8Array> {
  if (changeAddress !== undefined) return wallets.payable(changeAddress);
  const own = (await wallets.store.listAddresses(wallet.id)).find(({ kind }) => kind === 'cardano-key');
  if (own !== undefined) return own.script;
  throw new UnspentError('USAGE', `wallet '${wallet.name}' watches no address of a key: say where change goes to`);
}

function coinAt(coins: readonly Coin[], outpoint: Outpoint): Coin {
  const found = coins.find((coin) => sameRef(coin, outpoint));
  if (found === undefined) throw refusal.coinUnknown(outpoint);
  return found;
}

/** What was decided on, as a document: all that whoever makes the transaction needs. */
export interface SelectionJson {
  readonly lease: string;
  readonly lease_expires_at: number;
  readonly algorithm: SelectionOrder;
  readonly inputs: readonly { readonly outpoint: string; readonly amount: string; readonly assets?: readonly WalletAssetJson[] }[];
  readonly outputs: readonly SelectionOutputJson[];
  /** Several only where one output cannot hold all assets that come back. */
  readonly change: readonly SelectionOutputJson[];
  /** In lovelace. */
  readonly fee: string;
  /** Of the signed transaction, at most. */
  readonly bytes: number;
}

export interface SelectionOutputJson {
  readonly address: string;
  readonly amount: string;
  readonly assets?: readonly WalletAssetJson[];
}

export function selectionJson({ notation }: CardanoWallets, { selection, leaseId, expiresAt }: LeasedSelection): SelectionJson {
  const { algorithm, inputs, outputs, change, fee, bytes } = selection;
  return {
    lease: toHex(leaseId),
    lease_expires_at: expiresAt,
    algorithm,
    inputs: inputs.map((coin) => ({ outpoint: coinName(notation, coin), amount: `${coin.lovelace}`, ...someAssets(coin.assets) })),
    outputs: outputs.map(outputJson),
    change: change.map(outputJson),
    fee: `${fee}`,
    bytes,
  };
}

function outputJson({ address, lovelace, assets }: OutputToWrite): SelectionOutputJson {
  return { address: formatAddress(address), amount: `${lovelace}`, ...someAssets(assets) };
}
