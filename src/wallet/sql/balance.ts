/** What a wallet has, in one statement: the sums of its coins by what may be done with them. */
import { sql } from 'kysely';
import type { WalletBalance, WalletId } from '../records.ts';
import { COINBASE_MATURITY, checkDepths } from '../rules/confirmations.ts';
import type { CoinFilter } from '../store.ts';
import { syncedHeight } from './blocks.ts';
import { isOwnChange, isWanted } from './coins.ts';
import type { SqlTransaction } from './database.ts';
import { isEvictedTx } from './tx-reads.ts';

/** ACCOUNT_QUERY, INVALID_PARAM. */
export async function sumCoins(tx: SqlTransaction, walletId: WalletId, filter: CoinFilter): Promise<WalletBalance> {
  checkDepths(filter);
  const maturity = filter.coinbaseMaturity ?? COINBASE_MATURITY;
  const synced = await syncedHeight(tx, walletId);
  const matureHeight = synced === null ? -1 : synced - maturity + 1;
  const part = sql<string>`CASE
    WHEN t.is_coinbase = 1 AND ${maturity} > 0 AND t.block_height > ${matureHeight} THEN 'immature'
    WHEN t.block_height IS NOT NULL THEN 'confirmed'
    WHEN ${isOwnChange} = 1 THEN CASE WHEN ${isEvictedTx} THEN 'evicted' ELSE 'trusted' END
    ELSE 'untrusted' END`;
  const isLocked = sql<0 | 1>`CASE WHEN l.utxo_id IS NULL THEN 0 ELSE 1 END`;
  const rows = await tx.db
    .selectFrom('utxos as u')
    .innerJoin('transactions as t', 't.id', 'u.tx_id')
    .leftJoin('utxo_leases as l', (join) => join.onRef('l.utxo_id', '=', 'u.id').on('l.expires_at', '>', filter.now))
    .where('u.wallet_id', '=', walletId)
    .where(sql<boolean>`t.tx_status IN (0, 1)`)
    // Immature ones are part of the total.
    .where(isWanted({ ...filter, coinbaseMaturity: 0 }, synced))
    .select([part.as('part'), isLocked.as('is_locked'), sql<string>`CAST(SUM(u.amount) AS text)`.as('amount')])
    .groupBy(['part', 'is_locked'])
    .execute();
  const sum = (isMeant: (row: (typeof rows)[number]) => boolean): bigint =>
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
