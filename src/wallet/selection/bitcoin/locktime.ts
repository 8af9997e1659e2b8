/**
 * The lock time of a new transaction. With the height of the tip it can be mined
 * in the next block only, so a miner gains nothing by mining the last block anew
 * for its fees. As all wallets do it alike, it tells nothing of ours.
 */
import { LOCKTIME_BACK_BLOCKS, TIP_AGE_SECONDS_MAX } from '../../../util/limits.ts';
import { type RandomBits, randomBelow } from '../random.ts';

/** One transaction of so many is dated back. */
const DATED_BACK_ONE_OF = 10;

/**
 * Against fee sniping. Now and then it is a little lower, which hides those that
 * were signed long before they are sent. With an old tip it is 0: a height that
 * is far behind would single our transactions out. `now` is in seconds. It takes
 * effect when an input has a sequence below 0xffffffff.
 */
export function antiSnipingLocktime(
  tip: { readonly height: number; readonly timeSeconds: number },
  nowSeconds: number,
  random: RandomBits,
): number {
  if (nowSeconds - tip.timeSeconds > TIP_AGE_SECONDS_MAX) return 0;
  const back = randomBelow(random, DATED_BACK_ONE_OF) === 0 ? randomBelow(random, LOCKTIME_BACK_BLOCKS) : 0;
  return Math.max(0, tip.height - back);
}
