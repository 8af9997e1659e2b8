/**
 * Writes what changed in a graph, in an order in which the triggers of the
 * database allow each step: edges that end, then statuses and blocks, then new
 * rows with their inputs and credits, then new edges, then replacements. A step
 * is one statement for all rows.
 *
 * An edge is set only where the coin is unspent and its parent lives. The graph
 * decided that before, under the lock of the wallet; here the statement itself
 * looks again, and everything is undone if it finds otherwise.
 */
import { sql } from 'kysely';
import { listTable } from '../../sql/lists.ts';
import { toHex } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import { TX_STATUSES } from '../records.ts';
import type { SqlTransaction } from './database.ts';
import type { CreditNode, InputNode, TxGraph, TxNode } from './graph.ts';
import { insertFrozen } from './labels.ts';
import { outputsBytes } from './tx-outputs.ts';

export async function saveGraph(tx: SqlTransaction, graph: TxGraph): Promise<void> {
  const credits = [...graph.credits.values()];
  const changed = [...graph.nodes.values()].filter(({ isChanged }) => isChanged);
  await clearEdges(tx, credits.filter(hasLostEdge));
  for (const node of graph.moved) await updateRows(tx, [node]);
  await updateRows(
    tx,
    changed.filter((node) => node.rowId !== null && !graph.moved.has(node)),
  );
  await insertRows(
    tx,
    graph,
    changed.filter(({ rowId }) => rowId === null),
  );
  await insertCredits(
    tx,
    graph,
    credits.filter(({ news }) => news !== null),
  );
  await setEdges(tx, graph, credits.filter(hasNewEdge));
  await insertReplacements(tx, graph);
}

function isSameEdge({ spender, storedSpender }: CreditNode): boolean {
  return spender?.key === storedSpender?.key && spender?.input === storedSpender?.input;
}

const hasLostEdge = (credit: CreditNode): boolean => credit.storedSpender !== null && !isSameEdge(credit);
const hasNewEdge = (credit: CreditNode): boolean => credit.spender !== null && !isSameEdge(credit);

async function clearEdges(tx: SqlTransaction, credits: readonly CreditNode[]): Promise<void> {
  if (credits.length === 0) return;
  const list = listTable(
    tx.kind,
    { row_id: 'integer' },
    credits.map(({ rowId }) => [rowId]),
  );
  await sql`UPDATE utxos SET spent_by_tx_id = NULL, spent_input_index = NULL WHERE id IN (SELECT v.row_id FROM ${list} AS v)`.execute(
    tx.db,
  );
}

async function updateRows(tx: SqlTransaction, nodes: readonly TxNode[]): Promise<void> {
  if (nodes.length === 0) return;
  const list = listTable(
    tx.kind,
    { row_id: 'integer', status: 'integer', height: 'integer', place: 'integer' },
    nodes.map((node) => [node.rowId, TX_STATUSES.indexOf(node.status), node.block?.height ?? null, node.confirmedOrder]),
  );
  await sql`UPDATE transactions SET tx_status = v.status, block_height = v.height, confirmed_order = v.place FROM ${list} AS v
    WHERE transactions.id = v.row_id`.execute(tx.db);
}

async function insertRows(tx: SqlTransaction, graph: TxGraph, nodes: readonly TxNode[]): Promise<void> {
  if (nodes.length === 0) return;
  const columns = {
    hash: 'bytes',
    raw: 'bytes',
    outputs: 'bytes',
    height: 'integer',
    place: 'integer',
    status: 'integer',
    received: 'integer',
    coinbase: 'integer',
    failed: 'integer',
    label: 'text',
    nth: 'integer',
  } as const;
  const list = listTable(
    tx.kind,
    columns,
    nodes.map(({ txId, news, block, confirmedOrder, status, isCoinbase, scriptsFailed, label }, nth) => {
      assert(news !== null, 'a row without an id is new');
      const { raw, outputs } = news.tx;
      const where = [block?.height ?? null, confirmedOrder, TX_STATUSES.indexOf(status)];
      return [txId, raw, outputsBytes(outputs), ...where, news.received, isCoinbase ? 1 : 0, scriptsFailed ? 1 : 0, label, nth];
    }),
  );
  const { rows } = await sql<{ id: number; tx_hash: Uint8Array }>`INSERT INTO transactions
      (wallet_id, tx_hash, raw_tx, tx_outputs, block_height, confirmed_order, tx_status, received_time, is_coinbase, scripts_failed, tx_label)
    SELECT ${graph.walletId}, hash, raw, outputs, height, place, status, received, coinbase, failed, label FROM ${list} AS v ORDER BY nth
    RETURNING id, tx_hash`.execute(tx.db);
  const ids = new Map(rows.map(({ id, tx_hash }) => [toHex(tx_hash), id]));
  for (const node of nodes) node.rowId = ids.get(node.key) ?? null;
  await insertInputs(tx, graph, nodes);
}

