/** Accounts and the key scopes they are in. */
import { CHILD_INDEX_MAX } from '../../util/limits.ts';
import { type AccountId, type AccountInfo, type KeyScope, SCRIPT_KINDS, type WalletId } from '../records.ts';
import { checkAccountName, checkAccountQuery } from '../rules/accounts.ts';
import { refusal } from '../rules/failures.ts';
import type { AccountName, NewAccount } from '../store.ts';
import type { SqlTransaction } from './database.ts';
import { lockWallet } from './locks.ts';

export const accountQuery = ({ db }: SqlTransaction) =>
  db
    .selectFrom('accounts as a')
    .innerJoin('key_scopes as s', 's.id', 'a.scope_id')
    .select(['a.id', 'a.account_name', 'a.account_number', 'a.public_key', 'a.master_fingerprint', 'a.created_at'])
    .select(['a.next_external_index', 'a.next_internal_index', 's.purpose', 's.coin_type']);

type AccountColumns = Awaited<ReturnType<ReturnType<typeof accountQuery>['executeTakeFirstOrThrow']>>;

export function infoOfAccount(row: AccountColumns): AccountInfo {
  return {
    id: row.id,
    scope: { purpose: row.purpose, coinType: row.coin_type },
    name: row.account_name,
    number: row.account_number,
    publicKey: row.public_key,
    masterFingerprint: row.master_fingerprint,
    nextExternalIndex: row.next_external_index,
    nextInternalIndex: row.next_internal_index,
    createdAt: row.created_at,
  };
}

const accountsOf = (tx: SqlTransaction, walletId: WalletId) => accountQuery(tx).where('a.wallet_id', '=', walletId);

/** Locks the wallet. */
export async function insertAccount(tx: SqlTransaction, walletId: WalletId, account: NewAccount): Promise<AccountInfo> {
  checkAccountName(account.name);
  await lockWallet(tx, walletId);
  const scope = await scopeFor(tx, walletId, account);
  const number = account.isDerived ? scope.next_account_number : null;
  if (number !== null && number > CHILD_INDEX_MAX) throw refusal.accountNumberMax();
  const row = await tx.db
    .insertInto('accounts')
    .values({
      wallet_id: walletId,
      scope_id: scope.id,
      account_name: account.name,
      is_derived: account.isDerived ? 1 : 0,
      account_number: number,
      master_fingerprint: account.masterFingerprint ?? null,
      public_key: account.publicKey ?? null,
      created_at: account.now,
      next_external_index: 0,
      next_internal_index: 0,
    })
    .onConflict((conflict) => conflict.columns(['wallet_id', 'scope_id', 'account_name']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) throw refusal.accountExists(account.name);
  if (number !== null)
    await tx.db
      .updateTable('key_scopes')
      .set({ next_account_number: number + 1 })
      .where('id', '=', scope.id)
      .execute();
  return accountById(tx, walletId, row.id);
}

/** The first account of a scope makes it. */
async function scopeFor(tx: SqlTransaction, walletId: WalletId, { scope, externalKind, internalKind }: NewAccount) {
  const wanted = { external_type_id: SCRIPT_KINDS.indexOf(externalKind), internal_type_id: SCRIPT_KINDS.indexOf(internalKind) };
  const columns = ['id', 'next_account_number', 'external_type_id', 'internal_type_id'] as const;
  const stored = await tx.db
    .selectFrom('key_scopes')
    .select(columns)
    .where('wallet_id', '=', walletId)
    .where('purpose', '=', scope.purpose)
    .where('coin_type', '=', scope.coinType)
    .executeTakeFirst();
  if (stored === undefined) {
    return tx.db
      .insertInto('key_scopes')
      .values({
        wallet_id: walletId,
        purpose: scope.purpose,
        coin_type: scope.coinType,
        next_account_number: 0,
        coin_pub_key: null,
        ...wanted,
      })
      .returning(columns)
      .executeTakeFirstOrThrow();
  }
  if (stored.external_type_id !== wanted.external_type_id || stored.internal_type_id !== wanted.internal_type_id) {
    throw refusal.invalid(`scope ${scope.purpose}'/${scope.coinType}' has scripts of other kinds`);
  }
  return stored;
}

/** ACCOUNT_UNKNOWN. */
export async function accountById(tx: SqlTransaction, walletId: WalletId, accountId: AccountId): Promise<AccountInfo> {
  const row = await accountsOf(tx, walletId).where('a.id', '=', accountId).executeTakeFirst();
  if (row === undefined) throw refusal.accountUnknown(accountId);
  return infoOfAccount(row);
}

/** ACCOUNT_UNKNOWN, ACCOUNT_QUERY. */
export async function accountNamed(tx: SqlTransaction, walletId: WalletId, account: AccountName): Promise<AccountInfo> {
  checkAccountQuery(account);
  const { scope, name, number } = account;
  const query = ofScope(tx, walletId, scope);
  const row = await (name === undefined
    ? query.where('a.account_number', '=', number ?? -1)
    : query.where('a.account_name', '=', name)
  ).executeTakeFirst();
  if (row === undefined) throw refusal.accountUnknown(name ?? number ?? '');
  return infoOfAccount(row);
}

const ofScope = (tx: SqlTransaction, walletId: WalletId, { purpose, coinType }: KeyScope) =>
  accountsOf(tx, walletId).where('s.wallet_id', '=', walletId).where('s.purpose', '=', purpose).where('s.coin_type', '=', coinType);

export async function listAccounts(tx: SqlTransaction, walletId: WalletId): Promise<AccountInfo[]> {
  return (await accountsOf(tx, walletId).orderBy('a.id').execute()).map(infoOfAccount);
}

/** Locks the wallet. */
export async function changeAccountName(tx: SqlTransaction, walletId: WalletId, account: AccountName, name: string): Promise<AccountInfo> {
  await lockWallet(tx, walletId);
  checkAccountName(name);
  const found = await accountNamed(tx, walletId, account);
  const other = await ofScope(tx, walletId, found.scope).where('a.account_name', '=', name).executeTakeFirst();
  if (other !== undefined && other.id !== found.id) throw refusal.accountExists(name);
  await tx.db.updateTable('accounts').set({ account_name: name }).where('id', '=', found.id).execute();
  return { ...found, name };
}
