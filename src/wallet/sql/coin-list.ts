/**
 * A list of coins in their order (by amount, then txid and index), which changes
 * in a few places at a time: what changed is found by halving, so that a list of
 * 100,000 coins is not gone through coin by coin.
 */
import { outpointText } from '../../ledgers/outpoint.ts';
import type { WalletCoin } from '../records.ts';
import { compareCoins } from '../rules/coins.ts';
import type { CoinPlace } from '../store.ts';

/** The position of the first coin that does not come before the key. */
function positionOf(coins: readonly WalletCoin[], key: CoinPlace): number {
  let [low, high] = [0, coins.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareCoins(coins[middle], key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The list after the coins of these keys became others: `now` has those of them that there still are, and new ones, in their order. */
export function withChangedCoins(coins: readonly WalletCoin[], changed: readonly CoinPlace[], now: readonly WalletCoin[]): WalletCoin[] {
  const present = new Set(now.map(({ outpoint }) => outpointText(outpoint)));
  const gone = new Set<number>();
  for (const key of changed) {
    const at = positionOf(coins, key);
    if (at < coins.length && compareCoins(coins[at], key) === 0 && !present.has(outpointText(key.outpoint))) gone.add(at);
  }
  const list = coins.slice();
  const added: { readonly at: number; readonly coin: WalletCoin }[] = [];
  for (const coin of now) {
    const at = positionOf(coins, coin);
    if (at < coins.length && compareCoins(coins[at], coin) === 0) list[at] = coin;
    else added.push({ at, coin });
  }
  return gone.size === 0 && added.length === 0 ? list : spliced(list, gone, added);
}

function spliced(
  coins: readonly WalletCoin[],
  gone: ReadonlySet<number>,
  added: readonly { readonly at: number; readonly coin: WalletCoin }[],
): WalletCoin[] {
  const list: WalletCoin[] = [];
  let next = 0;
  for (let i = 0; i <= coins.length; i++) {
    while (next < added.length && added[next].at === i) list.push(added[next++].coin);
    if (i < coins.length && !gone.has(i)) list.push(coins[i]);
  }
  return list;
}
