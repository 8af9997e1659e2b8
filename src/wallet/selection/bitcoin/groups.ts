/**
 * Coins as groups that are spent together, in columns: each coin alone, or, when
 * partial spends are avoided, all coins of a script, up to 100 to a group.
 */
import { assert } from '../../../util/errors.ts';
import { GROUP_COINS_MAX } from '../../../util/limits.ts';
import type { UnsortedCandidates } from './candidates.ts';
import type { Coin } from './coin.ts';
import type { EligibilityRound } from './eligibility.ts';
import { type FeeRates, feeOf, vsizeOf } from './fee-rate.ts';

/** What a coin brings and costs, in satoshi. */
export interface CoinCosts {
  readonly value: number;
  /** At the target rate, with what lifts its ancestors to that rate. */
  readonly fee: number;
  readonly longTermFee: number;
}

export function costsOf({ value, weight, bumpFee }: Coin, rates: FeeRates): CoinCosts {
  const vsize = vsizeOf(weight);
  return { value: Number(value), fee: feeOf(rates.target, vsize) + Number(bumpFee), longTermFee: feeOf(rates.longTerm, vsize) };
}

/** The fees of inputs of one weight: neighbours in a list of many coins mostly weigh the same. */
class WeightFees {
  target = 0;
  longTerm = 0;
  #weight = -1;
  readonly #rates: FeeRates;

  constructor(rates: FeeRates) {
    this.#rates = rates;
  }

  take(weight: number): void {
    if (weight === this.#weight) return;
    const vsize = vsizeOf(weight);
    this.#weight = weight;
    this.target = feeOf(this.#rates.target, vsize);
    this.longTerm = feeOf(this.#rates.longTerm, vsize);
  }
}

/** Groups of coins. What is a sum is one over the coins of a group. */
export class CoinGroups {
  readonly count: number;
  /** The kinds of output that coins are of. */
  readonly types: readonly string[];
  readonly #coins: readonly Coin[];
  /** Null: the group at `i` is the coin at `i`. */
  readonly #members: readonly (readonly Coin[])[] | null;
  /** Groups that hold what was left over of a script's coins after full groups. */
  readonly #leftovers: ReadonlySet<number>;
  /** Index into `types`. */
  readonly #types: Uint16Array;
  readonly #values: Float64Array;
  readonly #fees: Float64Array;
  readonly #longTermFees: Float64Array;
  readonly #weights: Float64Array;
  /** What decides whether a group is eligible. */
  readonly #confirmations: Float64Array;
  readonly #owns: Uint8Array;
  readonly #ancestors: Float64Array;
  readonly #descendants: Float64Array;

  /** Each coin for itself, or all of a script together. */
  constructor(coins: readonly Coin[], rates: FeeRates, byScript: boolean) {
    const grouped = byScript ? groupByScript(coins) : null;
    this.#coins = coins;
    this.#members = grouped?.groups ?? null;
    this.#leftovers = grouped?.leftovers ?? new Set();
    this.count = this.#members?.length ?? coins.length;
    this.#types = new Uint16Array(this.count);
    this.#values = new Float64Array(this.count);
    this.#fees = new Float64Array(this.count);
    this.#longTermFees = new Float64Array(this.count);
    this.#weights = new Float64Array(this.count);
    this.#confirmations = new Float64Array(this.count);
    this.#owns = new Uint8Array(this.count);
    this.#ancestors = new Float64Array(this.count);
    this.#descendants = new Float64Array(this.count);
    const types: string[] = [];
    const fees = new WeightFees(rates);
    for (let i = 0; i < this.count; i++) {
      const members = this.#members?.[i];
      const { type } = members?.[0] ?? coins[i];
      // A few kinds of output at most: their position is found faster than a hash of their name.
      let known = types.indexOf(type);
      if (known < 0) known = types.push(type) - 1;
      this.#types[i] = known;
      if (members === undefined) this.#add(i, coins[i], fees);
      else for (const coin of members) this.#add(i, coin, fees);
      const standing = members === undefined ? coins[i] : combined(members);
      this.#confirmations[i] = standing.confirmations;
      this.#owns[i] = standing.own ? 1 : 0;
      this.#ancestors[i] = standing.ancestors;
      this.#descendants[i] = standing.descendants;
    }
    this.types = types;
  }

  #add(i: number, { value, weight, bumpFee }: Coin, fees: WeightFees): void {
    fees.take(weight);
    this.#values[i] += Number(value);
    this.#fees[i] += bumpFee === 0n ? fees.target : fees.target + Number(bumpFee);
    this.#longTermFees[i] += fees.longTerm;
    this.#weights[i] += weight;
  }

  coinsOf(i: number): readonly Coin[] {
    return this.#members === null ? [this.#coins[i]] : this.#members[i];
  }

  /** The fewest of its coins. */
  confirmationsOf(i: number): number {
    return this.#confirmations[i];
  }

  /** The groups that are eligible in a round, by the kind of their output in the order of `types`. */
  eligible(round: EligibilityRound): readonly Uint32Array[] {
    const lists = this.types.map(() => new Uint32Array(this.count));
    const counts = this.types.map(() => 0);
    for (let i = 0; i < this.count; i++) {
      if (!this.isEligible(i, round)) continue;
      const type = this.#types[i];
      lists[type][counts[type]++] = i;
    }
    return lists.map((list, type) => list.subarray(0, counts[type]));
  }

  isEligible(i: number, round: EligibilityRound): boolean {
    if (!round.partialGroups && this.#leftovers.has(i)) return false;
    const needed = this.#owns[i] === 1 ? round.ownConfirmations : round.foreignConfirmations;
    return this.#confirmations[i] >= needed && this.#ancestors[i] <= round.ancestorsMax && this.#descendants[i] <= round.descendantsMax;
  }

  /** What a search sees of these groups. With `byValue` amounts are values, else effective values. */
  candidates(groups: Uint32Array, byValue: boolean): UnsortedCandidates {
    const [amounts, weights, wastes] = [new Float64Array(groups.length), new Float64Array(groups.length), new Float64Array(groups.length)];
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i];
      amounts[i] = byValue ? this.#values[group] : this.#values[group] - this.#fees[group];
      weights[i] = this.#weights[group];
      wastes[i] = this.#fees[group] - this.#longTermFees[group];
    }
    return { amounts, weights, wastes };
  }
}

type Standing = Pick<Coin, 'confirmations' | 'own' | 'ancestors' | 'descendants'>;

/** A group is as young as its youngest coin, and as foreign. Ancestors add up, which counts shared ones twice. */
function combined(coins: readonly Coin[]): Standing {
  assert(coins.length > 0, 'a group has coins');
  return {
    confirmations: Math.min(...coins.map(({ confirmations }) => confirmations)),
    own: coins.every(({ own }) => own),
    ancestors: coins.reduce((sum, { ancestors }) => sum + ancestors, 0),
    descendants: Math.max(...coins.map(({ descendants }) => descendants)),
  };
}

function groupByScript(coins: readonly Coin[]): { readonly groups: readonly (readonly Coin[])[]; readonly leftovers: ReadonlySet<number> } {
  const groups: (readonly Coin[])[] = [];
  const leftovers = new Set<number>();
  for (const members of Map.groupBy(coins, ({ script }) => script).values()) {
    for (let at = 0; at < members.length; at += GROUP_COINS_MAX) groups.push(members.slice(at, at + GROUP_COINS_MAX));
    if (members.length > GROUP_COINS_MAX) leftovers.add(groups.length - 1);
  }
  return { groups, leftovers };
}
