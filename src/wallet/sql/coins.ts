/** What a wallet has to spend: coins, by filters and page by page, and the outputs that a block could still spend. */
import { type RawBuilder, sql } from 'kysely';
import type { Outpoint } from '../../ledgers/outpoint.ts';
import type { SqlKind } from '../../sql/database.ts';
import { amountText, listTable } from '../../sql/lists.ts';
import { WALLET_CACHED_COINS_PAGE } from '../../util/limits.ts';
import type { CoinLease, KeyScope, WalletCoin, WalletId } from '../records.ts';
import { checkCoinFilter } from '../rules/coins.ts';
import { refusal } from '../rules/failures.ts';
import { compareOutpoints } from '../rules/leases.ts';
import { isEvicted } from '../rules/status.ts';
import type { CoinFilter, CoinPlace, Page, WatchedOutput } from '../store.ts';
import type { SqlTransaction } from './database.ts';
import { fundedList, txRowOf } from './funded.ts';
import { checkPage } from './pages.ts';
import { checked32, checkedAmount, checkedIndex, checkedKind } from './row-checks.ts';
import { holdingOf } from './tx-outputs.ts';

/**
 * Behind the alias t: the inputs of the coin's transaction are known, and each is a credit of the wallet. A live transaction
 * holds an edge on every credit that it spends, and its inputs say so; the credits themselves are all over a table.
 */
export const isOwnChange = sql<0 | 1>`COALESCE((SELECT MIN(i.holds_edge) FROM tx_inputs i WHERE i.tx_id = t.id), 0)`;

/** The same. SQLite's index of inputs is without the flag: it counts inputs and edges in two indexes rather than read the rows. */
const IS_OWN_CHANGE: Readonly<Record<SqlKind, RawBuilder<0 | 1>>> = {
  sqlite: sql`CASE WHEN NULLIF((SELECT COUNT(*) FROM tx_inputs i WHERE i.tx_id = t.id), 0) =
    (SELECT COUNT(*) FROM utxos p WHERE p.spent_by_tx_id = t.id) THEN 1 ELSE 0 END`,
  postgres: isOwnChange,
};

/** Credits of live transactions. */
const creditsOf = ({ db }: SqlTransaction, walletId: WalletId) =>
  db
    .selectFrom('utxos as u')
    .innerJoin('transactions as t', 't.id', 'u.tx_id')
    .innerJoin('addresses as a', 'a.id', 'u.address_id')
    .where('u.wallet_id', '=', walletId)
    .where(sql<boolean>`t.tx_status IN (0, 1)`);

/** With the leases that are active then; null: with all that are stored. */
const coinQuery = (tx: SqlTransaction, walletId: WalletId, now: number | null) =>
  creditsOf(tx, walletId)
    .leftJoin('derived_addresses as d', 'd.address_id', 'a.id')
    .leftJoin('accounts as c', 'c.id', 'd.account_id')
    .leftJoin('key_scopes as k', 'k.id', 'c.scope_id')
    .leftJoin('utxo_leases as l', (join) => join.onRef('l.utxo_id', '=', 'u.id').on('l.expires_at', '>', now ?? 0))
    .select([
      'u.id',
      'u.tx_hash',
      'u.output_index',
      'u.script_pub_key',
      'a.script_pub_key as address_script',
      'a.script_type_id',
      'u.output_holding',
    ])
    .select([
      't.mempool_seen_at',
      't.mempool_evicted_at',
      't.received_time',
      't.is_coinbase',
      't.block_height',
      'l.lock_id',
      'l.expires_at',
      'l.release_confs',
    ])
    .select(['c.id as account_id', 'c.account_number', 'c.account_name', 'k.purpose', 'k.coin_type'])
    .select([amountText('u.amount').as('amount'), IS_OWN_CHANGE[tx.kind].as('is_own_change')]);

type CoinColumns = Awaited<ReturnType<ReturnType<typeof coinQuery>['executeTakeFirstOrThrow']>>;

function coinOf(row: CoinColumns): WalletCoin {
  const name = { table: 'utxos', id: row.id };
  return {
    outpoint: { txId: checked32(name, 'tx_hash', row.tx_hash), index: checkedIndex(name, 'output_index', row.output_index) },
    amount: checkedAmount(name, row.amount),
    script: row.script_pub_key ?? row.address_script,
    kind: checkedKind(name, row.script_type_id),
    ...holdingOf(row.output_holding ?? new Uint8Array(0)),
    account: accountOf(row),
    received: row.received_time,
    isCoinbase: row.is_coinbase === 1,
    height: row.block_height,
    isOwnChange: row.is_own_change === 1,
    isEvicted: row.block_height === null && isEvicted({ mempool: { seenAt: row.mempool_seen_at, evictedAt: row.mempool_evicted_at } }),
    lease: leaseOf(row),
  };
}