/** One that is about to get the edge of a stored coin has it from the beginning; one of a coin that is new itself gets it with the edge. */
async function insertInputs(tx: SqlTransaction, { walletId, credits }: TxGraph, nodes: readonly TxNode[]): Promise<void> {
  const holds = (key: string, { index, text }: InputNode): 0 | 1 => {
    const credit = credits.get(text);
    return credit !== undefined && credit.news === null && credit.spender?.key === key && credit.spender.input === index ? 1 : 0;
  };
  const rows = nodes.flatMap(({ key, rowId, inputs }) =>
    inputs.map((input) => [rowId, input.index, input.outpoint.txId, input.outpoint.index, holds(key, input)]),
  );
  if (rows.length === 0) return;
  const columns = { row_id: 'integer', nth: 'integer', hash: 'bytes', place: 'integer', holds: 'integer' } as const;
  await sql`INSERT INTO tx_inputs (wallet_id, tx_id, input_index, prev_tx_hash, prev_output_index, holds_edge)
    SELECT ${walletId}, row_id, nth, hash, place, holds FROM ${listTable(tx.kind, columns, rows)} AS v`.execute(tx.db);
}

const rowIdOf = (graph: TxGraph, key: string): number => {
  const { rowId } = graph.node(key);
  assert(rowId !== null, `transaction ${key} has a row`);
  return rowId;
};

async function insertCredits(tx: SqlTransaction, graph: TxGraph, credits: readonly CreditNode[]): Promise<void> {
  if (credits.length === 0) return;
  const list = listTable(
    tx.kind,
    { row_id: 'integer', hash: 'bytes', place: 'integer', amount: 'integer', address: 'integer', script: 'bytes', holding: 'bytes' },
    credits.map(({ outpoint, amount, parent, news }) => {
      assert(news !== null, 'the credit is new');
      return [rowIdOf(graph, parent.key), outpoint.txId, outpoint.index, amount, news.addressRowId, news.script, news.holding];
    }),
  );
  await sql`INSERT INTO utxos (wallet_id, tx_id, tx_hash, output_index, amount, address_id, script_pub_key, output_holding)
    SELECT ${graph.walletId}, row_id, hash, place, amount, address, script, holding FROM ${list} AS v`.execute(tx.db);
  await freezeCredits(
    tx,
    graph,
    credits.filter(({ news }) => news?.isFrozen === true),
  );
}

/** Together with them, so that nobody can spend them in between. */
async function freezeCredits(tx: SqlTransaction, graph: TxGraph, credits: readonly CreditNode[]): Promise<void> {
  if (credits.length === 0) return;
  const list = listTable(
    tx.kind,
    { row_id: 'integer', place: 'integer' },
    credits.map(({ outpoint, parent }) => [rowIdOf(graph, parent.key), outpoint.index]),
  );
  await insertFrozen(tx, graph.walletId, sql`${list} AS v CROSS JOIN utxos u WHERE u.tx_id = v.row_id AND u.output_index = v.place`);
}

async function setEdges(tx: SqlTransaction, graph: TxGraph, credits: readonly CreditNode[]): Promise<void> {
  if (credits.length === 0) return;
  const list = listTable(
    tx.kind,
    { row_id: 'integer', funder: 'integer', place: 'integer', spender: 'integer', nth: 'integer' },
    credits.map(({ rowId, outpoint, parent, spender }) => {
      const funder = rowId === null ? rowIdOf(graph, parent.key) : null;
      return [rowId, funder, outpoint.index, rowIdOf(graph, spender?.key ?? ''), spender?.input ?? null];
    }),
  );
  // The coins are found first, as a table of their own: given the choice, SQLite would read all coins for each row of the list.
  const { numAffectedRows } = await sql`WITH c AS MATERIALIZED (
      SELECT COALESCE(v.row_id, (SELECT n.id FROM utxos n WHERE n.tx_id = v.funder AND n.output_index = v.place)) AS id, v.spender, v.nth
      FROM ${list} AS v
    ) UPDATE utxos SET spent_by_tx_id = c.spender, spent_input_index = c.nth FROM c WHERE utxos.id = c.id
      AND COALESCE(utxos.spent_by_tx_id, c.spender) = c.spender AND COALESCE(utxos.spent_input_index, c.nth) = c.nth
      AND EXISTS (SELECT 1 FROM transactions p WHERE p.id = utxos.tx_id AND p.tx_status IN (0, 1))`.execute(tx.db);
  assert(numAffectedRows === BigInt(credits.length), `${credits.length} coins are to be spent, ${numAffectedRows} were unspent and live`);
}

/** One that was there before is the newest now. */
async function insertReplacements(tx: SqlTransaction, graph: TxGraph): Promise<void> {
  if (graph.replacements.length === 0) return;
  const list = listTable(
    tx.kind,
    { old: 'integer', winner: 'integer', created: 'integer', nth: 'integer' },
    graph.replacements.map(({ replaced, replacement, createdAt }, nth) => [replaced.rowId, replacement.rowId, createdAt, nth]),
  );
  await sql`DELETE FROM tx_replacements WHERE wallet_id = ${graph.walletId}
    AND (replaced_tx_id, replacement_tx_id) IN (SELECT old, winner FROM ${list} AS v)`.execute(tx.db);
  await sql`INSERT INTO tx_replacements (wallet_id, replaced_tx_id, replacement_tx_id, created_at)
    SELECT ${graph.walletId}, old, winner, created FROM ${list} AS v ORDER BY nth`.execute(tx.db);
}
