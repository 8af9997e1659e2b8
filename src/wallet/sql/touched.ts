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

/** Wallets that have a coin there, and those that have another input there. An input that holds an edge has its coin there. */
async function spendersOf(tx: SqlTransaction, outpoints: readonly Outpoint[]): Promise<Map<string, WalletId[]>> {
  const list = listTable(
    tx.kind,
    { hash: 'bytes', place: 'integer' },
    outpoints.map(({ txId, index }) => [txId, index]),
  );
  const { rows } = await sql<{ hash: Uint8Array; place: number; wallet_id: number }>`
    SELECT v.hash, v.place, u.wallet_id FROM ${list} AS v CROSS JOIN transactions p CROSS JOIN utxos u
      WHERE p.tx_hash = v.hash AND u.tx_id = p.id AND u.output_index = v.place
    UNION SELECT v.hash, v.place, i.wallet_id FROM ${list} AS v CROSS JOIN tx_inputs i
      WHERE i.prev_tx_hash = v.hash AND i.prev_output_index = v.place AND i.holds_edge = 0
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
