/**
 * Wallets whose feed cannot go on, because the store has forgotten what happened
 * after their position or is another store, are brought to its newest block from
 * its index of scripts. What the wallets have up to the newest block that both
 * know stays; what was in later blocks is found anew.
 *
 * What the wallets know of later blocks goes in the same transaction in which the
 * feed's position becomes a mark of the rescan; the position moves on last. If the
 * process ends between the two, or the rescan fails, no feed goes on, and the next
 * rescan begins where this one began.
 */
import { UnspentError } from '../../util/errors.ts';
import { WALLET_HEIGHT_MAX, WALLET_PAGE_ROWS } from '../../util/limits.ts';
import { rescanHeight, rescanMarker } from '../feed/rescan-marker.ts';
import type { FeedSource, OtherOwners } from '../feed/wallet-feed.ts';
import type { WalletBlock, WalletId, WalletInfo } from '../records.ts';
import type { WalletStore } from '../store.ts';
import { foundTxs } from './found-txs.ts';
import { isPrunedTx } from './pruned-tx.ts';
import type { ConfirmedTx, ScriptHistory } from './script-history.ts';

/** The wallets, and the chain that they are brought to the end of. */
export interface RescanParts {
  readonly store: WalletStore;
  readonly history: ScriptHistory;
  readonly source: FeedSource;
  readonly otherOwners?: OtherOwners | undefined;
  /** What else a wallet has up to the block, which is its tip: addresses that were not given out, say. False: the chain went on meanwhile. */
  findMore(wallet: WalletInfo, to: WalletBlock): Promise<boolean>;
}

export interface RescanRequest {
  /** The name under which the wallets are fed. */
  readonly feed: string;
  /** Nothing from this height on is believed. Default: what stands in blocks that the store has, too, is. */
  readonly from?: number | undefined;
}

export interface RescanResult {
  /** The newest block that was believed; null: none. */
  readonly from: WalletBlock | null;
  readonly to: WalletBlock;
  /** Transactions that were found, over all wallets. */
  readonly txs: number;
  /** Those among them whose bytes the store has forgotten. */
  readonly pruned: number;
}

/** Throws UNSUPPORTED where the store keeps no history, PRUNED as `foundTxs`, FEED_MOVED where another process feeds the wallets or rescans them. */
export async function rescanWallets(parts: RescanParts, { feed, from: asked = WALLET_HEIGHT_MAX }: RescanRequest): Promise<RescanResult> {
  const { store, history, source } = parts;
  const after = await store.feedPosition(feed);
  const heightMin = Math.min(asked, rescanHeight(after) ?? WALLET_HEIGHT_MAX);
  const { block: to, position } = await source.newest(new AbortController().signal);
  if (to === null) throw new UnspentError('STORE_MISSING', 'the store has no block yet, so there is nothing to scan');
  const from = await newestCommon(store, history, heightMin - 1);
  const first = (from?.height ?? -1) + 1;
  // What spent their coins in blocks that it does not have, nobody could tell.
  if (from !== null) await history.needFrom(first);
  const marker = rescanMarker(first);
  await store.rollbackToBlock(first, { feed, after, position: marker });
  const found: ConfirmedTx[] = [];
  const wallets = await store.listWallets();
  for (const wallet of wallets) {
    found.push(...(await takeIn(parts, wallet.id, from, to)));
    if (!(await parts.findMore(wallet, to))) throw moved();
  }
  await store.connectBlock({ block: to, txs: [], feed: { feed, after: marker, position } });
  return { from, to, txs: found.length, pruned: found.filter(({ tx }) => isPrunedTx(tx)).length };
}

/** Of the blocks that the wallets know, up to a height. */
async function newestCommon(store: WalletStore, history: ScriptHistory, heightMax: number): Promise<WalletBlock | null> {
  const known = await store.listSyncedBlocks(0, Math.max(0, heightMax));
  let [low, high] = [0, known.filter((block) => block.height <= heightMax).length];
  // Below a block that both know, both know all.
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((await history.txsUpTo(known[middle], [])) === null) high = middle;
    else low = middle + 1;
  }
  return low === 0 ? null : known[low - 1];
}

/** What happened to the addresses and the coins of the wallet between two blocks. */
async function takeIn(
  { store, history, otherOwners }: RescanParts,
  walletId: WalletId,
  from: WalletBlock | null,
  to: WalletBlock,
): Promise<ConfirmedTx[]> {
  const scripts: Uint8Array[] = [];
  for (let after: Uint8Array | undefined; ; ) {
    const page = await store.listAddresses(walletId, { after, limit: WALLET_PAGE_ROWS });
    scripts.push(...page.map(({ script }) => script));
    if (page.length < WALLET_PAGE_ROWS) break;
    after = page[page.length - 1].script;
  }
  const coins = (await store.listOutputsToWatch(walletId)).map(({ outpoint }) => outpoint);
  const unmined = await store.listTxs(walletId, 'unmined');
  const found = await history.txsUpTo(to, scripts, [...coins, ...unmined.flatMap(({ tx }) => tx.inputs)]);
  if (found === null) throw moved();
  const later = found.filter(({ block }) => block.height > (from?.height ?? -1));
  await store.applyTxBatch(walletId, await foundTxs(store, walletId, later, coins, otherOwners), to);
  return later;
}

function moved(): UnspentError {
  return new UnspentError('FEED_MOVED', 'the chain went on meanwhile: scan again');
}
