/**
 * Blocks come and go: transactions with the tip they lead to, scans, connected
 * blocks, rollbacks of the whole database and rewinds of one wallet. Each is one
 * transaction of the database, which the caller began.
 */
import type { WalletBlock, WalletId } from '../records.ts';
import { parentsFirst } from '../rules/batch-order.ts';
import { refusal } from '../rules/failures.ts';
import { checkNewTx } from '../rules/new-tx.ts';
import type { ConnectedBlock, FeedPosition, NewTx, ScanBatch } from '../store.ts';
import { insertUpTo } from './addresses.ts';
import { advanceSynced, checkBlocks, highestBlockBelow, setSynced, storeBlocks, syncedHeight } from './blocks.ts';
import type { SqlTransaction } from './database.ts';
import { disconnect } from './disconnect.ts';
import type { EventLog } from './event-log.ts';
import { replaceForms } from './forms.ts';
import { TxGraph } from './graph.ts';
import { loadIncoming } from './graph-load.ts';
import { saveGraph } from './graph-save.ts';
import { takeIn } from './incoming.ts';
import { labelsOfTxs } from './labels.ts';
import { endSpentLeases, walletsWithLeasesOfSpends } from './lease-ends.ts';
import { lockEverything, lockWallet, lockWallets } from './locks.ts';
import { loadOwners } from './owners.ts';
import { moveWalletFeed } from './wallets.ts';
import { checkWatchVersion, holdFeed } from './watched.ts';

/** One transaction. Its block must be stored. */
export async function addOne(tx: SqlTransaction, events: EventLog, news: NewTx): Promise<void> {
  checkNewTx(news);
  await lockWallet(tx, news.walletId);
  if (news.block !== undefined) await checkBlocks(tx, [news.block]);
  await takeAllIn(tx, events, news.walletId, [news]);
  if (news.block !== undefined) await endSpentLeases(tx, events, [news.walletId]);
}

export async function addBatch(
  tx: SqlTransaction,
  events: EventLog,
  walletId: WalletId,
  txs: readonly NewTx[],
  syncedTo?: WalletBlock,
): Promise<void> {
  await lockWallet(tx, walletId);
  checkMembers(walletId, txs);
  await applyMembers(tx, events, walletId, txs, syncedTo);
  await endSpentLeases(tx, events, [walletId]);
}

/** Horizons first, then transactions, then blocks. */
export async function addScan(tx: SqlTransaction, events: EventLog, walletId: WalletId, scan: ScanBatch): Promise<void> {
  checkMembers(walletId, scan.txs);
  // The feed is locked before the wallet, as for a block.
  if (scan.feed !== undefined) await holdFeed(tx, scan.feed);
  await lockWallet(tx, walletId);
  for (const horizon of scan.horizons) await insertUpTo(tx, walletId, horizon, scan.now);
  await applyMembers(tx, events, walletId, scan.txs);
  await storeBlocks(tx, scan.syncedBlocks);
  const tip = scan.syncedBlocks.at(-1);
  if (tip !== undefined) await moveTip(tx, events, walletId, tip);
  await endSpentLeases(tx, events, [walletId]);
}

/** The statements are as many as the wallets that the block touches need, whatever others there are. */
export async function addBlock(tx: SqlTransaction, events: EventLog, { block, txs, watchVersion, feed }: ConnectedBlock): Promise<void> {
  for (const { walletId, tx: news } of txs) if (!news) throw refusal.invalid(`the block has no transaction for wallet ${walletId}`);
  if (feed !== undefined) await moveWalletFeed(tx, feed);
  const own = Map.groupBy(txs, ({ walletId }) => walletId);
  const leasing = await walletsWithLeasesOfSpends(tx);
  await lockWallets(tx, [...new Set([...own.keys(), ...leasing])]);
  if (watchVersion !== undefined) await checkWatchVersion(tx, watchVersion);
  await storeBlocks(tx, [block, ...txs.flatMap((news) => news.block ?? [])]);
  const moved = new Set(await advanceSynced(tx, block.height));
  for (const walletId of [...new Set([...moved, ...own.keys()])].sort((a, b) => a - b)) {
    if (moved.has(walletId)) events.tip(walletId, block);
    const members = own.get(walletId);
    if (members !== undefined) await takeAllIn(tx, events, walletId, parentsFirst(members));
  }
  await endSpentLeases(tx, events, [...new Set([...own.keys(), ...leasing])]);
}

/** INVALID_PARAM, before anything is written. */
function checkMembers(walletId: WalletId, txs: readonly NewTx[]): void {
  for (const news of txs) {
    if (news.walletId !== walletId) throw refusal.invalid(`the batch has a transaction of wallet ${news.walletId}, and is not for it`);
    if (!news.tx) throw refusal.invalid('a member of the batch has no transaction');
  }
}

