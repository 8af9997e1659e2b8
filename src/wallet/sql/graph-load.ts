/**
 * Loads the part of a wallet that a write touches. For transactions that come
 * in: their own rows, live rows that spend what they spend (rivals) or what they
 * create (children), the credits at all those inputs, and, only where two live
 * rows spend one output, every descendant of them. The number of statements does
 * not depend on the number of transactions.
 */

import { type RawBuilder, sql } from 'kysely';
import { outpointText } from '../../ledgers/outpoint.ts';
import type { SqlKind } from '../../sql/database.ts';
import { amountText, listTable } from '../../sql/lists.ts';
import { fromHex, toHex } from '../../util/bytes.ts';
import type { WalletBlock } from '../records.ts';
import { isEvicted } from '../rules/status.ts';
import type { NewTx } from '../store.ts';
import { blockOf } from './blocks.ts';
import type { SqlTransaction } from './database.ts';
import { fundedList, txRowOf } from './funded.ts';
import { type CreditNode, type InputNode, inputNodes, type TxGraph, type TxNode } from './graph.ts';
import { inputsOf } from './inputs.ts';
import { checked32, checkedAmount, checkedIndex, checkedStatus } from './row-checks.ts';

/** Before the transactions come in. The wallet is locked. */
export async function loadIncoming(tx: SqlTransaction, graph: TxGraph, news: readonly NewTx[]): Promise<void> {
  const inputs = new Map(news.map((one) => [toHex(one.tx.id), inputNodes(one.tx.inputs)]));
  const told = [...inputs.values()].flat();
  await loadNodes(
    tx,
    graph,
    await relatedRows(
      tx,
      graph,
      news.map((one) => one.tx.id),
      told,
    ),
  );
  const untold = untoldInputs(graph, inputs);
  if (untold.length > 0) await loadNodes(tx, graph, await relatedRows(tx, graph, [], untold));
  const disputed = disputedRoots(graph, inputs);
  if (disputed.length > 0) await loadNodes(tx, graph, await branchRows(tx, graph, disputed));
  const outpoints = [...told, ...[...graph.nodes.values()].flatMap((node) => node.inputs)];
  // One that has no row has no credits either. To look for them would be a search in a large index for each transaction.
  const stored = [...inputs.keys()].flatMap((key) => graph.nodes.get(key)?.rowId ?? []);
  await loadCredits(tx, graph, outpoints, stored);
  const heights = new Set(news.flatMap(({ block }) => (block === undefined ? [] : [block.height])));
  if (heights.size > 0) await loadPlaces(tx, graph, [...heights]);
}

/** Before a branch falls: the roots by id, and all that is built on them. The wallet is locked. */
export async function loadBranch(tx: SqlTransaction, graph: TxGraph, roots: readonly Uint8Array[]): Promise<void> {
  await loadNodes(tx, graph, [...(await ownRows(tx, graph, roots)), ...(await branchRows(tx, graph, roots))]);
  await loadCredits(
    tx,
    graph,
    [...graph.nodes.values()].flatMap((node) => node.inputs),
    [],
  );
}

/** Rows by their ids, with their inputs and the credits they spend. The wallet is locked. */
export async function loadRows(tx: SqlTransaction, graph: TxGraph, txIds: readonly Uint8Array[]): Promise<void> {
  await loadNodes(tx, graph, await ownRows(tx, graph, txIds));
  await loadCredits(
    tx,
    graph,
    [...graph.nodes.values()].flatMap((node) => node.inputs),
    [],
  );
}

interface NodeColumns {
  readonly id: number;
  readonly tx_hash: Uint8Array;
  readonly tx_status: number;
  readonly is_coinbase: 0 | 1;
  readonly scripts_failed: 0 | 1;
  readonly tx_label: string;
  readonly mempool_seen_at: number | null;
  readonly mempool_evicted_at: number | null;
  readonly confirmed_order: number | null;
  readonly block_height: number | null;
  readonly header_hash: Uint8Array | null;
  readonly block_timestamp: number | null;
}

