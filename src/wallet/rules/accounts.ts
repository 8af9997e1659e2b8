/**
 * How accounts are named and asked for. A number or a name means nothing without
 * its scope. Imported accounts have no number. Addresses that were imported by
 * themselves have no account: only questions that name none see them.
 */
import type { AccountInfo, KeyScope } from '../records.ts';
import type { AccountName, CoinFilter } from '../store.ts';
import { refusal } from './failures.ts';
import { checkName, isStorable } from './texts.ts';

/** Stands for the addresses without an account where people read lists. */
const RESERVED_NAME = 'imported';

/** Throws ACCOUNT_NAME_RESERVED, INVALID_PARAM. */
export function checkAccountName(name: string): void {
  checkName('an account', name);
  if (name === RESERVED_NAME) throw refusal.accountNameReserved(name);
}

/** Throws ACCOUNT_UNKNOWN of what is no name, ACCOUNT_QUERY unless exactly one of name and number is given. */
export function checkAccountQuery({ name, number }: AccountName): void {
  if (name !== undefined && !isStorable(name)) throw refusal.accountUnknown(name);
  if ((name === undefined) === (number === undefined)) throw refusal.accountQuery('an account is asked for by its name or by its number');
}

/** Throws ACCOUNT_QUERY. */
export function checkAccountFilter({ scope, account, accountName }: CoinFilter): void {
  if (accountName !== undefined && !isStorable(accountName)) throw refusal.accountQuery('no account has such a name');
  if (account !== undefined && accountName !== undefined)
    throw refusal.accountQuery('coins are of an account by name or by number, not both');
  if ((account !== undefined || accountName !== undefined) && scope === undefined) {
    throw refusal.accountQuery('the name or number of an account needs its scope');
  }
}

export function sameScope(a: KeyScope, b: KeyScope): boolean {
  return a.purpose === b.purpose && a.coinType === b.coinType;
}

/** Null: the coin is of no account. */
export function isOfAccount(account: Pick<AccountInfo, 'scope' | 'name' | 'number'> | null, filter: CoinFilter): boolean {
  if (filter.scope === undefined) return true;
  if (account === null || !sameScope(account.scope, filter.scope)) return false;
  if (filter.account !== undefined) return account.number === filter.account;
  return filter.accountName === undefined || account.name === filter.accountName;
}
