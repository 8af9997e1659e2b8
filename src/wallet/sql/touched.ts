/** Which wallets of the database a block concerns: whose scripts it pays, whose coins or inputs it spends. */
import { sql } from 'kysely';
import { type Outpoint, outpointText } from '../../ledgers/outpoint.ts';
import { listTable } from '../../sql/lists.ts';
import { toHex } from '../../util/bytes.ts';
import type { WalletId } from '../records.ts';
import type { TouchedWallets } from '../store.ts';
import type { SqlTransaction } from './database.ts';
import { readWatchVersion } from './watched.ts';

export async function readTouched(
  tx: SqlTransaction,
  scripts: readonly Uint8Array[],
  outpoints: readonly Outpoint[],
): Promise<TouchedWallets> {
  return {
    watchVersion: await readWatchVersion(tx),
    owners: await ownersOfScripts(tx, scripts),
    spenders: await spendersOf(tx, outpoints),
  };
}

async function ownersOfScripts(tx: SqlTransaction, scripts: readonly Uint8Array[]): Promise<Map<string, WalletId[]>> {
  const list = listTable(
    tx.kind,
    { script: 'bytes' },
    scripts.map((script) => [script]),
  );
  const rows = await tx.db
    .selectFrom(list.as('v'))
    .crossJoin('addresses as a')
    .whereRef('a.script_pub_key', '=', 'v.script')
    .select(['a.script_pub_key', 'a.wallet_id'])
    .orderBy('a.wallet_id')
    .execute();
  return walletsBy(rows.map((row) => [toHex(row.script_pub_key), row.wallet_id]));
}

async function spendersOf(tx: SqlTransaction, outpoints: readonly Outpoint[]): Promise<Map<string, WalletId[]>> {
  const list = listTable(
    tx.kind,
    { hash: 'bytes', place: 'integer' },
    outpoints.map(({ txId, index }) => [txId, index]),
  );
  const { rows } = await sql<{ hash: Uint8Array; place: number; wallet_id: number }>`
    SELECT u.tx_hash AS hash, u.output_index AS place, u.wallet_id FROM ${list} AS v CROSS JOIN utxos u
      WHERE u.tx_hash = v.hash AND u.output_index = v.place
    UNION SELECT i.prev_tx_hash, i.prev_output_index, i.wallet_id FROM ${list} AS v CROSS JOIN tx_inputs i
      WHERE i.prev_tx_hash = v.hash AND i.prev_output_index = v.place
    ORDER BY 3`.execute(tx.db);
  return walletsBy(rows.map((row) => [outpointText({ txId: row.hash, index: row.place }), row.wallet_id]));
}

function walletsBy(pairs: readonly (readonly [key: string, walletId: WalletId])[]): Map<string, WalletId[]> {
  const wallets = new Map<string, WalletId[]>();
  for (const [key, walletId] of pairs) {
    const others = wallets.get(key);
    if (others === undefined) wallets.set(key, [walletId]);
    else if (!others.includes(walletId)) others.push(walletId);
  }
  return wallets;
}