const NODE_COLUMNS = sql.raw(
  `t.id, t.tx_hash, t.tx_status, t.is_coinbase, t.scripts_failed, t.tx_label, t.mempool_seen_at, t.mempool_evicted_at,
  t.confirmed_order, t.block_height, b.header_hash, b.block_timestamp`,
);
const WITH_BLOCK = sql.raw('LEFT JOIN blocks b ON b.block_height = t.block_height');

const hashList = ({ kind }: SqlTransaction, hashes: readonly Uint8Array[]) =>
  listTable(
    kind,
    { hash: 'bytes' },
    hashes.map((hash) => [hash]),
  );

async function ownRows(tx: SqlTransaction, { walletId }: TxGraph, hashes: readonly Uint8Array[]): Promise<NodeColumns[]> {
  const { rows } = await sql<NodeColumns>`SELECT ${NODE_COLUMNS} FROM ${hashList(tx, hashes)} v
    CROSS JOIN transactions t ${WITH_BLOCK} WHERE t.wallet_id = ${walletId} AND t.tx_hash = v.hash`.execute(tx.db);
  return rows;
}

/** Inputs of stored rows that whoever tells of them again does not know. */
function untoldInputs({ nodes }: TxGraph, incoming: ReadonlyMap<string, readonly InputNode[]>): InputNode[] {
  return [...incoming].flatMap(([key, told]) => {
    const texts = new Set(told.map(({ text }) => text));
    return nodes.get(key)?.inputs.filter(({ text }) => !texts.has(text)) ?? [];
  });
}

/** The rows of the transactions, their children, and who spends the inputs: those that hold an edge are found by the coin, the others by the outpoint. */
async function relatedRows(
  tx: SqlTransaction,
  { walletId }: TxGraph,
  txIds: readonly Uint8Array[],
  inputs: readonly InputNode[],
): Promise<NodeColumns[]> {
  const own = hashList(tx, txIds);
  const spent = fundedList(
    tx,
    walletId,
    inputs.map(({ outpoint }) => outpoint),
  );
  const { rows } = await sql<NodeColumns>`SELECT ${NODE_COLUMNS} FROM ${own} v
      CROSS JOIN transactions t ${WITH_BLOCK} WHERE t.wallet_id = ${walletId} AND t.tx_hash = v.hash
    UNION ALL SELECT ${NODE_COLUMNS} FROM ${own} v CROSS JOIN utxos u CROSS JOIN transactions t ${WITH_BLOCK}
      WHERE u.tx_id = ${txRowOf(walletId, 'v.hash')} AND t.id = u.spent_by_tx_id
    UNION ALL SELECT ${NODE_COLUMNS} FROM ${own} v CROSS JOIN tx_inputs i CROSS JOIN transactions t ${WITH_BLOCK}
      WHERE i.wallet_id = ${walletId} AND i.prev_tx_hash = v.hash AND i.holds_edge = 0 AND t.id = i.tx_id AND t.tx_status IN (0, 1)
    UNION ALL SELECT ${NODE_COLUMNS} FROM ${spent} v CROSS JOIN utxos u CROSS JOIN transactions t ${WITH_BLOCK}
      WHERE u.tx_id = v.tx_id AND u.output_index = v.place AND t.id = u.spent_by_tx_id
    UNION ALL SELECT ${NODE_COLUMNS} FROM ${spent} v CROSS JOIN tx_inputs i CROSS JOIN transactions t ${WITH_BLOCK}
      WHERE i.wallet_id = ${walletId} AND i.prev_tx_hash = v.hash AND i.prev_output_index = v.place AND i.holds_edge = 0
        AND t.id = i.tx_id AND t.tx_status IN (0, 1)`.execute(tx.db);
  return rows;
}

