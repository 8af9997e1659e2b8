/** Labels of whatever has one: taking them in, listing them, and what they say of transactions that come in. */
import { type RawBuilder, sql } from 'kysely';
import { outpointText } from '../../ledgers/outpoint.ts';
import { listTable } from '../../sql/lists.ts';
import { assert } from '../../util/errors.ts';
import { type KeptLabels, LABEL_TYPES, type LabelKey, type WalletLabel } from '../label-records.ts';
import type { WalletId } from '../records.ts';
import {
  checkKeptLabel,
  FROZEN_LEASE,
  FROZEN_LEASE_ID,
  freezing,
  isFrozenByLabel,
  LabelsOfTxs,
  labelledTxs,
  mergedLabels,
  toldOutputs,
} from '../rules/labels.ts';
import type { NewTx, Page } from '../store.ts';
import type { SqlTransaction } from './database.ts';
import type { EventLog } from './event-log.ts';
import { deleteLeases, loadCoins } from './leases.ts';
import { lockWallet } from './locks.ts';
import { checkPage } from './pages.ts';
import type { WalletTables } from './tables.ts';

/** INVALID_PARAM. */
export async function writeLabels(
  tx: SqlTransaction,
  events: EventLog,
  walletId: WalletId,
  labels: readonly WalletLabel[],
  now: number,
): Promise<KeptLabels> {
  for (const label of labels) checkKeptLabel(label);
  await lockWallet(tx, walletId);
  const merged = mergedLabels(labels);
  await upsertLabels(tx, walletId, merged);
  return {
    applied: await labelTxs(tx, walletId, merged),
    ...(await freeze(tx, events, walletId, merged, now)),
    thawed: await thaw(tx, events, walletId, merged),
  };
}

const COLUMNS = {
  type: 'integer',
  ref: 'text',
  origin: 'text',
  hash: 'bytes',
  place: 'integer',
  said: 'text',
  spendable: 'integer',
  others: 'text',
  foreign_flag: 'integer',
} as const;

/** What is not said stays as it was. */
async function upsertLabels(tx: SqlTransaction, walletId: WalletId, labels: readonly WalletLabel[]): Promise<void> {
  if (labels.length === 0) return;
  const list = listTable(
    tx.kind,
    COLUMNS,
    labels.map(({ type, ref, origin, txId, index, label, spendable, others, isForeign }) => {
      const flag = spendable === null ? null : spendable ? 1 : 0;
      return [LABEL_TYPES.indexOf(type), ref, origin, txId, index, label, flag, others, isForeign ? 1 : 0];
    }),
  );
  await sql`INSERT INTO wallet_labels
      (wallet_id, label_type, label_ref, label_origin, tx_hash, tx_index, label_text, is_spendable, label_others, is_foreign)
    SELECT ${walletId}, type, ref, origin, hash, place, said, spendable, others, foreign_flag FROM ${list} AS v WHERE true
    ON CONFLICT (wallet_id, label_type, label_ref, label_origin) DO UPDATE SET
      label_text = COALESCE(excluded.label_text, wallet_labels.label_text),
      is_spendable = COALESCE(excluded.is_spendable, wallet_labels.is_spendable),
      label_others = excluded.label_others, is_foreign = excluded.is_foreign`.execute(tx.db);
}

/** Returns how many there are of them. */
async function labelTxs(tx: SqlTransaction, walletId: WalletId, labels: readonly WalletLabel[]): Promise<number> {
  const told = [...labelledTxs(labels).values()];
  if (told.length === 0) return 0;
  const list = listTable(
    tx.kind,
    { hash: 'bytes', said: 'text' },
    told.map(({ txId, label }) => [txId, label]),
  );
  const { numAffectedRows } = await sql`WITH c AS MATERIALIZED (
      SELECT t.id, v.said FROM ${list} AS v CROSS JOIN transactions t WHERE t.wallet_id = ${walletId} AND t.tx_hash = v.hash
    ) UPDATE transactions SET tx_label = c.said FROM c WHERE transactions.id = c.id`.execute(tx.db);
  return Number(numAffectedRows);
}

