/** Addresses: derived ones with their place below an account, and imported ones. Whether one was used is asked of the credits. */
import { sql } from 'kysely';
import { hasRows, listTable } from '../../sql/lists.ts';
import { toHex } from '../../util/bytes.ts';
import { CHILD_INDEX_MAX } from '../../util/limits.ts';
import { type AccountId, type AddressBranch, type AddressInfo, SCRIPT_KINDS, type WalletId } from '../records.ts';
import { refusal } from '../rules/failures.ts';
import type { DeriveAddress, NewAddress, Page } from '../store.ts';
import { accountById } from './accounts.ts';
import type { SqlTransaction } from './database.ts';
import { lockWallet } from './locks.ts';
import { checkPage } from './pages.ts';
import { checkedIndex, checkedKind } from './row-checks.ts';

/** An address with the id of its row. */
interface StoredAddress extends AddressInfo {
  readonly rowId: number;
}

const addressColumns = [
  'a.id',
  'a.script_pub_key',
  'a.script_type_id',
  'a.pub_key',
  'a.created_at',
  'd.account_id',
  'd.address_branch',
  'd.address_index',
] as const;

/** Behind an alias `a` of addresses. */
const isUsed = hasRows(sql`utxos u WHERE u.address_id = a.id`);

const addressQuery = ({ db }: SqlTransaction, walletId: WalletId) =>
  db
    .selectFrom('addresses as a')
    .leftJoin('derived_addresses as d', 'd.address_id', 'a.id')
    .where('a.wallet_id', '=', walletId)
    .select(addressColumns)
    .select(isUsed.as('is_used'));

type AddressColumns = Awaited<ReturnType<ReturnType<typeof addressQuery>['executeTakeFirstOrThrow']>>;

function storedOf(row: AddressColumns): StoredAddress {
  const { account_id: accountId, address_branch: branch, address_index: index } = row;
  const name = { table: 'addresses', id: row.id };
  return {
    rowId: row.id,
    script: row.script_pub_key,
    kind: checkedKind(name, row.script_type_id),
    publicKey: row.pub_key,
    derivation:
      accountId === null || branch === null || index === null
        ? null
        : { accountId, branch, index: checkedIndex(name, 'address_index', index) },
    isUsed: row.is_used === 1,
    createdAt: row.created_at,
  };
}

function infoOf({ rowId: _, ...info }: StoredAddress): AddressInfo {
  return info;
}

async function findAddresses(tx: SqlTransaction, walletId: WalletId, scripts: readonly Uint8Array[]): Promise<Map<string, StoredAddress>> {
  if (scripts.length === 0) return new Map();
  const texts = new Set(scripts.map((script) => toHex(script)));
  const list = listTable(
    tx.kind,
    { script: 'bytes' },
    [...texts].map((text) => [text]),
  );
  const rows = await tx.db
    .selectFrom(list.as('v'))
    .crossJoin('addresses as a')
    .leftJoin('derived_addresses as d', 'd.address_id', 'a.id')
    .where('a.wallet_id', '=', walletId)
    .whereRef('a.script_pub_key', '=', 'v.script')
    .select(addressColumns)
    .select(isUsed.as('is_used'))
    .execute();
  return new Map(rows.map((row) => [toHex(row.script_pub_key), storedOf(row)]));
}

/** By script in hex, in the order they were made. */
export async function resolveOwned(
  tx: SqlTransaction,
  walletId: WalletId,
  scripts: readonly Uint8Array[],
): Promise<Map<string, AddressInfo>> {
  const found = [...(await findAddresses(tx, walletId, scripts))].sort(([, a], [, b]) => a.rowId - b.rowId);
  return new Map(found.map(([script, address]) => [script, infoOf(address)]));
}

/** ADDRESS_UNKNOWN. */
export async function addressOf(tx: SqlTransaction, walletId: WalletId, script: Uint8Array): Promise<AddressInfo> {
  const row = await addressQuery(tx, walletId).where('a.script_pub_key', '=', script).executeTakeFirst();
  if (row === undefined) throw refusal.addressUnknown(script);
  return infoOf(storedOf(row));
}

export async function listAddresses(tx: SqlTransaction, walletId: WalletId, page?: Page<Uint8Array>): Promise<AddressInfo[]> {
  checkPage(page);
  let query = addressQuery(tx, walletId).orderBy('a.id');
  if (page !== undefined) query = query.limit(page.limit);
  if (page?.after !== undefined) {
    const after = (await findAddresses(tx, walletId, [page.after])).get(toHex(page.after));
    if (after === undefined) throw refusal.addressUnknown(page.after);
    query = query.where('a.id', '>', after.rowId);
  }
  return (await query.execute()).map((row) => infoOf(storedOf(row)));
}

/** Locks the wallet. The same address again is no change. */
export async function insertImported(tx: SqlTransaction, walletId: WalletId, address: NewAddress, now: number): Promise<AddressInfo> {
  await lockWallet(tx, walletId);
  const stored = (await findAddresses(tx, walletId, [address.script])).get(toHex(address.script));
  if (stored === undefined) await insertAddress(tx, walletId, address, 0, now);
  return addressOf(tx, walletId, address.script);
}

interface NextAddress {
  readonly accountId: AccountId;
  readonly branch: AddressBranch;
  readonly derive: DeriveAddress;
  readonly now: number;
  /** Undefined: nobody says. */
  readonly isChange?: boolean | undefined;
}