function accountOf({
  account_id: id,
  account_number: number,
  account_name: name,
  purpose,
  coin_type: coinType,
}: CoinColumns): WalletCoin['account'] {
  if (id === null || name === null || purpose === null || coinType === null) return null;
  return { id, scope: { purpose, coinType }, number, name };
}

function leaseOf({ id, lock_id, expires_at: expiresAt, release_confs: releaseAfterSpendConfs }: CoinColumns): CoinLease | null {
  if (lock_id === null || expiresAt === null) return null;
  return { id: checked32({ table: 'utxo_leases', id }, 'lock_id', lock_id), expiresAt, releaseAfterSpendConfs };
}

/** UTXO_UNKNOWN. */
export async function coinAt(tx: SqlTransaction, walletId: WalletId, outpoint: Outpoint, now: number): Promise<WalletCoin> {
  const row = await coinQuery(tx, walletId, now)
    .where('u.tx_id', '=', (eb) =>
      eb.selectFrom('transactions as f').select('f.id').where('f.wallet_id', '=', walletId).where('f.tx_hash', '=', outpoint.txId),
    )
    .where('u.output_index', '=', outpoint.index)
    .where('u.spent_by_tx_id', 'is', null)
    .executeTakeFirst();
  if (row === undefined) throw refusal.coinUnknown(outpoint);
  return coinOf(row);
}

/** One statement. ACCOUNT_QUERY, INVALID_PARAM. */
export async function listCoins(tx: SqlTransaction, walletId: WalletId, filter: CoinFilter, page?: Page<CoinPlace>): Promise<WalletCoin[]> {
  checkPage(page);
  const tip = sql<number | null>`(SELECT s.synced_height FROM wallet_sync_states s WHERE s.wallet_id = ${walletId})`;
  let query = inOrder(behind(coinQuery(tx, walletId, filter.now).where(isWanted(filter, tip)), page?.after));
  if (page !== undefined) query = query.limit(page.limit);
  return (await query.execute()).map(coinOf);
}

/** All of the wallet, with their stored leases, in their order, some thousands at a time. */
export async function* unspentCoins(tx: SqlTransaction, walletId: WalletId): AsyncIterable<readonly WalletCoin[]> {
  let last: WalletCoin | undefined;
  for (;;) {
    const query = coinQuery(tx, walletId, null).where('u.spent_by_tx_id', 'is', null);
    const rows = await inOrder(behind(query, last)).limit(WALLET_CACHED_COINS_PAGE).execute();
    const coins = rows.map(coinOf);
    yield coins;
    last = coins.at(-1);
    if (rows.length < WALLET_CACHED_COINS_PAGE) return;
  }
}

/** Credits of the transactions and at the outpoints: the keys of all of them, and those that are coins now. */
export async function coinsAgain(
  tx: SqlTransaction,
  walletId: WalletId,
  txIds: readonly Uint8Array[],
  outpoints: readonly Outpoint[],
): Promise<{ readonly keys: readonly CoinPlace[]; readonly coins: readonly WalletCoin[] }> {
  const of = listTable(
    tx.kind,
    { hash: 'bytes' },
    txIds.map((txId) => [txId]),
  );
  const at = fundedList(tx, walletId, outpoints);
  const columns = sql`c.id, c.tx_hash, c.output_index, ${amountText('c.amount')} AS amount, c.spent_by_tx_id`;
  const { rows } = await sql<CreditKey>`
    SELECT ${columns} FROM ${of} v CROSS JOIN utxos c WHERE c.tx_id = ${txRowOf(walletId, 'v.hash')}
    UNION SELECT ${columns} FROM ${at} v CROSS JOIN utxos c WHERE c.tx_id = v.tx_id AND c.output_index = v.place`.execute(tx.db);
  const unspent = listTable(
    tx.kind,
    { row_id: 'integer' },
    rows.filter((row) => row.spent_by_tx_id === null).map(({ id }) => [id]),
  );
  const query = coinQuery(tx, walletId, null).where('u.id', 'in', sql<number>`(SELECT row_id FROM ${unspent} AS v)`);
  return {
    keys: rows.map((row) => ({ amount: BigInt(row.amount), outpoint: { txId: row.tx_hash, index: row.output_index } })),
    coins: (await inOrder(query).execute()).map(coinOf),
  };
}

interface CreditKey {
  readonly id: number;
  readonly tx_hash: Uint8Array;
  readonly output_index: number;
  readonly amount: string;
  readonly spent_by_tx_id: number | null;
}

