/**
 * Coins of unconfirmed transactions: miners take a child only together with its
 * parents, so who spends such a coin at a rate pays for its ancestors, too, as
 * far as they pay less than that rate (child pays for parent). Worked out as a
 * miner would: whatever is worth taking at the rate on its own account is taken
 * first, and only the rest has to be lifted (Core: `MiniMiner`).
 */
import { assert } from '../../../util/errors.ts';
import { feeOf } from './fee-rate.ts';

/** An unconfirmed transaction. */
export interface UnconfirmedTx {
  readonly id: string;
  readonly fee: bigint;
  readonly vsize: number;
  /** Ids of unconfirmed transactions that it spends from. */
  readonly parents: readonly string[];
}

/**
 * What a transaction that spends outputs of `spent` has to pay above its own fee
 * so that they and their ancestors are mined at `rate`. `cluster` has all of
 * their unconfirmed ancestors; other descendants of those may be in it, and
 * count where they pay for their parents already.
 */
export function bumpFeeOf(spent: readonly string[], cluster: readonly UnconfirmedTx[], rate: number): bigint {
  return shortfall(new MinedCluster(cluster, rate).behind(spent), rate);
}

/** What transactions that a miner leaves pay too little together; 0: they pay the rate. */
export function shortfall({ fee, vsize }: PackageSums, rate: number): bigint {
  return BigInt(Math.max(0, feeOf(rate, vsize) - fee));
}

/** Of several transactions. Fees are exact as numbers: no chain has 2^53 satoshi. */
export interface PackageSums {
  readonly fee: number;
  readonly vsize: number;
}

/**
 * Transactions of which a miner has taken what is worth it at a rate. It is
 * worked out once for all coins of the cluster. Transactions are places in
 * columns here: a wallet may have thousands that wait, one behind the other.
 */
export class MinedCluster {
  readonly #places: ReadonlyMap<string, number>;
  readonly #txs: readonly UnconfirmedTx[];
  readonly #parents: readonly (readonly number[])[];
  readonly #children: readonly number[][];
  /** 1: not taken. */
  readonly #left: Uint8Array;
  /** Which walk was at a place last, so that no walk needs a set of its own. */
  readonly #visited: Uint32Array;
  #walk = 0;

  constructor(cluster: readonly UnconfirmedTx[], rate: number) {
    this.#txs = cluster;
    this.#places = new Map(cluster.map(({ id }, place) => [id, place]));
    this.#parents = cluster.map(({ parents }) => parents.flatMap((id) => this.#places.get(id) ?? []));
    this.#children = cluster.map(() => []);
    for (const [place, parents] of this.#parents.entries()) for (const parent of parents) this.#children[parent].push(place);
    this.#left = new Uint8Array(cluster.length).fill(1);
    this.#visited = new Uint32Array(cluster.length);
    this.#takeWorthwhile(rate);
  }

  /** What the transactions and their ancestors pay and weigh, of those that are left. */
  behind(ids: readonly string[]): PackageSums {
    return this.#sums(
      this.#leftFrom(
        ids.flatMap((id) => this.#places.get(id) ?? []),
        this.#parents,
      ),
    );
  }

  /** Again and again the transaction that, with its ancestors, pays best, as long as one pays the rate. */
  #takeWorthwhile(rate: number): void {
    const fees = new Float64Array(this.#txs.length);
    const vsizes = new Float64Array(this.#txs.length);
    for (const place of this.#txs.keys()) {
      const { fee, vsize } = this.#sums(this.#leftFrom([place], this.#parents));
      assert(vsize > 0, 'a transaction has a size');
      fees[place] = fee;
      vsizes[place] = vsize;
    }
    for (;;) {
      let best = -1;
      for (let place = 0; place < fees.length; place++) {
        if (this.#left[place] === 0 || feeOf(rate, vsizes[place]) > fees[place]) continue;
        if (best < 0 || fees[place] * vsizes[best] > fees[best] * vsizes[place]) best = place;
      }
      if (best < 0) return;
      const taken = this.#leftFrom([best], this.#parents);
      for (const place of taken) {
        for (const heir of this.#leftFrom([place], this.#children)) {
          fees[heir] -= Number(this.#txs[place].fee);
          vsizes[heir] -= this.#txs[place].vsize;
        }
      }
      // Only now: the ways from one to its heirs lead through the others.
      for (const place of taken) this.#left[place] = 0;
    }
  }

  #sums(places: readonly number[]): PackageSums {
    let [fee, vsize] = [0, 0];
    for (const place of places) {
      fee += Number(this.#txs[place].fee);
      vsize += this.#txs[place].vsize;
    }
    return { fee, vsize };
  }

  /** The places and all that lead on from them, of those that are left. */
  #leftFrom(from: readonly number[], next: readonly (readonly number[])[]): number[] {
    const walk = ++this.#walk;
    const found: number[] = [];
    const open = [...from];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (this.#left[place] === 0 || this.#visited[place] === walk) continue;
      this.#visited[place] = walk;
      found.push(place);
      open.push(...next[place]);
    }
    return found;
  }
}