/** The wallet is locked. The tip and the blocks are stored first. */
async function applyMembers(
  tx: SqlTransaction,
  events: EventLog,
  walletId: WalletId,
  txs: readonly NewTx[],
  syncedTo?: WalletBlock,
): Promise<void> {
  const blocks = txs.flatMap(({ block }) => (block === undefined ? [] : [block]));
  await storeBlocks(tx, syncedTo === undefined ? blocks : [syncedTo, ...blocks]);
  if (syncedTo !== undefined) await moveTip(tx, events, walletId, syncedTo);
  if (txs.length > 0) await takeAllIn(tx, events, walletId, parentsFirst(txs));
}

/** A member that makes no sense in itself is refused after those before it: they may be the first to be refused. */
async function takeAllIn(tx: SqlTransaction, events: EventLog, walletId: WalletId, txs: readonly NewTx[]): Promise<void> {
  const faults = txs.map(faultOf);
  const firstFault = faults.findIndex((fault) => fault !== undefined);
  const given = firstFault === -1 ? txs : txs.slice(0, firstFault);
  const before = await graphOf(tx, events, walletId, given);
  const sound = await replaceForms(tx, events, before, given);
  const graph = sound === given ? before : await graphOf(tx, events, walletId, sound);
  const known = { owners: await loadOwners(tx, walletId, sound), labels: await labelsOfTxs(tx, walletId, sound) };
  for (const news of sound) takeIn(graph, known, news);
  if (firstFault !== -1) throw faults[firstFault];
  await saveGraph(tx, graph);
}

async function graphOf(tx: SqlTransaction, events: EventLog, walletId: WalletId, txs: readonly NewTx[]): Promise<TxGraph> {
  const graph = new TxGraph(walletId, events);
  await loadIncoming(tx, graph, txs);
  return graph;
}

function faultOf(news: NewTx): unknown {
  try {
    checkNewTx(news);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The block is stored. Null: the wallet is on no block. */
async function moveTip(tx: SqlTransaction, events: EventLog, walletId: WalletId, block: WalletBlock | null): Promise<void> {
  const height = block?.height ?? null;
  if ((await syncedHeight(tx, walletId)) === height) return;
  await setSynced(tx, walletId, height);
  if (block !== null) events.tip(walletId, block);
}

/** All wallets. Tips and birthdays go down first, because blocks that something stands on cannot be deleted. */
export async function removeBlocks(tx: SqlTransaction, events: EventLog, height: number, feed?: FeedPosition): Promise<void> {
  if (!Number.isInteger(height) || height < 0) throw refusal.invalid(`no block has the height ${height}`);
  if (feed !== undefined) await moveWalletFeed(tx, feed);
  const walletIds = await lockEverything(tx);
  const below = await highestBlockBelow(tx, height);
  const synced = await lowerHeights(tx, height, below?.height ?? null);
  for (const walletId of walletIds) {
    const from = synced.get(walletId);
    if (from !== undefined) events.add(walletId, { kind: 'reorg', from, to: height - 1, depth: from - height + 1 });
    await disconnect(tx, events, walletId, height);
    if (from !== undefined && below !== null) events.tip(walletId, below);
  }
  await tx.db.deleteFrom('blocks').where('block_height', '>=', height).execute();
  await endSpentLeases(tx, events, walletIds);
}

/** Returns where the wallets stood whose tip went down. */
async function lowerHeights(tx: SqlTransaction, height: number, below: number | null): Promise<Map<WalletId, number>> {
  const states = tx.db.selectFrom('wallet_sync_states').select(['wallet_id', 'synced_height']).where('synced_height', '>=', height);
  const synced = new Map((await states.execute()).map((state) => [state.wallet_id, state.synced_height as number]));
  await tx.db.updateTable('wallet_sync_states').set({ synced_height: below }).where('synced_height', '>=', height).execute();
  await tx.db.updateTable('wallet_sync_states').set({ birthday_height: below }).where('birthday_height', '>=', height).execute();
  return synced;
}

/** One wallet; blocks stay, and so do the others. */
export async function rewindTo(tx: SqlTransaction, events: EventLog, walletId: WalletId, block: WalletBlock): Promise<void> {
  await lockWallet(tx, walletId);
  await storeBlocks(tx, [block]);
  const height = block.height + 1;
  const below = await highestBlockBelow(tx, height);
  await tx.db
    .updateTable('wallet_sync_states')
    .set({ birthday_height: below?.height ?? null })
    .where('wallet_id', '=', walletId)
    .where('birthday_height', '>=', height)
    .execute();
  await disconnect(tx, events, walletId, height);
  await moveTip(tx, events, walletId, block);
  await endSpentLeases(tx, events, [walletId]);
}
