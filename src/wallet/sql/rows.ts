/** All rows of the database, as one value (wallet/rows.ts): what tests compare with the model. */
import { sql } from 'kysely';
import { amountText } from '../../sql/lists.ts';
import { toHex } from '../../util/bytes.ts';
import type { WalletId } from '../records.ts';
import { labelRow, type RowsOfWallet, type WalletRows } from '../rows.ts';
import type { SqlTransaction } from './database.ts';
import { listLabels } from './labels.ts';
import { checkedKind, checkedStatus } from './row-checks.ts';

export async function allRows(tx: SqlTransaction): Promise<WalletRows> {
  const blocks = await tx.db.selectFrom('blocks').selectAll().orderBy('block_height').execute();
  const feeds = await tx.db.selectFrom('feed_positions').selectAll().execute();
  const wallets = await tx.db
    .selectFrom('wallets as w')
    .innerJoin('wallet_sync_states as s', 's.wallet_id', 'w.id')
    .select(['w.id', 'w.wallet_name', 'w.is_watch_only', 's.synced_height', 's.birthday_height', 's.birthday_timestamp'])
    .orderBy('w.id')
    .execute();
  const all: RowsOfWallet[] = [];
  for (const wallet of wallets) {
    const { txs, inputs, replacements } = await txRows(tx, wallet.id);
    const { credits, leases } = await coinRows(tx, wallet.id);
    all.push({
      name: wallet.wallet_name,
      isWatchOnly: wallet.is_watch_only === 1,
      syncedHeight: wallet.synced_height,
      birthdayHeight: wallet.birthday_height,
      birthday: wallet.birthday_timestamp,
      ...(await keyRows(tx, wallet.id)),
      txs,
      credits,
      inputs,
      replacements,
      leases,
      labels: (await listLabels(tx, wallet.id)).map(labelRow),
    });
  }
  return {
    blocks: blocks.map((row) => ({ height: row.block_height, hash: toHex(row.header_hash), timestamp: row.block_timestamp })),
    feeds: feeds.map((row) => ({ feed: row.feed, position: row.feed_position })).sort((a, b) => (a.feed < b.feed ? -1 : 1)),
    wallets: all,
  };
}

async function keyRows({ db }: SqlTransaction, walletId: WalletId): Promise<Pick<RowsOfWallet, 'accounts' | 'addresses'>> {
  const accounts = await db
    .selectFrom('accounts as a')
    .innerJoin('key_scopes as k', 'k.id', 'a.scope_id')
    .where('a.wallet_id', '=', walletId)
    .select(['a.id', 'k.purpose', 'k.coin_type', 'a.account_name', 'a.account_number', 'a.next_external_index', 'a.next_internal_index'])
    .orderBy('a.id')
    .execute();
  const names = new Map(accounts.map((row) => [row.id, `${row.purpose}/${row.coin_type}/${row.account_name}`]));
  const addresses = await db
    .selectFrom('addresses as a')
    .leftJoin('derived_addresses as d', 'd.address_id', 'a.id')
    .where('a.wallet_id', '=', walletId)
    .select(['a.id', 'a.script_pub_key', 'a.script_type_id', 'd.account_id', 'd.address_branch', 'd.address_index'])
    .orderBy('a.id')
    .execute();
  return {
    accounts: accounts.map((row) => ({
      scope: `${row.purpose}/${row.coin_type}`,
      name: row.account_name,
      number: row.account_number,
      nextExternalIndex: row.next_external_index,
      nextInternalIndex: row.next_internal_index,
    })),
    addresses: addresses.map((row) => ({
      script: toHex(row.script_pub_key),
      kind: checkedKind({ table: 'addresses', id: row.id }, row.script_type_id),
      account: row.account_id === null ? null : (names.get(row.account_id) ?? null),
      branch: row.address_branch,
      index: row.address_index,
    })),
  };
}

async function txRows({ db }: SqlTransaction, walletId: WalletId): Promise<Pick<RowsOfWallet, 'txs' | 'inputs' | 'replacements'>> {
  const txs = await db
    .selectFrom('transactions')
    .select(['id', 'tx_hash', 'tx_status', 'block_height', 'confirmed_order', 'received_time', 'is_coinbase', 'tx_label'])
    .select(['mempool_seen_at', 'mempool_evicted_at'])
    .where('wallet_id', '=', walletId)
    .orderBy('id')
    .execute();
  const names = new Map(txs.map((row) => [row.id, toHex(row.tx_hash)]));
  const nameOf = (id: number): string => names.get(id) ?? '';
  const inputs = await db
    .selectFrom('tx_inputs')
    .selectAll()
    .where('wallet_id', '=', walletId)
    .orderBy('tx_id')
    .orderBy('input_index')
    .execute();
  const edges = await db.selectFrom('tx_replacements').selectAll().where('wallet_id', '=', walletId).orderBy('id').execute();
  return {
    txs: txs.map((row) => ({
      txId: toHex(row.tx_hash),
      status: checkedStatus({ table: 'transactions', id: row.id }, row.tx_status),
      height: row.block_height,
      confirmedOrder: row.confirmed_order,
      received: row.received_time,
      isCoinbase: row.is_coinbase === 1,
      label: row.tx_label,
      seenAt: row.mempool_seen_at,
      evictedAt: row.mempool_evicted_at,
    })),
    inputs: inputs.map((row) => ({
      txId: nameOf(row.tx_id),
      input: row.input_index,
      prevTxId: toHex(row.prev_tx_hash),
      prevIndex: row.prev_output_index,
      holdsEdge: row.holds_edge === 1,
    })),
    replacements: edges.map((row) => ({
      replaced: nameOf(row.replaced_tx_id),
      replacement: nameOf(row.replacement_tx_id),
      createdAt: row.created_at,
    })),
  };
}

async function coinRows({ db }: SqlTransaction, walletId: WalletId): Promise<Pick<RowsOfWallet, 'credits' | 'leases'>> {
  const credits = await db
    .selectFrom('utxos as u')
    .innerJoin('addresses as a', 'a.id', 'u.address_id')
    .leftJoin('transactions as s', 's.id', 'u.spent_by_tx_id')
    .where('u.wallet_id', '=', walletId)
    .select([
      'u.tx_hash',
      'u.output_index',
      amountText('u.amount').as('amount'),
      'a.script_pub_key',
      's.tx_hash as spender',
      'u.spent_input_index',
    ])
    .orderBy('u.tx_id')
    .orderBy('u.output_index')
    .execute();
  const leases = await db
    .selectFrom('utxo_leases as l')
    .innerJoin('utxos as u', 'u.id', 'l.utxo_id')
    .where(sql<boolean>`l.wallet_id = ${walletId}`)
    .select(['u.tx_hash', 'u.output_index', 'l.lock_id', 'l.expires_at', 'l.release_confs'])
    .orderBy('u.tx_hash')
    .orderBy('u.output_index')
    .execute();
  return {
    credits: credits.map((row) => ({
      txId: toHex(row.tx_hash),
      index: row.output_index,
      amount: row.amount,
      owner: toHex(row.script_pub_key),
      spentBy: row.spender === null ? null : toHex(row.spender),
      spentInput: row.spent_input_index,
    })),
    leases: leases.map((row) => ({
      txId: toHex(row.tx_hash),
      index: row.output_index,
      leaseId: toHex(row.lock_id),
      expiresAt: row.expires_at,
      releaseAfterSpendConfs: row.release_confs,
    })),
  };
}