/** Locks the wallet. Takes the next index that has an address. ACCOUNT_UNKNOWN, ADDRESS_INDEX_MAX. */
export async function insertNext(
  tx: SqlTransaction,
  walletId: WalletId,
  { accountId, branch, derive, now, isChange }: NextAddress,
): Promise<AddressInfo> {
  await lockWallet(tx, walletId);
  const account = await accountById(tx, walletId, accountId);
  for (let index = branch === 0 ? account.nextExternalIndex : account.nextInternalIndex; ; index++) {
    if (index > CHILD_INDEX_MAX) throw refusal.addressIndexMax(index);
    const address = derive(branch, index);
    if (address === null) continue;
    await insertDerived(tx, walletId, { accountId, branch, now }, [{ index, address }]);
    await setNextIndex(tx, accountId, branch, index + 1);
    if (isChange !== undefined) await setGiven(tx, walletId, address.script, isChange);
    return addressOf(tx, walletId, address.script);
  }
}

async function setGiven(tx: SqlTransaction, walletId: WalletId, script: Uint8Array, isChange: boolean): Promise<void> {
  await tx.db
    .insertInto('given_addresses')
    .columns(['address_id', 'wallet_id', 'is_change'])
    .expression((eb) =>
      eb
        .selectFrom('addresses as a')
        .where('a.wallet_id', '=', walletId)
        .where('a.script_pub_key', '=', script)
        .select(['a.id', 'a.wallet_id', eb.lit(isChange ? 1 : 0).as('is_change')]),
    )
    .execute();
}

/** By script in hex. */
export async function givenForChange(
  tx: SqlTransaction,
  walletId: WalletId,
  scripts: readonly Uint8Array[],
): Promise<Map<string, boolean>> {
  const list = listTable(
    tx.kind,
    { script: 'bytes' },
    scripts.map((script) => [script]),
  );
  const rows = await tx.db
    .selectFrom(list.as('v'))
    .crossJoin('addresses as a')
    .crossJoin('given_addresses as g')
    .where('a.wallet_id', '=', walletId)
    .whereRef('a.script_pub_key', '=', 'v.script')
    .whereRef('g.address_id', '=', 'a.id')
    .select(['a.script_pub_key', 'g.is_change'])
    .execute();
  return new Map(rows.map((row) => [toHex(row.script_pub_key), row.is_change === 1]));
}

/** Every address up to the index, if the account is not past it. The wallet is locked. */
export async function insertUpTo(
  tx: SqlTransaction,
  walletId: WalletId,
  horizon: { readonly accountId: AccountId; readonly branch: AddressBranch; readonly index: number; readonly derive: DeriveAddress },
  now: number,
): Promise<void> {
  const { accountId, branch, index: last, derive } = horizon;
  const account = await accountById(tx, walletId, accountId);
  if (branch !== 0 && branch !== 1) throw refusal.invalid(`an account has no branch ${branch}`);
  if (last > CHILD_INDEX_MAX) throw refusal.addressIndexMax(last);
  const first = branch === 0 ? account.nextExternalIndex : account.nextInternalIndex;
  const found: { index: number; address: NewAddress }[] = [];
  for (let index = first; index <= last; index++) {
    const address = derive(branch, index);
    if (address !== null) found.push({ index, address });
  }
  await insertDerived(tx, walletId, { accountId, branch, now }, found);
  if (last >= first) await setNextIndex(tx, accountId, branch, last + 1);
}

async function setNextIndex(tx: SqlTransaction, accountId: AccountId, branch: AddressBranch, index: number): Promise<void> {
  const change = branch === 0 ? { next_external_index: index } : { next_internal_index: index };
  await tx.db.updateTable('accounts').set(change).where('id', '=', accountId).execute();
}

/** One that was imported by itself becomes one of the account. INVALID_PARAM: it is another account's. */
async function insertDerived(
  tx: SqlTransaction,
  walletId: WalletId,
  { accountId, branch, now }: { readonly accountId: AccountId; readonly branch: AddressBranch; readonly now: number },
  found: readonly { readonly index: number; readonly address: NewAddress }[],
): Promise<void> {
  const stored = await findAddresses(
    tx,
    walletId,
    found.map(({ address }) => address.script),
  );
  for (const { index, address } of found) {
    if (address.script.length === 0) throw refusal.scriptMissing();
    const known = stored.get(toHex(address.script));
    if (known !== undefined && known.derivation !== null) throw refusal.addressTaken(address.script);
    if (known !== undefined) await tx.db.updateTable('addresses').set({ is_derived: 1 }).where('id', '=', known.rowId).execute();
    const rowId = known?.rowId ?? (await insertAddress(tx, walletId, address, 1, now));
    await tx.db
      .insertInto('derived_addresses')
      .values({ address_id: rowId, wallet_id: walletId, account_id: accountId, address_branch: branch, address_index: index })
      .execute();
  }
}

async function insertAddress(
  tx: SqlTransaction,
  walletId: WalletId,
  { script, kind, publicKey }: NewAddress,
  derived: 0 | 1,
  now: number,
): Promise<number> {
  if (script.length === 0) throw refusal.scriptMissing();
  const { id } = await tx.db
    .insertInto('addresses')
    .values({
      wallet_id: walletId,
      is_derived: derived,
      script_pub_key: script,
      script_type_id: SCRIPT_KINDS.indexOf(kind),
      pub_key: publicKey ?? null,
      created_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}
