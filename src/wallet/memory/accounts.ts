/** Wallets, accounts and addresses of the store in memory. */
import { toHex } from '../../util/bytes.ts';
import { CHILD_INDEX_MAX } from '../../util/limits.ts';
import type { AccountId, AccountInfo, AddressBranch, AddressInfo, KeyScope, WalletInfo } from '../records.ts';
import { checkAccountName, checkAccountQuery, sameScope } from '../rules/accounts.ts';
import { refusal } from '../rules/failures.ts';
import { checkName } from '../rules/texts.ts';
import type { AccountName, DeriveAddress, NewAccount, NewAddress, NewWallet } from '../store.ts';
import { byOrder, type MemoryAddress, type MemoryTables, MemoryWallet } from './tables.ts';

export function addWallet(tables: MemoryTables, wallet: NewWallet): WalletInfo {
  const { name, isWatchOnly, isImported, masterPublicKey, secrets, birthday, accounts = [] } = wallet;
  checkName('a wallet', name);
  if (isWatchOnly && secrets !== undefined) throw refusal.watchOnly(name);
  if (!isWatchOnly && secrets === undefined) throw refusal.masterKeyNeeded(name);
  for (const { info } of tables.wallets.values()) if (info.value.name === name) throw refusal.walletExists(name);
  const info: WalletInfo = {
    id: tables.next(),
    name,
    isWatchOnly,
    isImported: isImported ?? false,
    masterPublicKey: masterPublicKey ?? null,
    syncedTo: null,
    birthday: birthday ?? null,
    birthdayBlock: null,
  };
  const made = new MemoryWallet(tables.journal, info, secrets ?? null);
  tables.wallets.set(info.id, made);
  tables.raiseWatchVersion();
  for (const account of accounts) addAccount(tables, made, account);
  return info;
}

export function addAccount(tables: MemoryTables, wallet: MemoryWallet, account: NewAccount): AccountInfo {
  const { name, isDerived, publicKey, masterFingerprint, now } = account;
  checkAccountName(name);
  const scopeKey = `${account.scope.purpose}/${account.scope.coinType}`;
  const { externalKind, internalKind } = account;
  const scope = wallet.scopes.get(scopeKey) ?? { scope: account.scope, externalKind, internalKind, nextAccountNumber: 0 };
  if (scope.externalKind !== externalKind || scope.internalKind !== internalKind)
    throw refusal.invalid('the scope has scripts of other kinds');
  refuseName(wallet, scope.scope, name);
  if (isDerived && scope.nextAccountNumber > CHILD_INDEX_MAX) throw refusal.accountNumberMax();
  wallet.scopes.set(scopeKey, { ...scope, nextAccountNumber: scope.nextAccountNumber + (isDerived ? 1 : 0) });
  const info: AccountInfo = {
    id: tables.next(),
    scope: scope.scope,
    name,
    number: isDerived ? scope.nextAccountNumber : null,
    publicKey: publicKey ?? null,
    masterFingerprint: masterFingerprint ?? null,
    nextExternalIndex: 0,
    nextInternalIndex: 0,
    createdAt: now,
  };
  setAccount(tables, wallet, info);
  return info;
}

/** It is new, or has new addresses. */
function setAccount(tables: MemoryTables, wallet: MemoryWallet, account: AccountInfo): void {
  wallet.accounts.set(account.id, account);
  wallet.watchVersions.set(account.id, tables.raiseWatchVersion());
}

function refuseName(wallet: MemoryWallet, scope: KeyScope, name: string): void {
  for (const other of wallet.accounts.values()) if (other.name === name && sameScope(other.scope, scope)) throw refusal.accountExists(name);
}

export function findAccount(wallet: MemoryWallet, query: AccountName): AccountInfo {
  checkAccountQuery(query);
  for (const account of wallet.accounts.values()) {
    const isMeant = query.name === undefined ? account.number === query.number : account.name === query.name;
    if (isMeant && sameScope(account.scope, query.scope)) return account;
  }
  throw refusal.accountUnknown(query.name ?? query.number ?? '');
}

export function renameAccount(wallet: MemoryWallet, query: AccountName, name: string): AccountInfo {
  checkAccountName(name);
  const account = findAccount(wallet, query);
  if (account.name !== name) refuseName(wallet, account.scope, name);
  const renamed = { ...account, name };
  wallet.accounts.set(account.id, renamed);
  return renamed;
}

