/**
 * Finds the past of an account: how far its addresses are used, by the index of
 * the chain, and what happened to them up to the block the wallets are at. The
 * addresses and what happened are stored in one database transaction; whatever
 * comes after that block is the feed's, which knows the addresses by then.
 */

import { WALLET_PAGE_ROWS } from '../../../util/limits.ts';
import { foundTxs } from '../../past/found-txs.ts';
import type { ScriptHistory } from '../../past/script-history.ts';
import type { AccountInfo, AddressBranch, WalletBlock, WalletInfo } from '../../records.ts';
import type { FeedPlace } from '../../store.ts';
import type { WalletContext } from './wallet-context.ts';

/** Up to where an account is scanned: the block that the wallets are at, and where their feed is then. */
export interface ScanEnd {
  readonly block: WalletBlock | null;
  /** FEED_MOVED if it is elsewhere when the scan is stored. Undefined: nobody feeds the wallets meanwhile. */
  readonly feed?: FeedPlace | undefined;
}

/**
 * Looks from the first address that was not given out; with `givenOut` also at those that were and that nothing has paid
 * as far as the wallet knows: they may have been given out before anybody looked. False: the chain has another block by
 * now, so it is to be done again once the feed has caught up. Throws UNSUPPORTED where the store keeps no history, FEED_MOVED.
 */
export async function scanAccount(
  context: WalletContext,
  wallet: WalletInfo,
  info: AccountInfo,
  history: ScriptHistory,
  { block, feed }: ScanEnd,
  givenOut: boolean,
): Promise<boolean> {
  const { store, keys, gapLimit, now } = context;
  const account = context.account(info);
  const next = nextIndexes(info);
  const branches = await keys.discover(account, (scripts) => history.used(scripts), { gapLimit, from: next });
  const ends = branches.map(({ branch, lastUsed }) => {
    // A descriptor with one script has that one, used or not.
    const last = account.descriptor(branch).isRanged ? (lastUsed ?? -1) : 0;
    return { branch, last, first: next[branch] };
  });
  const derive = keys.addressesOf(account);
  const found = ends.flatMap(({ branch, first, last }) => scriptsBetween((index) => derive(branch, index)?.script, first, last));
  const scripts = givenOut ? [...(await missedScripts(context, wallet, info, history)), ...found] : found;
  if (scripts.length === 0 && (block === null || wallet.syncedTo !== null)) return true;
  const txs = block === null ? [] : await history.txsUpTo(block, scripts);
  if (txs === null) return false;
  const horizons = ends.flatMap(({ branch, first, last }) => (last < first ? [] : [{ accountId: info.id, branch, index: last, derive }]));
  await store.applyScanBatch(wallet.id, {
    horizons,
    txs: await foundTxs(store, wallet.id, txs),
    syncedBlocks: block === null ? [] : [block],
    now: now(),
    feed,
  });
  return true;
}

/** Of addresses that were given out: those that the chain has paid, and the wallet does not know it. */
async function missedScripts(
  { store }: WalletContext,
  { id }: WalletInfo,
  info: AccountInfo,
  history: ScriptHistory,
): Promise<Uint8Array[]> {
  const missed: Uint8Array[] = [];
  for (let after: Uint8Array | undefined; ; ) {
    const page = await store.listAddresses(id, { after, limit: WALLET_PAGE_ROWS });
    const unused = page.filter(({ derivation, isUsed }) => derivation?.accountId === info.id && !isUsed).map(({ script }) => script);
    const isPaid = await history.used(unused);
    missed.push(...unused.filter((_script, i) => isPaid[i]));
    if (page.length < WALLET_PAGE_ROWS) return missed;
    after = page[page.length - 1].script;
  }
}

function nextIndexes({ nextExternalIndex, nextInternalIndex }: AccountInfo): Readonly<Record<AddressBranch, number>> {
  return { 0: nextExternalIndex, 1: nextInternalIndex };
}

function scriptsBetween(scriptAt: (index: number) => Uint8Array | undefined, first: number, last: number): Uint8Array[] {
  const scripts: Uint8Array[] = [];
  for (let index = first; index <= last; index++) {
    const script = scriptAt(index);
    if (script !== undefined) scripts.push(script);
  }
  return scripts;
}
