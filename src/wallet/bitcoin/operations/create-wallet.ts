/**
 * A wallet that watches, made from descriptors, and accounts that are added to
 * one. Only the account is stored here; its past is found by whoever has the
 * chain at hand (scan.ts), so that a wallet can be made while another process
 * follows the chain.
 */
import { UnspentError } from '../../../util/errors.ts';
import type { AccountInfo, KeyScope, ScriptKind, WalletInfo } from '../../records.ts';
import { refusal } from '../../rules/failures.ts';
import type { NewAccount } from '../../store.ts';
import type { Account, NamedAccount } from '../keys/index.ts';
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
  const accounts = context.keys.splitCombo(context.network, readAccount(context, wallet));
  const { name } = wallet;
  const info = (await context.store.listWallets()).find((known) => known.name === name);
  if (info === undefined) {
    return context.store.createWallet({ name, isWatchOnly: true, accounts: newAccounts(context, accounts, wallet.account) });
  }
  await storeAccounts(context, info, await missingAccounts(context, info, accounts), wallet.account);
  return info;
}

/** Adds an account to a wallet. Throws WALLET_UNKNOWN, ACCOUNT_EXISTS, DESCRIPTOR_INVALID, WATCH_ONLY, INVALID_PARAM. */
export async function importDescriptor(context: WalletContext, name: string, account: NewDescriptorAccount): Promise<AccountInfo> {
  const accounts = context.keys.splitCombo(context.network, readAccount(context, account));
  const wallet = await context.store.getWallet(name);
  const known = await knownDescriptors(context, wallet);
  for (const each of accounts) {
    const same = known.get(`${each.account.external}`);
    if (same !== undefined) throw new UnspentError('ACCOUNT_EXISTS', `account '${same}' has that descriptor already`);
  }
  return storeAccounts(context, wallet, accounts, account.account);
}

/** A wallet that has some of the accounts, and no others, is one whose making by an earlier version was cut off: it is finished. Throws WALLET_EXISTS. */
async function missingAccounts(
  context: WalletContext,
  info: WalletInfo,
  accounts: readonly NamedAccount[],
): Promise<readonly NamedAccount[]> {
  const known = await knownDescriptors(context, info);
  const missing = accounts.filter(({ account }) => !known.has(`${account.external}`));
  if (!info.isWatchOnly || missing.length === 0 || known.size + missing.length > accounts.length) throw refusal.walletExists(info.name);
  return missing;
}

/** From descriptors to the names of the accounts that have them. */
async function knownDescriptors(context: WalletContext, { id }: WalletInfo): Promise<ReadonlyMap<string, string>> {
  const accounts = await context.store.listAccounts(id);
  return new Map(accounts.map((info) => [`${context.account(info).external}`, info.name]));
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

/** Of several accounts the first has the name, the others also the kind of their scripts. The first one. */
async function storeAccounts(
  context: WalletContext,
  wallet: WalletInfo,
  accounts: readonly NamedAccount[],
  name = 'default',
): Promise<AccountInfo> {
  const infos: AccountInfo[] = [];
  for (const account of newAccounts(context, accounts, name)) infos.push(await context.store.createAccount(wallet.id, account));
  return infos[0];
}

/** As the store takes them. Throws DESCRIPTOR_INVALID. */
export function newAccounts(context: WalletContext, accounts: readonly NamedAccount[], name = 'default'): NewAccount[] {
  return accounts.map(({ kind, account }) => newAccount(context, account, kind === '' ? name : `${name} ${kind}`));
}

function newAccount(context: WalletContext, account: Account, name: string): NewAccount {
  const [externalKind, internalKind] = [kindOf(context, account, 0), kindOf(context, account, account.change === null ? 0 : 1)];
  const scope: KeyScope = { purpose: PURPOSES[externalKind] ?? 0, coinType: context.network.keys.coinType };
  const publicKey = accountKey(account);
  return { scope, name, externalKind, internalKind, isDerived: false, publicKey, now: context.now() };
}

/** Throws DESCRIPTOR_INVALID for scripts that wallets do not tell apart. */
function kindOf({ keys }: WalletContext, account: Account, branch: 0 | 1): ScriptKind {
  const address = keys.addressesOf(account)(branch, account.descriptor(branch).isRanged ? keys.firstIndex(account, branch, 0) : 0);
  if (address === null) throw new UnspentError('DESCRIPTOR_INVALID', 'the descriptor has no first script');
  return address.kind;
}