function accountOf(wallet: MemoryWallet, id: AccountId): AccountInfo {
  const account = wallet.accounts.get(id);
  if (account === undefined) throw refusal.accountUnknown(id);
  return account;
}

/** The next address that exists on the branch. */
export function nextAddress(
  tables: MemoryTables,
  wallet: MemoryWallet,
  accountId: AccountId,
  branch: AddressBranch,
  derive: DeriveAddress,
  now: number,
): MemoryAddress {
  for (let index = nextIndex(accountOf(wallet, accountId), branch); ; index++) {
    if (index > CHILD_INDEX_MAX) throw refusal.addressIndexMax(index);
    const derived = derive(branch, index);
    if (derived === null) continue;
    setNextIndex(tables, wallet, accountId, branch, index + 1);
    return addDerived(tables, wallet, derived, { accountId, branch, index }, now);
  }
}

/** Every address that exists on the branch, up to the index. */
export function extendAddresses(
  tables: MemoryTables,
  wallet: MemoryWallet,
  accountId: AccountId,
  branch: AddressBranch,
  last: number,
  derive: DeriveAddress,
  now: number,
): void {
  const first = nextIndex(accountOf(wallet, accountId), branch);
  if (branch !== 0 && branch !== 1) throw refusal.invalid(`an account has no branch ${branch}`);
  if (last > CHILD_INDEX_MAX) throw refusal.addressIndexMax(last);
  for (let index = first; index <= last; index++) {
    const derived = derive(branch, index);
    if (derived !== null) addDerived(tables, wallet, derived, { accountId, branch, index }, now);
  }
  if (last >= first) setNextIndex(tables, wallet, accountId, branch, last + 1);
}

function nextIndex({ nextExternalIndex, nextInternalIndex }: AccountInfo, branch: AddressBranch): number {
  return branch === 0 ? nextExternalIndex : nextInternalIndex;
}

function setNextIndex(tables: MemoryTables, wallet: MemoryWallet, accountId: AccountId, branch: AddressBranch, next: number): void {
  const account = accountOf(wallet, accountId);
  setAccount(tables, wallet, { ...account, [branch === 0 ? 'nextExternalIndex' : 'nextInternalIndex']: next });
}

function addDerived(
  tables: MemoryTables,
  wallet: MemoryWallet,
  { script, kind, publicKey }: NewAddress,
  derivation: NonNullable<AddressInfo['derivation']>,
  now: number,
): MemoryAddress {
  if (script.length === 0) throw refusal.scriptMissing();
  const known = wallet.addresses.get(toHex(script));
  if (known !== undefined && known.derivation !== null) throw refusal.addressTaken(script);
  const row: MemoryAddress = known
    ? { ...known, derivation }
    : { order: tables.next(), script, kind, publicKey: publicKey ?? null, derivation, createdAt: now };
  wallet.addresses.set(toHex(script), row);
  tables.raiseWatchVersion();
  return row;
}

export function importAddress(
  tables: MemoryTables,
  wallet: MemoryWallet,
  { script, kind, publicKey }: NewAddress,
  now: number,
): MemoryAddress {
  if (script.length === 0) throw refusal.scriptMissing();
  const known = wallet.addresses.get(toHex(script));
  if (known !== undefined) return known;
  const row = { order: tables.next(), script, kind, publicKey: publicKey ?? null, derivation: null, createdAt: now };
  wallet.addresses.set(toHex(script), row);
  tables.raiseWatchVersion();
  return row;
}

/** As others see them, in the order they were made. */
export function describeAddresses(wallet: MemoryWallet, rows: readonly MemoryAddress[]): AddressInfo[] {
  const used = new Set([...wallet.credits.values()].map(({ owner }) => owner));
  return rows.toSorted(byOrder).map(({ script, kind, publicKey, derivation, createdAt }) => {
    return { script, kind, publicKey, derivation, isUsed: used.has(toHex(script)), createdAt };
  });
}

/** ADDRESS_UNKNOWN. */
export function addressByScript(wallet: MemoryWallet, script: Uint8Array): MemoryAddress {
  const row = wallet.addresses.get(toHex(script));
  if (row === undefined) throw refusal.addressUnknown(script);
  return row;
}

/** By script in hex: whether those of the scripts that were given out were for change. */
export function givenAmong({ given }: MemoryWallet, scripts: readonly Uint8Array[]): Map<string, boolean> {
  const found = new Map<string, boolean>();
  for (const text of scripts.map((script) => toHex(script))) {
    const isChange = given.get(text);
    if (isChange !== undefined) found.set(text, isChange);
  }
  return found;
}
