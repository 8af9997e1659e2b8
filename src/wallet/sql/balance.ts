/**
 * What a wallet has: the sums of its coins by what may be done with them. Where
 * the question is for the whole wallet, only coins that are unmined, immature or
 * leased are looked at, and the rest is what the database knows to be the sum of
 * all (schema-totals.ts). A question for an account or for depths sums coins.
 */
import { type RawBuilder, sql } from 'kysely';
import { WALLET_HEIGHT_MAX } from '../../util/limits.ts';
import type { WalletBalance, WalletId } from '../records.ts';
import { checkCoinFilter, isOpenFilter } from '../rules/coins.ts';
import { COINBASE_MATURITY } from '../rules/confirmations.ts';
import type { CoinFilter } from '../store.ts';
import { syncedHeight } from './blocks.ts';
import { isOwnChange, isWanted } from './coins.ts';
import type { SqlTransaction } from './database.ts';
import { isEvictedTx } from './tx-reads.ts';

interface CoinSum {
  readonly part: 'confirmed' | 'immature' | 'trusted' | 'untrusted' | 'evicted';
  readonly is_locked: 0 | 1;
  readonly amount: string;
}

/** ACCOUNT_QUERY, INVALID_PARAM. */
export async function sumCoins(tx: SqlTransaction, walletId: WalletId, filter: CoinFilter): Promise<WalletBalance> {
  checkCoinFilter(filter);
  const synced = await syncedHeight(tx, walletId);
  return isOpenFilter(filter) ? wholeBalance(tx, walletId, filter, synced) : filteredBalance(tx, walletId, filter, synced);
}

/** The height up to which a coinbase is mature. */
function matureHeight({ coinbaseMaturity: maturity = COINBASE_MATURITY }: CoinFilter, synced: number | null): number {
  if (maturity === 0) return WALLET_HEIGHT_MAX;
  return synced === null ? -1 : synced - maturity + 1;
}

/** Of an unmined coin, behind the aliases u and t. */
const UNMINED_PART = sql`CASE WHEN ${isOwnChange} = 0 THEN 'untrusted' WHEN ${isEvictedTx} THEN 'evicted' ELSE 'trusted' END`;
const IS_LOCKED = sql`CASE WHEN l.utxo_id IS NULL THEN 0 ELSE 1 END`;
const activeLease = (now: number): RawBuilder<unknown> => sql`LEFT JOIN utxo_leases l ON l.utxo_id = u.id AND l.expires_at > ${now}`;

async function wholeBalance(tx: SqlTransaction, walletId: WalletId, filter: CoinFilter, synced: number | null): Promise<WalletBalance> {
  const { now } = filter;
  const mature = matureHeight(filter, synced);
  const unspentOf = sql`u.tx_id = t.id AND u.spent_by_tx_id IS NULL`;
  const { rows } = await sql<CoinSum>`SELECT part, is_locked, CAST(SUM(amount) AS text) AS amount FROM (
      SELECT ${UNMINED_PART} AS part, ${IS_LOCKED} AS is_locked, u.amount FROM transactions t CROSS JOIN utxos u ${activeLease(now)}
        WHERE t.wallet_id = ${walletId} AND t.block_height IS NULL AND t.tx_status IN (0, 1) AND ${unspentOf}
      UNION ALL SELECT 'immature', ${IS_LOCKED}, u.amount FROM transactions t CROSS JOIN utxos u ${activeLease(now)}
        WHERE t.wallet_id = ${walletId} AND t.is_coinbase = 1 AND t.block_height > ${mature} AND ${unspentOf}
      UNION ALL SELECT 'confirmed', 1, u.amount FROM utxo_leases l CROSS JOIN utxos u CROSS JOIN transactions t
        WHERE l.wallet_id = ${walletId} AND l.expires_at > ${now} AND u.id = l.utxo_id AND u.spent_by_tx_id IS NULL
          AND t.id = u.tx_id AND t.block_height IS NOT NULL AND (t.is_coinbase = 0 OR t.block_height <= ${mature})
    ) r GROUP BY part, is_locked`.execute(tx.db);
  const { total } = await tx.db
    .selectFrom('wallet_totals')
    .select(sql<string>`CAST(unspent_amount AS text)`.as('total'))
    .where('wallet_id', '=', walletId)
    .executeTakeFirstOrThrow();
  const others = rows.reduce((rest, { amount }) => rest - BigInt(amount), BigInt(total));
  return balanceOf([...rows, { part: 'confirmed', is_locked: 0, amount: `${others}` }]);
}

async function filteredBalance(tx: SqlTransaction, walletId: WalletId, filter: CoinFilter, synced: number | null): Promise<WalletBalance> {
  const part = sql<CoinSum['part']>`CASE
    WHEN t.is_coinbase = 1 AND t.block_height > ${matureHeight(filter, synced)} THEN 'immature'
    WHEN t.block_height IS NOT NULL THEN 'confirmed'
    ELSE ${UNMINED_PART} END`;
  const { rows } = await sql<CoinSum>`SELECT ${part} AS part, ${IS_LOCKED} AS is_locked, CAST(SUM(u.amount) AS text) AS amount
    FROM utxos u JOIN transactions t ON t.id = u.tx_id ${activeLease(filter.now)}
    WHERE u.wallet_id = ${walletId} AND t.tx_status IN (0, 1) AND ${isWanted({ ...filter, coinbaseMaturity: 0 }, sql<number | null>`CAST(${synced} AS bigint)`)}
    GROUP BY 1, 2`.execute(tx.db);
  return balanceOf(rows);
}

function balanceOf(rows: readonly CoinSum[]): WalletBalance {
  const sum = (isMeant: (row: CoinSum) => boolean): bigint =>
    rows.reduce((total, row) => (isMeant(row) ? total + BigInt(row.amount) : total), 0n);
  return {
    total: sum(() => true),
    locked: sum((row) => row.is_locked === 1),
    confirmed: sum((row) => row.part === 'confirmed'),
    trustedPending: sum((row) => row.part === 'trusted' || row.part === 'evicted'),
    untrustedPending: sum((row) => row.part === 'untrusted'),
    immature: sum((row) => row.part === 'immature'),
    spendable: sum((row) => row.is_locked === 0 && (row.part === 'confirmed' || row.part === 'trusted')),
  };
}
