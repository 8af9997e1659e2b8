/**
 * Which of those that wait the next block holds: in the order they came, as
 * many as fit, and none without its parents.
 */
import { keyOf } from './coins.ts';
import type { WaitingTx } from './mempool.ts';
import { BLOCK_WEIGHT_MAX, SIGOPS_COST_MAX } from './rules.ts';

/** Weight of the header and the coinbase, with room to spare. */
const RESERVED_WEIGHT = 4000;
const RESERVED_SIGOPS_COST = 400;

export interface Template {
  readonly txs: readonly WaitingTx[];
  readonly fees: bigint;
}

/** `waiting`: parents first. */
export function chooseTxs(waiting: readonly WaitingTx[], isLeftOut: (tx: WaitingTx) => boolean): Template {
  const txs: WaitingTx[] = [];
  const left = new Set<string>();
  let [weight, cost, fees] = [RESERVED_WEIGHT, RESERVED_SIGOPS_COST, 0n];
  for (const entry of waiting) {
    const { tx, key, sigopsCost, fee } = entry;
    const fits = weight + tx.weight <= BLOCK_WEIGHT_MAX && cost + sigopsCost <= SIGOPS_COST_MAX;
    if (!fits || tx.inputs.some(({ txId }) => left.has(keyOf(txId))) || isLeftOut(entry)) {
      left.add(key);
      continue;
    }
    txs.push(entry);
    weight += tx.weight;
    cost += sigopsCost;
    fees += fee;
  }
  return { txs, fees };
}
