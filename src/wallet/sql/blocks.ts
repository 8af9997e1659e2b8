/**
 * Block rows: the best chain, as far as wallets need it, and where each wallet
 * stands on it. Blocks belong to all wallets of the database.
 */

import { listTable } from '../../sql/lists.ts';
import type { UnspentError } from '../../util/errors.ts';
import type { WalletBlock, WalletId } from '../records.ts';
import { checkBlock, sameBlock } from '../rules/block.ts';
import { refusal } from '../rules/failures.ts';
import type { SqlTransaction } from './database.ts';
import { checked32 } from './row-checks.ts';

interface BlockColumns {
  readonly block_height: number;
  readonly header_hash: Uint8Array;
  readonly block_timestamp: number;
}

export function blockOf({ block_height: height, header_hash, block_timestamp: timestamp }: BlockColumns): WalletBlock {
  return { height, hash: checked32({ table: 'blocks', id: height }, 'header_hash', header_hash), timestamp };
}

export async function listBlocks(tx: SqlTransaction, from: number, to: number): Promise<WalletBlock[]> {
  const rows = await tx.db
    .selectFrom('blocks')
    .selectAll()
    .where('block_height', '>=', from)
    .where('block_height', '<=', to)
    .orderBy('block_height')
    .execute();
  return rows.map(blockOf);
}

/** Stores those that are missing. INVALID_PARAM; BLOCK_MISMATCH: there is another at that height, or that one at another height. */
export async function storeBlocks(tx: SqlTransaction, blocks: readonly WalletBlock[]): Promise<void> {
  if (blocks.length === 0) return;
  for (const block of blocks) checkBlock(block);
  const list = listTable(
    tx.kind,
    { block_height: 'integer', header_hash: 'bytes', block_timestamp: 'integer' },
    blocks.map(({ height, hash, timestamp }) => [height, hash, timestamp]),
  );
  await tx.db
    .insertInto('blocks')
    .columns(['block_height', 'header_hash', 'block_timestamp'])
    // SQLite reads ON CONFLICT behind a join as its condition; WHERE true ends the join.
    .expression((eb) => eb.selectFrom(list.as('v')).select(['v.block_height', 'v.header_hash', 'v.block_timestamp']).where(eb.lit(true)))
    // Also if another height has that hash: the check below then finds none at this one.
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await compareBlocks(tx, blocks, refusal.blockMismatch);
}

/** All of them are there, as they are given. BLOCK_UNKNOWN, BLOCK_MISMATCH. */
export async function checkBlocks(tx: SqlTransaction, blocks: readonly WalletBlock[]): Promise<void> {
  if (blocks.length > 0) await compareBlocks(tx, blocks, refusal.blockUnknown);
}

async function compareBlocks(
  tx: SqlTransaction,
  blocks: readonly WalletBlock[],
  missing: (block: WalletBlock) => UnspentError,
): Promise<void> {
  const list = listTable(
    tx.kind,
    { height: 'integer' },
    [...new Set(blocks.map(({ height }) => height))].map((height) => [height]),
  );
  const rows = await tx.db
    .selectFrom(list.as('v'))
    .crossJoin('blocks as b')
    .whereRef('b.block_height', '=', 'v.height')
    .select(['b.block_height', 'b.header_hash', 'b.block_timestamp'])
    .execute();
  const stored = new Map(rows.map((row) => [row.block_height, blockOf(row)]));
  for (const block of blocks) {
    const there = stored.get(block.height);
    if (there === undefined) throw missing(block);
    if (!sameBlock(there, block)) throw refusal.blockMismatch(block);
  }
}

/** Null: none, or the wallet is not synced. */
export async function syncedHeight(tx: SqlTransaction, walletId: WalletId): Promise<number | null> {
  const row = await tx.db.selectFrom('wallet_sync_states').select('synced_height').where('wallet_id', '=', walletId).executeTakeFirst();
  return row?.synced_height ?? null;
}

/** The block row must be there. */
export async function setSynced(tx: SqlTransaction, walletId: WalletId, height: number | null): Promise<void> {
  await tx.db.updateTable('wallet_sync_states').set({ synced_height: height }).where('wallet_id', '=', walletId).execute();
}

/**
 * The block row must be there. Wallets that were at the block before it, or at none, are at it now; those. One that is
 * further back was rewound and is to be scanned: what it lacks would be taken for known.
 */
export async function advanceSynced(tx: SqlTransaction, height: number): Promise<WalletId[]> {
  const before = await highestBlockBelow(tx, height);
  const rows = await tx.db
    .updateTable('wallet_sync_states')
    .set({ synced_height: height })
    .where((eb) => eb.or([eb('synced_height', 'is', null), eb('synced_height', '=', before?.height ?? null)]))
    .returning('wallet_id')
    .execute();
  return rows.map((row) => row.wallet_id);
}

export async function highestBlockBelow(tx: SqlTransaction, height: number): Promise<WalletBlock | null> {
  const row = await tx.db
    .selectFrom('blocks')
    .selectAll()
    .where('block_height', '<', height)
    .orderBy('block_height', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : blockOf(row);
}
