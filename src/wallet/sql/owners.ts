/** The addresses that a batch of transactions may pay, with one statement. */

import { listTable } from '../../sql/lists.ts';
import { toHex } from '../../util/bytes.ts';
import type { WalletId } from '../records.ts';
import { type OutputOwner, ownerScripts } from '../rules/ownership.ts';
import type { NewTx } from '../store.ts';
import type { SqlTransaction } from './database.ts';

export interface OwnerRow extends OutputOwner {
  readonly rowId: number;
}

/** By script, in hex. */
export async function loadOwners(tx: SqlTransaction, walletId: WalletId, news: readonly NewTx[]): Promise<Map<string, OwnerRow>> {
  const scripts = new Set(news.flatMap((one) => ownerScripts(one).map((script) => toHex(script))));
  if (scripts.size === 0) return new Map();
  const list = listTable(
    tx.kind,
    { script: 'bytes' },
    [...scripts].map((script) => [script]),
  );
  const rows = await tx.db
    .selectFrom(list.as('v'))
    .crossJoin('addresses as a')
    .where('a.wallet_id', '=', walletId)
    .whereRef('a.script_pub_key', '=', 'v.script')
    .select(['a.id', 'a.script_pub_key', 'a.pub_key'])
    .execute();
  return new Map(rows.map((row) => [toHex(row.script_pub_key), { rowId: row.id, script: row.script_pub_key, publicKey: row.pub_key }]));
}