/** Live rows that spend outputs of the roots, and outputs of those that are in no block, and so on. */
async function branchRows(tx: SqlTransaction, { walletId }: TxGraph, roots: readonly Uint8Array[]): Promise<NodeColumns[]> {
  const withoutEdge = sql`i.wallet_id = ${walletId} AND i.prev_tx_hash = r.hash AND i.holds_edge = 0`;
  const { rows } = await sql<NodeColumns>`WITH RECURSIVE branch (id, hash, height, is_root) AS (
      SELECT ${txRowOf(walletId, 'v.hash')}, v.hash, CAST(NULL AS bigint), 1 FROM ${hashList(tx, roots)} v
      UNION ${CHILDREN[tx.kind](withoutEdge)}
    ) SELECT ${NODE_COLUMNS} FROM branch r CROSS JOIN transactions t ${WITH_BLOCK} WHERE r.is_root = 0 AND t.id = r.id`.execute(tx.db);
  return rows;
}

/** Of a row that is in no block. PostgreSQL lets a recursion name itself only once, SQLite has no tables that depend on others. */
const CHILDREN: Readonly<Record<SqlKind, (withoutEdge: RawBuilder<unknown>) => RawBuilder<unknown>>> = {
  sqlite: (withoutEdge) => sql`SELECT t.id, t.tx_hash, t.block_height, 0 FROM branch r CROSS JOIN utxos u CROSS JOIN transactions t
      WHERE r.height IS NULL AND u.tx_id = r.id AND t.id = u.spent_by_tx_id
    UNION SELECT t.id, t.tx_hash, t.block_height, 0 FROM branch r CROSS JOIN tx_inputs i CROSS JOIN transactions t
      WHERE r.height IS NULL AND ${withoutEdge} AND t.id = i.tx_id AND t.tx_status IN (0, 1)`,
  postgres: (withoutEdge) => sql`SELECT t.id, t.tx_hash, t.block_height, 0 FROM branch r CROSS JOIN LATERAL (
      SELECT u.spent_by_tx_id AS id FROM utxos u WHERE u.tx_id = r.id AND u.spent_by_tx_id IS NOT NULL
      UNION ALL SELECT i.tx_id FROM tx_inputs i WHERE ${withoutEdge}) c CROSS JOIN transactions t WHERE r.height IS NULL AND t.id = c.id AND t.tx_status IN (0, 1)`,
};

/**
 * Adds rows that the graph does not have, with their inputs as they are stored: whoever tells of a transaction again may
 * know fewer of them, or others first.
 */
async function loadNodes(tx: SqlTransaction, graph: TxGraph, rows: readonly NodeColumns[]): Promise<void> {
  const fresh = new Map<string, NodeColumns>();
  for (const row of rows) {
    const key = toHex(checked32({ table: 'transactions', id: row.id }, 'tx_hash', row.tx_hash));
    if (!graph.nodes.has(key)) fresh.set(key, row);
  }
  const inputs = await inputsOf(
    tx,
    [...fresh.values()].map(({ id }) => id),
  );
  for (const [key, row] of fresh) graph.add(nodeOf(key, row, inputs.get(row.id) ?? []));
}

function nodeOf(key: string, row: NodeColumns, inputs: readonly InputNode[]): TxNode {
  return {
    key,
    txId: row.tx_hash,
    rowId: row.id,
    place: row.id,
    isCoinbase: row.is_coinbase === 1,
    scriptsFailed: row.scripts_failed === 1,
    label: row.tx_label,
    isEvicted: isEvicted({ mempool: { seenAt: row.mempool_seen_at, evictedAt: row.mempool_evicted_at } }),
    inputs,
    status: checkedStatus({ table: 'transactions', id: row.id }, row.tx_status),
    block: row.block_height === null ? null : nodeBlock(row),
    confirmedOrder: row.confirmed_order,
    isChanged: false,
    news: null,
  };
}

function nodeBlock({ block_height, header_hash, block_timestamp }: NodeColumns): WalletBlock {
  return blockOf({
    block_height: block_height as number,
    header_hash: header_hash as Uint8Array,
    block_timestamp: block_timestamp as number,
  });
}

interface CreditColumns {
  readonly id: number;
  readonly tx_hash: Uint8Array;
  readonly output_index: number;
  readonly amount: string;
  readonly tx_id: number;
  readonly tx_status: number;
  readonly spender_hash: Uint8Array | null;
  readonly spent_input_index: number | null;
}

