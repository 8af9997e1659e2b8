/** What a prune pass asks of the store on SQL. Each answer is of one moment, and a few statements for all ids. */
import { sql } from 'kysely';
import { compareBytes, toHex } from '../../util/bytes.ts';
import type { ChildRead, ParentChild, PruneCursor, PruneParent } from '../prune-store.ts';
import { blockFromRow, blockRowsOf, idList, recordRows, tombstoneRows } from './load.ts';
import type { TxStoreTransaction } from './tables.ts';
import { distinct, stateFromRow } from './unit.ts';

export async function readDue(
  { db }: TxStoreTransaction,
  allowedHeight: number,
  after: PruneCursor | null,
  limit: number,
): Promise<readonly PruneCursor[]> {
  const rest = after === null ? sql.raw('') : sql`AND (delete_at_height, hash) > (${after.height}, ${after.txId})`;
  const { rows } = await sql<{ hash: Uint8Array; delete_at_height: number }>`SELECT hash, delete_at_height FROM tx
    WHERE delete_at_height <= ${allowedHeight} ${rest} ORDER BY delete_at_height, hash LIMIT ${limit}`.execute(db);
  return rows.map(({ hash, delete_at_height }) => ({ height: delete_at_height, txId: hash }));
}

export async function countDueRows({ db }: TxStoreTransaction, height: number, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM (
    SELECT 1 FROM tx t WHERE t.delete_at_height <= ${height} LIMIT ${limit}) AS counted`.execute(db);
  return Number(rows[0].count);
}

export async function readPruneParents(tx: TxStoreTransaction, txIds: readonly Uint8Array[]): Promise<(PruneParent | null)[]> {
  const rows = await recordRows(tx, distinct(txIds), false);
  const ids = rows.map(({ hash }) => hash);
  const children = byParent(await childPairs(tx, ids));
  const referrers = byParent(await referrerPairs(tx, ids));
  const parents = new Map<string, PruneParent>();
  for (const row of rows) {
    const key = toHex(row.hash);
    const { version, deleteAtHeight, preserveUntil, isConflicting, spentCount, spendable } = stateFromRow(row);
    parents.set(key, {
      txId: row.hash,
      version,
      deleteAtHeight,
      preserveUntil,
      isConflicting,
      hasUnspentSlot: spentCount < spendable,
      children: children.get(key) ?? [],
      referrer: referrers.get(key)?.[0] ?? null,
    });
  }
  return txIds.map((txId) => parents.get(toHex(txId)) ?? null);
}

interface PairRow {
  readonly parent: Uint8Array;
  readonly child: Uint8Array;
}

/** Every spender of every output, once. */
async function childPairs(tx: TxStoreTransaction, txIds: readonly Uint8Array[]): Promise<PairRow[]> {
  if (txIds.length === 0) return [];
  const { rows } = await sql<PairRow>`SELECT DISTINCT o.tx_hash AS parent, o.spent_by_hash AS child
    FROM ${idList(tx, txIds)} AS v CROSS JOIN tx_out o WHERE o.tx_hash = v.hash AND o.spent_by_hash IS NOT NULL`.execute(tx.db);
  return rows;
}

/** F3: unmined and conflicting records with an input on one of these, each once. It is the rule `needsParents` in SQL. */
export async function referrerPairs(tx: TxStoreTransaction, txIds: readonly Uint8Array[]): Promise<PairRow[]> {
  if (txIds.length === 0) return [];
  const { rows } = await sql<PairRow>`SELECT DISTINCT i.prev_hash AS parent, i.tx_hash AS child
    FROM ${idList(tx, txIds)} AS v CROSS JOIN tx_in i CROSS JOIN tx t
    WHERE i.prev_hash = v.hash AND t.hash = i.tx_hash AND (t.unmined_since IS NOT NULL OR t.is_conflicting = 1)`.execute(tx.db);
  return rows;
}

/** The children of each parent, by id. */
function byParent(pairs: readonly PairRow[]): ReadonlyMap<string, readonly Uint8Array[]> {
  const sorted = pairs.toSorted((a, b) => compareBytes(a.child, b.child));
  const groups = Map.groupBy(sorted, ({ parent }) => toHex(parent));
  return new Map([...groups].map(([key, group]) => [key, group.map(({ child }) => child)]));
}

export async function readChildFacts(tx: TxStoreTransaction, txIds: readonly Uint8Array[]): Promise<ChildRead[]> {
  const rows = await recordRows(tx, distinct(txIds), false);
  const blocks = Map.groupBy(
    await blockRowsOf(
      tx,
      rows.map(({ hash }) => hash),
    ),
    ({ tx_hash }) => toHex(tx_hash),
  );
  const found = new Map(
    rows.map((row): [string, ChildRead] => {
      const key = toHex(row.hash);
      const child = { ...stateFromRow(row), txId: row.hash, blocks: (blocks.get(key) ?? []).map(blockFromRow) };
      return [key, { kind: 'present', child }];
    }),
  );
  return txIds.map((txId) => found.get(toHex(txId)) ?? { kind: 'absent' });
}

export async function hasTombstones(tx: TxStoreTransaction, pairs: readonly ParentChild[]): Promise<boolean[]> {
  const key = (parent: Uint8Array, child: Uint8Array): string => toHex(parent) + toHex(child);
  const wanted = new Map(pairs.map((pair) => [key(pair.parent, pair.child), pair]));
  const rows = await tombstoneRows(tx, [...wanted.values()]);
  const found = new Set(rows.map((row) => key(row.tx_hash, row.child_hash)));
  return pairs.map(({ parent, child }) => found.has(key(parent, child)));
}
