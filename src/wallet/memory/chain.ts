/**
 * Blocks come and go: batches of transactions with the tip they lead to, scans,
 * blocks that are connected, rollbacks of the whole database and rewinds of one
 * wallet.
 */
import { equalBytes } from '../../util/bytes.ts';
import type { WalletBlock, WalletId } from '../records.ts';
import { parentsFirst } from '../rules/batch-order.ts';
import { checkBlock, sameBlock } from '../rules/block.ts';
import { refusal } from '../rules/failures.ts';
import type { ConnectedBlock, FeedPlace, FeedPosition, NewTx, ScanBatch } from '../store.ts';
import { extendAddresses } from './accounts.ts';
import { dropBranch, setStatus } from './branch.ts';
import { addTx, dropOtherForms } from './incoming.ts';
import type { MemoryTables, MemoryTx, MemoryWallet } from './tables.ts';

/** Throws INVALID_PARAM, BLOCK_MISMATCH. */
export function storeBlock(tables: MemoryTables, block: WalletBlock): void {
  checkBlock(block);
  const stored = tables.blocks.get(block.height);
  if (stored !== undefined) {
    if (!sameBlock(stored, block)) throw refusal.blockMismatch(block);
    return;
  }
  for (const { hash } of tables.blocks.values()) if (equalBytes(hash, block.hash)) throw refusal.blockMismatch(block);
  tables.blocks.set(block.height, block);
}

export function moveTip(tables: MemoryTables, wallet: MemoryWallet, block: WalletBlock): void {
  storeBlock(tables, block);
  setTip(tables, wallet, block);
}

function setTip(tables: MemoryTables, wallet: MemoryWallet, block: WalletBlock | null): void {
  const { syncedTo } = wallet.info.value;
  if (syncedTo?.height === block?.height) return;
  wallet.info.value = { ...wallet.info.value, syncedTo: block };
  if (block !== null) tables.emit(wallet.id, { kind: 'sync.tip', height: block.height, hash: block.hash });
}

export function applyBatch(tables: MemoryTables, walletId: WalletId, txs: readonly NewTx[], syncedTo?: WalletBlock): void {
  const wallet = tables.wallet(walletId);
  checkMembers(walletId, txs);
  if (syncedTo !== undefined) moveTip(tables, wallet, syncedTo);
  for (const { block } of txs) if (block !== undefined) storeBlock(tables, block);
  for (const news of dropOtherForms(tables, wallet, parentsFirst(txs))) addTx(tables, news);
}

/** INVALID_PARAM, before anything is written. */
function checkMembers(walletId: WalletId, txs: readonly NewTx[]): void {
  for (const news of txs) {
    if (news.walletId !== walletId) throw refusal.invalid(`the batch has a transaction of wallet ${news.walletId}, and is not for it`);
    if (!news.tx) throw refusal.invalid('a member of the batch has no transaction');
  }
}

export function applyScan(tables: MemoryTables, walletId: WalletId, { horizons, txs, syncedBlocks, now, feed }: ScanBatch): void {
  checkMembers(walletId, txs);
  if (feed !== undefined) checkFeed(tables, feed);
  const wallet = tables.wallet(walletId);
  for (const { accountId, branch, index, derive } of horizons) extendAddresses(tables, wallet, accountId, branch, index, derive, now);
  applyBatch(tables, walletId, txs);
  for (const block of syncedBlocks) storeBlock(tables, block);
  const tip = syncedBlocks.at(-1);
  if (tip !== undefined) moveTip(tables, wallet, tip);
}

export function connect(tables: MemoryTables, { block, txs, watchVersion, feed }: ConnectedBlock): void {
  for (const { walletId, tx } of txs) if (!tx) throw refusal.invalid(`the block has no transaction for wallet ${walletId}`);
  moveFeed(tables, feed);
  for (const { walletId } of txs) tables.wallet(walletId);
  if (watchVersion !== undefined && watchVersion !== tables.watchVersion.value) throw refusal.watchChanged();
  storeBlock(tables, block);
  for (const { id, info } of tables.walletsInOrder()) {
    const own = txs.filter(({ walletId }) => walletId === id);
    const { syncedTo } = info.value;
    // One that was rewound stays where it is until it is scanned.
    const isNext = syncedTo === null || syncedTo.height === highestBelow(tables, block.height)?.height;
    applyBatch(tables, id, own, isNext ? block : undefined);
  }
}

/** FEED_MOVED. */
function moveFeed(tables: MemoryTables, move: FeedPosition | undefined): void {
  if (move === undefined) return;
  const { feed, after, position } = move;
  checkFeed(tables, { feed, position: after });
  tables.feeds.set(feed, { feed, position });
}

/** FEED_MOVED. */
function checkFeed(tables: MemoryTables, { feed, position }: FeedPlace): void {
  if ((tables.feeds.get(feed)?.position ?? null) !== position) throw refusal.feedMoved(feed);
}

export function rollback(tables: MemoryTables, height: number, feed: FeedPosition | undefined): void {
  if (!Number.isInteger(height) || height < 0) throw refusal.invalid(`no block has the height ${height}`);
  moveFeed(tables, feed);
  const gone = [...tables.blocks.values()].filter((block) => block.height >= height);
  for (const block of gone) tables.blocks.delete(block.height);
  for (const wallet of tables.walletsInOrder()) {
    const from = wallet.info.value.syncedTo?.height ?? -1;
    if (from >= height) tables.emit(wallet.id, { kind: 'reorg', from, to: height - 1, depth: from - height + 1 });
    disconnect(tables, wallet, height);
    if (from >= height) setTip(tables, wallet, highestBelow(tables, height));
  }
}

export function rewind(tables: MemoryTables, wallet: MemoryWallet, block: WalletBlock): void {
  storeBlock(tables, block);
  disconnect(tables, wallet, block.height + 1);
  setTip(tables, wallet, block);
}

/** The wallet's rows from `height` on are in no block any more. A coinbase is orphaned, and what was built on it fails. */
function disconnect(tables: MemoryTables, wallet: MemoryWallet, height: number): void {
  const { birthdayBlock } = wallet.info.value;
  if (birthdayBlock !== null && birthdayBlock.height >= height) {
    wallet.info.value = { ...wallet.info.value, birthdayBlock: highestBelow(tables, height) };
  }
  const orphans: MemoryTx[] = [];
  for (const row of confirmedFrom(wallet, height)) {
    wallet.txs.set(row.key, { ...row, block: null, confirmedOrder: null });
    tables.emit(wallet.id, { kind: 'tx.unconfirmed', txId: row.tx.id, height: row.block!.height });
    if (!row.tx.isCoinbase) continue;
    setStatus(tables, wallet, row, 'orphaned', 'disconnected');
    orphans.push(row);
  }
  dropBranch(tables, wallet, orphans, { kind: 'orphaned' });
}

/** Newest first. */
function confirmedFrom(wallet: MemoryWallet, height: number): MemoryTx[] {
  const rows = [...wallet.txs.values()].filter(({ block }) => block !== null && block.height >= height);
  return rows.sort((a, b) => b.block!.height - a.block!.height || b.confirmedOrder! - a.confirmedOrder!);
}

export function highestBelow(tables: MemoryTables, height: number): WalletBlock | null {
  let best: WalletBlock | null = null;
  for (const block of tables.blocks.values()) if (block.height < height && block.height > (best?.height ?? -1)) best = block;
  return best;
}
