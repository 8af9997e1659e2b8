/**
 * The removal of what a prune pass has proven. Its steps, in one transaction:
 *
 *   1. the progress of pruning is locked, so that no block is taken away meanwhile
 *   2. the rows of the parents, of their children and of their own parents are locked, in the order of the ids
 *   3. what the proof rests on is compared with what is there now; parents for which it does not hold are kept
 *   4. tombstones are written where a slot names one of the others; one of a loser is unspent instead
 *   5. these are deleted, and noted where bytes of them rest elsewhere, and the progress is stored
 *
 * So a spend, an unspend or a block that comes between the proof and the removal
 * is seen in step 3, and one that comes later waits for the end.
 */
import { sql } from 'kysely';
import { toHex } from '../../util/bytes.ts';
import { giveBack } from '../conflicts.ts';
import type { ProvenParent, Removal, RemovalResult } from '../prune-store.ts';
import { isAsProven } from '../rules/verdict.ts';
import type { TxStoreSettings } from '../store.ts';
import { noteBlobs } from './blob-notes.ts';
import { hasTombstones, referrerPairs } from './candidates.ts';
import { readWithParents } from './families.ts';
import { forUpdate, idList } from './load.ts';
import { loadProgress, saveProgress } from './progress.ts';
import { deleteTxs, saveUnit } from './save.ts';
import type { RecordRow, TxStoreTransaction } from './tables.ts';
import { SqlUnit } from './unit.ts';

/** `notes`: the deleted have bytes elsewhere. */
export async function removeRows(
  tx: TxStoreTransaction,
  settings: TxStoreSettings,
  removal: Removal,
  notes: boolean,
): Promise<RemovalResult> {
  const progress = await loadProgress(tx, 'exclusive');
  const unchanged = new Set((await provenStill(tx, removal.parents)).map(({ parent }) => toHex(parent.txId)));
  const txIds = removal.parents.map(({ parent }) => parent.txId);
  const deleted = txIds.filter((txId) => unchanged.has(toHex(txId)));
  const changed = txIds.filter((txId) => !unchanged.has(toHex(txId)));
  const parentsMissing = await countMissingParents(tx, deleted);
  const isLoser = new Set(removal.parents.filter(({ parent }) => parent.isConflicting).map(({ parent }) => toHex(parent.txId)));
  const [losers, finals] = [deleted.filter((txId) => isLoser.has(toHex(txId))), deleted.filter((txId) => !isLoser.has(toHex(txId)))];
  await giveAllBack(tx, new SqlUnit(tx, settings, removal.height), losers);
  const tombstonesWritten = await writeTombstones(tx, finals, deleted, removal.height);
  await deleteTxs(tx, deleted);
  if (notes) await noteBlobs(tx, deleted);
  const prunedHeight = deleted.length > 0 ? Math.max(progress.prunedHeight, removal.height) : progress.prunedHeight;
  await saveProgress(tx, { ...progress, prunedHeight, unfinished: { height: removal.height, cursor: removal.cursor } });
  return { deleted, changed, tombstonesWritten, parentsMissing };
}

type LockedRow = Pick<RecordRow, 'hash' | 'version' | 'delete_at_height'>;

async function provenStill(tx: TxStoreTransaction, parents: readonly ProvenParent[]): Promise<readonly ProvenParent[]> {
  const ids = parents.map(({ parent }) => parent.txId);
  const children = parents.flatMap((proven) => proven.children.map(({ txId }) => txId));
  const rows = new Map((await lockFamilies(tx, ids, children)).map((row) => [toHex(row.hash), row]));
  const referred = new Set((await referrerPairs(tx, ids)).map(({ parent }) => toHex(parent)));
  const gone = parents.flatMap(({ parent, children: all }) =>
    all.filter(({ txId }) => !rows.has(toHex(txId))).map(({ txId }) => ({ parent: parent.txId, child: txId })),
  );
  const have = await hasTombstones(tx, gone);
  const pruned = new Set(gone.filter((_, n) => have[n]).map(({ parent, child }) => toHex(parent) + toHex(child)));
  return parents.filter((proven) => {
    const key = toHex(proven.parent.txId);
    const row = rows.get(key);
    return isAsProven(proven, {
      parent: row === undefined ? null : { version: row.version, deleteAtHeight: row.delete_at_height },
      isReferred: referred.has(key),
      childVersion: (txId) => rows.get(toHex(txId))?.version ?? null,
      hasTombstone: (txId) => pruned.has(key + toHex(txId)),
    });
  });
}

/** The parents, their children, and the parents of the parents. */
async function lockFamilies(tx: TxStoreTransaction, ids: readonly Uint8Array[], children: readonly Uint8Array[]): Promise<LockedRow[]> {
  const { rows } = await sql<LockedRow>`SELECT t.hash, t.version, t.delete_at_height FROM tx t WHERE t.hash IN (
      SELECT hash FROM ${idList(tx, [...ids, ...children])} AS v
      UNION SELECT i.prev_hash FROM ${idList(tx, ids)} AS w CROSS JOIN tx_in i WHERE i.tx_hash = w.hash)
    ORDER BY t.hash ${forUpdate(tx.kind)}`.execute(tx.db);
  return rows;
}

/** Parents of the deleted that are gone already, for each of the deleted. */
async function countMissingParents(tx: TxStoreTransaction, deleted: readonly Uint8Array[]): Promise<number> {
  if (deleted.length === 0) return 0;
  const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM (
      SELECT DISTINCT i.tx_hash, i.prev_hash FROM ${idList(tx, deleted)} AS v CROSS JOIN tx_in i WHERE i.tx_hash = v.hash) AS pair
    WHERE NOT EXISTS (SELECT 1 FROM tx t WHERE t.hash = pair.prev_hash)`.execute(tx.db);
  return Number(rows[0].count);
}

/** What losers hold of others. */
async function giveAllBack(tx: TxStoreTransaction, unit: SqlUnit, losers: readonly Uint8Array[]): Promise<void> {
  if (losers.length === 0) return;
  const txs = await readWithParents(unit, losers);
  await unit.readTombstones(txs.flatMap((loser) => unit.inputs(loser).map(({ txId: parent }) => ({ parent, child: loser.txId }))));
  for (const loser of txs) giveBack(unit, loser);
  await saveUnit(tx, unit);
}

/** In every record that stays and has a slot that names one of the deleted that were final. */
async function writeTombstones(
  tx: TxStoreTransaction,
  finals: readonly Uint8Array[],
  deleted: readonly Uint8Array[],
  height: number,
): Promise<number> {
  if (finals.length === 0) return 0;
  const { numAffectedRows } = await sql`INSERT INTO tombstone (tx_hash, child_hash, pruned_at)
    SELECT DISTINCT o.tx_hash, i.tx_hash, CAST(${height} AS bigint) FROM ${idList(tx, finals)} AS v CROSS JOIN tx_in i CROSS JOIN tx_out o
    WHERE i.tx_hash = v.hash AND o.tx_hash = i.prev_hash AND o.idx = i.prev_idx AND o.spent_by_hash = i.tx_hash
      AND o.tx_hash NOT IN (SELECT hash FROM ${idList(tx, deleted)} AS w)
    ON CONFLICT (tx_hash, child_hash) DO UPDATE SET pruned_at = excluded.pruned_at`.execute(tx.db);
  return Number(numAffectedRows);
}
