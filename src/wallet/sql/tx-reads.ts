/** What a wallet knows of its transactions: rows, with what of them is the wallet's own, lists, history, replacements. */
import { type RawBuilder, sql } from 'kysely';
import { amountText, listTable } from '../../sql/lists.ts';
import type { TxDetail, TxReplacement, WalletId, WalletTxRow } from '../records.ts';
import { detailParts } from '../rules/detail-range.ts';
import { refusal } from '../rules/failures.ts';
import type { HistoryPage } from '../store.ts';
import { blockOf } from './blocks.ts';
import type { SqlTransaction } from './database.ts';
import { txRowOf } from './funded.ts';
import { inputsOf } from './inputs.ts';
import { checkPage } from './pages.ts';
import { checked32, checkedAmount, checkedIndex, checkedStatus } from './row-checks.ts';
import { outputsOf } from './tx-outputs.ts';

const rowQuery = ({ db }: SqlTransaction, walletId: WalletId) =>
  db
    .selectFrom('transactions as t')
    .leftJoin('blocks as b', 'b.block_height', 't.block_height')
    .where('t.wallet_id', '=', walletId)
    .select(['t.id', 't.tx_hash', 't.raw_tx', 't.tx_outputs', 't.tx_status', 't.is_coinbase', 't.scripts_failed', 't.received_time'])
    .select([
      't.tx_label',
      't.confirmed_order',
      't.mempool_seen_at',
      't.mempool_evicted_at',
      't.block_height',
      'b.header_hash',
      'b.block_timestamp',
    ]);

type RowQuery = ReturnType<typeof rowQuery>;
type RowColumns = Awaited<ReturnType<RowQuery['executeTakeFirstOrThrow']>>;

const chainOrder = (query: RowQuery): RowQuery => query.orderBy('t.block_height').orderBy('t.confirmed_order');
const newestFirst = (query: RowQuery): RowQuery => query.orderBy('t.received_time', 'desc').orderBy('t.id', 'desc');
/** Behind the alias t: the mempool was last told to have it no more (`isEvicted` of rules/status.ts). */
export const isEvictedTx: RawBuilder<boolean> = sql<boolean>`
  (t.mempool_evicted_at IS NOT NULL AND (t.mempool_seen_at IS NULL OR t.mempool_evicted_at >= t.mempool_seen_at))`;
const withoutBlock: RawBuilder<boolean> = sql<boolean>`t.block_height IS NULL`;

async function rowsOf(tx: SqlTransaction, columns: readonly RowColumns[]): Promise<WalletTxRow[]> {
  const inputs = await inputsOf(
    tx,
    columns.map(({ id }) => id),
  );
  return columns.map((row) => {
    const name = { table: 'transactions', id: row.id };
    const { block_height, header_hash, block_timestamp } = row;
    return {
      tx: {
        id: checked32(name, 'tx_hash', row.tx_hash),
        raw: row.raw_tx,
        inputs: (inputs.get(row.id) ?? []).map(({ outpoint }) => outpoint),
        outputs: outputsOf(row.tx_outputs),
        isCoinbase: row.is_coinbase === 1,
        ...(row.scripts_failed === 1 ? { scriptsFailed: true } : {}),
      },
      status: checkedStatus(name, row.tx_status),
      block:
        block_height === null || header_hash === null || block_timestamp === null
          ? null
          : blockOf({ block_height, header_hash, block_timestamp }),
      confirmedOrder: row.confirmed_order,
      received: row.received_time,
      label: row.tx_label,
      mempool: { seenAt: row.mempool_seen_at, evictedAt: row.mempool_evicted_at },
    };
  });
}

/** Of all wallets: published, in no block, not evicted. The condition on the status is also that of the index `tx_unmined`. */
export async function listInMempool({ db }: SqlTransaction): Promise<{ walletId: WalletId; txId: Uint8Array }[]> {
  const rows = await db
    .selectFrom('transactions as t')
    .select(['t.id', 't.wallet_id', 't.tx_hash'])
    .where(sql<boolean>`t.block_height IS NULL AND t.tx_status IN (0, 1) AND t.tx_status = 1`)
    .where(sql<boolean>`NOT ${isEvictedTx}`)
    .orderBy('t.wallet_id')
    .orderBy('t.id')
    .execute();
  return rows.map((row) => ({ walletId: row.wallet_id, txId: checked32({ table: 'transactions', id: row.id }, 'tx_hash', row.tx_hash) }));
}

