/**
 * A wallet that watches, made from descriptors, and accounts that are added to
 * one. Only the account is stored here; its past is found by whoever has the
 * chain at hand (scan.ts), so that a wallet can be made while another process
 * follows the chain.
 */
import { UnspentError } from '../../../util/errors.ts';
import type { AccountInfo, KeyScope, ScriptKind, WalletInfo } from '../../records.ts';
import { refusal } from '../../rules/failures.ts';
import type { Account } from '../keys/index.ts';
import { accountKey, type WalletContext } from './wallet-context.ts';

/** A wallet to be made, with its first account. */
export interface NewWatchOnlyWallet extends NewDescriptorAccount {
  /** Of the wallet. */
  readonly name: string;
}

/** An account to be made from descriptors. */
export interface NewDescriptorAccount {
  /** Of the addresses that others pay to; with `<0;1>` also of change. */
  readonly descriptor: string;
  /** Of change, where the first has one branch. */
  readonly change?: string | undefined;
  /** Default `default`. */
  readonly account?: string | undefined;
}

/** The first step of the path by which wallets derive such scripts (BIP44, 49, 84, 86, 45, 48). Of other kinds nobody has agreed on one. */
const PURPOSES: Readonly<Partial<Record<ScriptKind, number>>> = {
  p2pkh: 44,
  p2sh: 45,
  'p2sh-p2wpkh': 49,
  p2wpkh: 84,
  p2wsh: 48,
  p2tr: 86,
};

/** Throws WALLET_EXISTS, DESCRIPTOR_INVALID, WATCH_ONLY for a descriptor with private keys, INVALID_PARAM. */
export async function createWatchOnlyWallet(context: WalletContext, wallet: NewWatchOnlyWallet): Promise<WalletInfo> {
  const account = readAccount(context, wallet);
  const info = await emptyWallet(context, wallet.name);
  await storeAccount(context, info, account, wallet.account);
  return info;
}

/** Adds an account to a wallet. Throws WALLET_UNKNOWN, ACCOUNT_EXISTS, DESCRIPTOR_INVALID, WATCH_ONLY, INVALID_PARAM. */
export async function importDescriptor(context: WalletContext, name: string, account: NewDescriptorAccount): Promise<AccountInfo> {
  const parsed = readAccount(context, account);
  const wallet = await context.store.getWallet(name);
  await refuseSameDescriptor(context, wallet, parsed);
  return storeAccount(context, wallet, parsed, account.account);
}

/** A wallet without accounts is one whose making was cut off between its two steps: it is finished. */
async function emptyWallet({ store }: WalletContext, name: string): Promise<WalletInfo> {
  const known = (await store.listWallets()).find((wallet) => wallet.name === name);
  if (known === undefined) return store.createWallet({ name, isWatchOnly: true });
  if (!known.isWatchOnly || (await store.listAccounts(known.id)).length > 0) throw refusal.walletExists(name);
  return known;
}

async function refuseSameDescriptor(context: WalletContext, { id }: WalletInfo, account: Account): Promise<void> {
  for (const info of await context.store.listAccounts(id)) {
    if (`${context.account(info).external}` !== `${account.external}`) continue;
    throw new UnspentError('ACCOUNT_EXISTS', `account '${info.name}' has that descriptor already`);
  }
}

function readAccount({ keys, network }: WalletContext, { descriptor, change }: NewDescriptorAccount): Account {
  const account = keys.parseAccount(network, descriptor, change);
  const descriptors = account.change === null ? [account.external] : [account.external, account.change];
  if (descriptors.some(({ privateKeys }) => privateKeys.length > 0)) {
    for (const each of descriptors) each.wipe();
    throw new UnspentError('WATCH_ONLY', 'the descriptor has private keys, and a watching wallet keeps none: give it with public keys');
  }
  return account;
}

/** The descriptors of the account, without private keys. */
export async function storeAccount(context: WalletContext, { id }: WalletInfo, account: Account, name = 'default'): Promise<AccountInfo> {
  const [externalKind, internalKind] = [kindOf(context, account, 0), kindOf(context, account, account.change === null ? 0 : 1)];
  const scope: KeyScope = { purpose: PURPOSES[externalKind] ?? 0, coinType: context.network.keys.coinType };
  const publicKey = accountKey(account);
  return context.store.createAccount(id, { scope, name, externalKind, internalKind, isDerived: false, publicKey, now: context.now() });
}

/** Throws DESCRIPTOR_INVALID for scripts that wallets do not tell apart. */
function kindOf({ keys }: WalletContext, account: Account, branch: 0 | 1): ScriptKind {
  const address = keys.addressesOf(account)(branch, account.descriptor(branch).isRanged ? keys.firstIndex(account, branch, 0) : 0);
  if (address === null) throw new UnspentError('DESCRIPTOR_INVALID', 'the descriptor has no first script');
  return address.kind;
}