/** Credits at the inputs, and those of the rows. */
async function loadCredits(tx: SqlTransaction, graph: TxGraph, inputs: readonly InputNode[], rowIds: readonly number[]): Promise<void> {
  const at = fundedList(
    tx,
    graph.walletId,
    inputs.map(({ outpoint }) => outpoint),
  );
  const of = listTable(
    tx.kind,
    { row_id: 'integer' },
    rowIds.map((id) => [id]),
  );
  const columns = sql`u.id, u.tx_hash, u.output_index, ${amountText('u.amount')} AS amount, u.tx_id, p.tx_status, s.tx_hash AS spender_hash, u.spent_input_index`;
  const joined = sql`CROSS JOIN utxos u CROSS JOIN transactions p LEFT JOIN transactions s ON s.id = u.spent_by_tx_id`;
  const { rows } = await sql<CreditColumns>`SELECT ${columns} FROM ${at} v ${joined}
      WHERE u.tx_id = v.tx_id AND u.output_index = v.place AND p.id = u.tx_id
    UNION ALL SELECT ${columns} FROM ${of} v ${joined} WHERE u.tx_id = v.row_id AND p.id = u.tx_id`.execute(tx.db);
  for (const row of rows) {
    const credit = creditOf(row);
    if (!graph.credits.has(credit.text)) graph.credits.set(credit.text, credit);
  }
}

function creditOf(row: CreditColumns): CreditNode {
  const name = { table: 'utxos', id: row.id };
  const outpoint = { txId: checked32(name, 'tx_hash', row.tx_hash), index: checkedIndex(name, 'output_index', row.output_index) };
  const spender =
    row.spender_hash === null || row.spent_input_index === null ? null : { key: toHex(row.spender_hash), input: row.spent_input_index };
  return {
    rowId: row.id,
    outpoint,
    text: outpointText(outpoint),
    amount: checkedAmount(name, row.amount),
    parent: { key: toHex(row.tx_hash), status: checkedStatus({ table: 'transactions', id: row.tx_id }, row.tx_status) },
    spender,
    storedSpender: spender,
    news: null,
  };
}

/** Where the wallet's rows stand in each block: the last, or all of them if a coinbase of the batch may leave its block for a later one. */
export async function loadPlaces(tx: SqlTransaction, graph: TxGraph, heights: readonly number[]): Promise<void> {
  for (const height of heights) graph.places.set(height, []);
  const list = listTable(
    tx.kind,
    { height: 'integer' },
    heights.map((height) => [height]),
  );
  const mayLeave = [...graph.nodes.values()].some(({ isCoinbase, block }) => isCoinbase && block !== null);
  const last = sql`AND t.confirmed_order = (SELECT MAX(m.confirmed_order) FROM transactions m
    WHERE m.wallet_id = ${graph.walletId} AND m.block_height = v.height)`;
  const { rows } = await sql<{ height: number; place: number }>`SELECT v.height, t.confirmed_order AS place
    FROM ${list} v CROSS JOIN transactions t WHERE t.wallet_id = ${graph.walletId} AND t.block_height = v.height ${mayLeave ? sql`` : last}
    ORDER BY t.confirmed_order`.execute(tx.db);
  for (const { height, place } of rows) graph.places.get(height)?.push(place);
}

/** Whoever may fall: rows that spend an output which another live row, stored or coming in, spends too. */
function disputedRoots(graph: TxGraph, incoming: ReadonlyMap<string, readonly InputNode[]>): Uint8Array[] {
  const claims = new Map<string, Set<string>>();
  const claim = (key: string, inputs: readonly InputNode[]): void => {
    for (const { text } of inputs) {
      const keys = claims.get(text);
      if (keys === undefined) claims.set(text, new Set([key]));
      else keys.add(key);
    }
  };
  for (const node of graph.nodes.values()) claim(node.key, node.inputs);
  for (const [key, inputs] of incoming) claim(key, inputs);
  const roots = new Set<string>();
  for (const keys of claims.values()) if (keys.size > 1) for (const key of keys) roots.add(key);
  return [...roots].map((key) => fromHex(key));
}