async function oneRow(tx: SqlTransaction, walletId: WalletId, txId: Uint8Array): Promise<RowColumns> {
  const row = await rowQuery(tx, walletId).where('t.tx_hash', '=', txId).executeTakeFirst();
  if (row === undefined) throw refusal.txUnknown(txId);
  return row;
}

/** TX_UNKNOWN. */
export async function readTx(tx: SqlTransaction, walletId: WalletId, txId: Uint8Array): Promise<WalletTxRow> {
  return (await rowsOf(tx, [await oneRow(tx, walletId, txId)]))[0];
}

/** TX_UNKNOWN. */
export async function readDetail(tx: SqlTransaction, walletId: WalletId, txId: Uint8Array): Promise<TxDetail> {
  return (await detailsOf(tx, walletId, [await oneRow(tx, walletId, txId)]))[0];
}

export async function listRows(
  tx: SqlTransaction,
  walletId: WalletId,
  range: { readonly from: number; readonly to: number } | 'unmined',
): Promise<WalletTxRow[]> {
  if (range === 'unmined') return rowsOf(tx, await unmined(tx, walletId));
  const rows = rowQuery(tx, walletId);
  return rowsOf(tx, await chainOrder(rows.where('t.block_height', '>=', range.from).where('t.block_height', '<=', range.to)).execute());
}

/** The two conditions are those of the index `tx_unmined`. */
function unmined(tx: SqlTransaction, walletId: WalletId): Promise<RowColumns[]> {
  return newestFirst(rowQuery(tx, walletId).where(withoutBlock).where(sql<boolean>`t.tx_status IN (0, 1)`)).execute();
}

export async function listUnmined(tx: SqlTransaction, walletId: WalletId): Promise<TxDetail[]> {
  return detailsOf(tx, walletId, await unmined(tx, walletId));
}

export async function listDetails(tx: SqlTransaction, walletId: WalletId, start: number, end: number): Promise<TxDetail[]> {
  const found: RowColumns[] = [];
  for (const part of detailParts(start, end)) {
    const rows = rowQuery(tx, walletId);
    if (part === 'unmined') {
      found.push(...(await newestFirst(rows.where(withoutBlock)).execute()));
      continue;
    }
    const above = rows.where('t.block_height', '>=', part.from);
    const between = part.to === null ? above : above.where('t.block_height', '<=', part.to);
    const ordered = part.newestBlockFirst ? between.orderBy('t.block_height', 'desc').orderBy('t.confirmed_order') : chainOrder(between);
    found.push(...(await ordered.execute()));
  }
  return detailsOf(tx, walletId, found);
}

/** Not replaced, or by one that is not there any more. */
const withoutReplacement: RawBuilder<boolean> = sql<boolean>`NOT (t.tx_status = 2 AND EXISTS (
  SELECT 1 FROM tx_replacements r WHERE r.wallet_id = t.wallet_id AND r.replaced_tx_id = t.id))`;

/** TX_UNKNOWN: the page is after one that is not there. */
export async function listHistory(tx: SqlTransaction, walletId: WalletId, page?: HistoryPage): Promise<TxDetail[]> {
  checkPage(page);
  const after = page?.after === undefined ? undefined : await oneRow(tx, walletId, page.after);
  const found: RowColumns[] = [];
  if (after === undefined || after.block_height === null) {
    let rows = newestFirst(rowQuery(tx, walletId).where(withoutBlock));
    if (page !== undefined) rows = rows.limit(page.limit);
    if (after !== undefined) rows = rows.where(sql<boolean>`(t.received_time, t.id) < (${after.received_time}, ${after.id})`);
    if (page?.withoutReplaced === true) rows = rows.where(withoutReplacement);
    found.push(...(await rows.execute()));
  }
  if (page === undefined || found.length < page.limit) {
    let rows = rowQuery(tx, walletId)
      .where('t.block_height', 'is not', null)
      .orderBy('t.block_height', 'desc')
      .orderBy('t.confirmed_order', 'desc');
    if (page !== undefined) rows = rows.limit(page.limit - found.length);
    if (after !== undefined && after.block_height !== null) {
      rows = rows.where(sql<boolean>`(t.block_height, t.confirmed_order) < (${after.block_height}, ${after.confirmed_order})`);
    }
    found.push(...(await rows.execute()));
  }
  return detailsOf(tx, walletId, found);
}

type OwnedPart = { readonly index: number; readonly amount: bigint };