/** Also outputs that are spent or dead: they may be unspent again. */
async function freeze(
  tx: SqlTransaction,
  events: EventLog,
  walletId: WalletId,
  labels: readonly WalletLabel[],
  now: number,
): Promise<Pick<KeptLabels, 'frozen' | 'held'>> {
  const told = toldOutputs(labels, false);
  const coins = await loadCoins(tx, walletId, told);
  const [frozen, held]: [typeof told, typeof told] = [[], []];
  const rowIds: number[] = [];
  for (const outpoint of told) {
    const coin = coins.get(outpointText(outpoint));
    if (coin === undefined) continue;
    const what = freezing(coin.lease, now);
    (what === 'held' ? held : frozen).push(outpoint);
    if (what === 'held' || what === 'frozen') continue;
    if (what === 'take over' && coin.lease !== null) events.add(walletId, { kind: 'lease.expired', outpoint, leaseId: coin.lease.id });
    events.add(walletId, { kind: 'lease.acquired', outpoint, leaseId: FROZEN_LEASE_ID });
    rowIds.push(coin.rowId);
  }
  const list = listTable(
    tx.kind,
    { row_id: 'integer' },
    rowIds.map((id) => [id]),
  );
  if (rowIds.length > 0) await insertFrozen(tx, walletId, sql`${list} AS v CROSS JOIN utxos u WHERE u.id = v.row_id`);
  return { frozen, held };
}

/** `coins`: the tables of a statement, with the coins under the alias u, and its condition. */
export async function insertFrozen(tx: SqlTransaction, walletId: WalletId, coins: RawBuilder<unknown>): Promise<void> {
  const { id, expiresAt } = FROZEN_LEASE;
  await sql`INSERT INTO utxo_leases (utxo_id, wallet_id, lock_id, expires_at, release_confs)
    SELECT u.id, ${walletId}, ${id}, ${expiresAt}, NULL FROM ${coins}
    ON CONFLICT (utxo_id) DO UPDATE SET lock_id = excluded.lock_id, expires_at = excluded.expires_at, release_confs = NULL`.execute(tx.db);
}

/** Only what was frozen by a label. */
async function thaw(
  tx: SqlTransaction,
  events: EventLog,
  walletId: WalletId,
  labels: readonly WalletLabel[],
): Promise<KeptLabels['thawed']> {
  const told = toldOutputs(labels, true);
  const coins = await loadCoins(tx, walletId, told);
  const thawed = told.filter((outpoint) => isFrozenByLabel(coins.get(outpointText(outpoint))?.lease ?? null));
  await deleteLeases(
    tx,
    thawed.flatMap((outpoint) => coins.get(outpointText(outpoint))?.rowId ?? []),
  );
  for (const outpoint of thawed) events.add(walletId, { kind: 'lease.released', outpoint, leaseId: FROZEN_LEASE_ID });
  return thawed;
}

export async function listLabels(tx: SqlTransaction, walletId: WalletId, page?: Page<LabelKey>): Promise<WalletLabel[]> {
  checkPage(page);
  let query = tx.db
    .selectFrom('wallet_labels as l')
    .selectAll()
    .where('l.wallet_id', '=', walletId)
    .orderBy('l.label_type')
    .orderBy('l.label_ref')
    .orderBy('l.label_origin');
  if (page !== undefined) query = query.limit(page.limit);
  if (page?.after !== undefined) {
    const { type, ref, origin } = page.after;
    query = query.where(sql<boolean>`(l.label_type, l.label_ref, l.label_origin) > (${LABEL_TYPES.indexOf(type)}, ${ref}, ${origin})`);
  }
  return (await query.execute()).map(labelOf);
}

function labelOf(row: WalletTables['wallet_labels']): WalletLabel {
  const type = LABEL_TYPES[row.label_type];
  assert(type !== undefined, `there is no type ${row.label_type} of labels`);
  return {
    type,
    ref: row.label_ref,
    origin: row.label_origin,
    txId: row.tx_hash,
    index: row.tx_index,
    label: row.label_text,
    spendable: row.is_spendable === null ? null : row.is_spendable === 1,
    others: row.label_others,
    isForeign: row.is_foreign === 1,
  };
}

/** What is kept of transactions that come in. */
export async function labelsOfTxs(tx: SqlTransaction, walletId: WalletId, news: readonly NewTx[]): Promise<LabelsOfTxs> {
  const list = listTable(
    tx.kind,
    { hash: 'bytes' },
    news.map((one) => [one.tx.id]),
  );
  const { rows } = await sql<WalletTables['wallet_labels']>`SELECT l.* FROM ${list} AS v CROSS JOIN wallet_labels l
    WHERE l.wallet_id = ${walletId} AND l.tx_hash = v.hash`.execute(tx.db);
  return new LabelsOfTxs(rows.map(labelOf));
}