/** Only coins that come after that one. */
function behind(query: ReturnType<typeof coinQuery>, key: CoinPlace | undefined): ReturnType<typeof coinQuery> {
  if (key === undefined) return query;
  const { amount, outpoint } = key;
  return query.where(sql<boolean>`(u.amount, u.tx_hash, u.output_index) > (${amount}, ${outpoint.txId}, ${outpoint.index})`);
}

const inOrder = (query: ReturnType<typeof coinQuery>): ReturnType<typeof coinQuery> =>
  query.orderBy('u.amount').orderBy('u.tx_hash').orderBy('u.output_index');

/**
 * Behind the aliases u and t: unspent, and let through by the filter. `tip`: the height of the wallet's; unknown
 * confirmations pass no bound. ACCOUNT_QUERY, INVALID_PARAM.
 */
export function isWanted(filter: CoinFilter, tip: RawBuilder<number | null>): RawBuilder<boolean> {
  checkCoinFilter(filter);
  const { minConfs = 0, maxConfs, coinbaseMaturity = 0 } = filter;
  // The height of a block with so many confirmations; without a tip no block has any.
  const heightOf = (confs: number): RawBuilder<number> => sql<number>`COALESCE(${tip} - ${confs} + 1, -1)`;
  const conditions = [sql`u.spent_by_tx_id IS NULL`];
  if (minConfs > 0) conditions.push(sql`t.block_height <= ${heightOf(minConfs)}`);
  if (maxConfs !== undefined) {
    conditions.push(sql`(t.block_height IS NULL OR (t.block_height <= ${heightOf(1)} AND t.block_height >= ${heightOf(maxConfs)}))`);
  }
  if (coinbaseMaturity > 0) conditions.push(sql`(t.is_coinbase = 0 OR t.block_height <= ${heightOf(coinbaseMaturity)})`);
  if (filter.scope !== undefined) conditions.push(isOfAccount(filter.scope, filter));
  return sql<boolean>`(${sql.join(conditions, sql` AND `)})`;
}

function isOfAccount({ purpose, coinType }: KeyScope, { account, accountName }: CoinFilter): RawBuilder<unknown> {
  const number = account === undefined ? sql`` : sql`AND ac.account_number = ${account}`;
  const name = accountName === undefined ? sql`` : sql`AND ac.account_name = ${accountName}`;
  return sql`EXISTS (SELECT 1 FROM derived_addresses ad JOIN accounts ac ON ac.id = ad.account_id JOIN key_scopes ak ON ak.id = ac.scope_id
    WHERE ad.address_id = u.address_id AND ak.purpose = ${purpose} AND ak.coin_type = ${coinType} ${number} ${name})`;
}

/** Active leases: of coins that are unspent, or that outlive the spend. */
export async function listLeased(tx: SqlTransaction, walletId: WalletId, now: number): Promise<WalletCoin[]> {
  const rows = await coinQuery(tx, walletId, now)
    .where('u.id', 'in', (eb) =>
      eb.selectFrom('utxo_leases').select('utxo_id').where('wallet_id', '=', walletId).where('expires_at', '>', now),
    )
    .where((eb) => eb.or([eb('u.spent_by_tx_id', 'is', null), eb('l.release_confs', 'is not', null)]))
    .execute();
  return rows.map(coinOf).sort((a, b) => compareOutpoints(a.outpoint, b.outpoint));
}

/** Credits of live transactions that no block spends, with the script of the output itself. */
export async function listWatched(tx: SqlTransaction, walletId: WalletId): Promise<WatchedOutput[]> {
  const watched = creditsOf(tx, walletId).select([
    'u.id',
    'u.tx_hash',
    'u.output_index',
    'u.script_pub_key',
    'a.script_pub_key as address_script',
    amountText('u.amount').as('amount'),
  ]);
  const spentUnmined = sql<boolean>`u.spent_by_tx_id IN (
    SELECT s.id FROM transactions s WHERE s.wallet_id = ${walletId} AND s.block_height IS NULL AND s.tx_status IN (0, 1))`;
  const unspent = await watched.where('u.spent_by_tx_id', 'is', null).execute();
  const rows = [...unspent, ...(await watched.where(spentUnmined).execute())];
  return rows
    .map((row) => {
      const name = { table: 'utxos', id: row.id };
      return {
        outpoint: { txId: checked32(name, 'tx_hash', row.tx_hash), index: checkedIndex(name, 'output_index', row.output_index) },
        amount: checkedAmount(name, row.amount),
        script: row.script_pub_key ?? row.address_script,
      };
    })
    .sort((a, b) => compareOutpoints(a.outpoint, b.outpoint));
}