/** Inputs are looked up among all credits, not among edges, so that a dead row still shows what it spent. */
async function detailsOf(tx: SqlTransaction, walletId: WalletId, columns: readonly RowColumns[]): Promise<TxDetail[]> {
  const rows = await rowsOf(tx, columns);
  if (columns.length === 0) return [];
  const list = listTable(
    tx.kind,
    { row_id: 'integer' },
    columns.map(({ id }) => [id]),
  );
  const ownInputs = await tx.db
    .selectFrom(list.as('v'))
    .crossJoin('tx_inputs as i')
    .crossJoin('utxos as u')
    .whereRef('i.tx_id', '=', 'v.row_id')
    .where('u.tx_id', '=', txRowOf(walletId, 'i.prev_tx_hash'))
    .whereRef('u.output_index', '=', 'i.prev_output_index')
    .select(['i.tx_id', 'u.id', 'i.input_index as place', amountText('u.amount').as('amount')])
    .orderBy('i.input_index')
    .execute();
  const ownOutputs = await tx.db
    .selectFrom(list.as('v'))
    .crossJoin('utxos as u')
    .whereRef('u.tx_id', '=', 'v.row_id')
    .select(['u.tx_id', 'u.id', 'u.output_index as place', amountText('u.amount').as('amount')])
    .orderBy('u.output_index')
    .execute();
  const [inputs, outputs] = [partsByRow(ownInputs), partsByRow(ownOutputs)];
  return rows.map((row, at) => ({
    ...row,
    ownedInputs: inputs.get(columns[at].id) ?? [],
    ownedOutputs: outputs.get(columns[at].id) ?? [],
  }));
}

function partsByRow(rows: readonly { tx_id: number; id: number; place: number; amount: string }[]): Map<number, OwnedPart[]> {
  const parts = new Map<number, OwnedPart[]>();
  for (const row of rows) {
    const name = { table: 'utxos', id: row.id };
    const part = { index: checkedIndex(name, 'index', row.place), amount: checkedAmount(name, row.amount) };
    const others = parts.get(row.tx_id);
    if (others === undefined) parts.set(row.tx_id, [part]);
    else others.push(part);
  }
  return parts;
}

/** Where one of the transactions is either end. */
export async function listReplacements(tx: SqlTransaction, walletId: WalletId, txIds: readonly Uint8Array[]): Promise<TxReplacement[]> {
  const list = listTable(
    tx.kind,
    { tx_hash: 'bytes' },
    txIds.map((txId) => [txId]),
  );
  const edgesWith = (end: 'replaced_tx_id' | 'replacement_tx_id') =>
    tx.db
      .selectFrom(list.as('v'))
      .crossJoin('transactions as t')
      .crossJoin('tx_replacements as r')
      .innerJoin('transactions as o', 'o.id', 'r.replaced_tx_id')
      .innerJoin('transactions as n', 'n.id', 'r.replacement_tx_id')
      .where('t.wallet_id', '=', walletId)
      .whereRef('t.tx_hash', '=', 'v.tx_hash')
      .where('r.wallet_id', '=', walletId)
      .whereRef(`r.${end}`, '=', 't.id')
      .select(['r.id', 'o.tx_hash as replaced', 'n.tx_hash as replacement', 'r.created_at'])
      .execute();
  const edges = [...(await edgesWith('replaced_tx_id')), ...(await edgesWith('replacement_tx_id'))];
  return [...new Map(edges.map((edge) => [edge.id, edge])).values()]
    .sort((a, b) => a.created_at - b.created_at || a.id - b.id)
    .map(({ id, replaced, replacement, created_at: createdAt }) => {
      const name = { table: 'tx_replacements', id };
      return { replaced: checked32(name, 'replaced', replaced), replacement: checked32(name, 'replacement', replacement), createdAt };
    });
}

/** TX_UNKNOWN. */
export async function listChain(tx: SqlTransaction, walletId: WalletId, txId: Uint8Array): Promise<Uint8Array[]> {
  const first = await oneRow(tx, walletId, txId);
  const chain: Uint8Array[] = [];
  const seen = new Set([first.id]);
  for (
    let row = { id: first.id, status: first.tx_status };
    checkedStatus({ table: 'transactions', id: row.id }, row.status) === 'replaced';
  ) {
    const newest = await tx.db
      .selectFrom('tx_replacements as r')
      .innerJoin('transactions as n', 'n.id', 'r.replacement_tx_id')
      .where('r.wallet_id', '=', walletId)
      .where('r.replaced_tx_id', '=', row.id)
      .select(['n.tx_hash as replacement', 'n.tx_status as status', 'n.id as replacement_id'])
      .orderBy('r.id', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (newest === undefined || seen.has(newest.replacement_id)) break;
    seen.add(newest.replacement_id);
    chain.push(newest.replacement);
    row = { id: newest.replacement_id, status: newest.status };
  }
  return chain;
}
