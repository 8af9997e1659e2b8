/**
 * Coins as groups that are spent together, in columns: each coin alone, or, when
 * partial spends are avoided, all coins of a script, up to 100 to a group.
 */
import { GROUP_COINS_MAX } from '../../../util/limits.ts';
import type { UnsortedCandidates } from './candidates.ts';
import type { Coin } from './coin.ts';
import type { CoinTable } from './coin-table.ts';
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

/** Of each group. What is a sum is one over its coins. */
interface GroupColumns
  extends Pick<CoinTable, 'count' | 'kinds' | 'values' | 'weights' | 'confirmations' | 'owns' | 'ancestors' | 'descendants'> {
  readonly fees: Float64Array;
  readonly longTermFees: Float64Array;
}

/** Groups of coins. */
export class CoinGroups {
  readonly count: number;
  /** The kinds of output that coins are of. */
  readonly types: readonly string[];
  readonly #table: CoinTable;
  readonly #columns: GroupColumns;
  /** Positions in the table; null: the group at `i` is the coin at `i`. */
  readonly #members: readonly (readonly number[])[] | null;
  /** Groups that hold what was left over of a script's coins after full groups. */
  readonly #leftovers: ReadonlySet<number>;

  /** Each coin for itself, or all of a script together. */
  constructor(table: CoinTable, rates: FeeRates, byScript: boolean) {
    const single = { ...table, ...feeColumns(table, rates) };
    const grouped = byScript ? groupByScript(table) : null;
    this.types = table.types;
    this.#table = table;
    this.#members = grouped?.groups ?? null;
    this.#leftovers = grouped?.leftovers ?? new Set();
    this.#columns = this.#members === null ? single : combined(single, this.#members);
    this.count = this.#columns.count;
  }

  coinsOf(i: number): readonly Coin[] {
    const members = this.#members === null ? [i] : this.#members[i];
    return members.map((position) => this.#table.coinAt(position));
  }

  /** The fewest of its coins. */
  confirmationsOf(i: number): number {
    return this.#columns.confirmations[i];
  }

  /** The groups that are eligible in a round, by the kind of their output in the order of `types`. */
  eligible(round: EligibilityRound): readonly Uint32Array[] {
    const { kinds } = this.#columns;
    const lists = this.types.map(() => new Uint32Array(this.count));
    const counts = this.types.map(() => 0);
    for (let i = 0; i < this.count; i++) {
      if (!this.isEligible(i, round)) continue;
      const kind = kinds[i];
      lists[kind][counts[kind]++] = i;
    }
    return lists.map((list, kind) => list.subarray(0, counts[kind]));
  }

  isEligible(i: number, round: EligibilityRound): boolean {
    const { owns, confirmations, ancestors, descendants } = this.#columns;
    const needed = owns[i] === 1 ? round.ownConfirmations : round.foreignConfirmations;
    if (confirmations[i] < needed || ancestors[i] > round.ancestorsMax || descendants[i] > round.descendantsMax) return false;
    return round.partialGroups || this.#leftovers.size === 0 || !this.#leftovers.has(i);
  }

  /** What a search sees of these groups. With `byValue` amounts are values, else effective values. */
  candidates(groups: Uint32Array, byValue: boolean): UnsortedCandidates {
    const { values, fees, longTermFees, weights: allWeights } = this.#columns;
    const [amounts, weights, wastes] = [new Float64Array(groups.length), new Float64Array(groups.length), new Float64Array(groups.length)];
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i];
      amounts[i] = byValue ? values[group] : values[group] - fees[group];
      weights[i] = allWeights[group];
      wastes[i] = fees[group] - longTermFees[group];
    }
    return { amounts, weights, wastes };
  }
}

/** Neighbours in a list of many coins mostly weigh the same: their fees are worked out once. */
function feeColumns({ count, weights, bumpFees }: CoinTable, rates: FeeRates): Pick<GroupColumns, 'fees' | 'longTermFees'> {
  const [fees, longTermFees] = [new Float64Array(count), new Float64Array(count)];
  let [weight, target, longTerm] = [-1, 0, 0];
  for (let i = 0; i < count; i++) {
    if (weights[i] !== weight) {
      weight = weights[i];
      const vsize = vsizeOf(weight);
      [target, longTerm] = [feeOf(rates.target, vsize), feeOf(rates.longTerm, vsize)];
    }
    fees[i] = target + bumpFees[i];
    longTermFees[i] = longTerm;
  }
  return { fees, longTermFees };
}

/** A group is as young as its youngest coin, and as foreign. Ancestors add up, which counts shared ones twice. */
function combined(coins: GroupColumns, groups: readonly (readonly number[])[]): GroupColumns {
  const of = (reduce: (members: readonly number[]) => number): Float64Array => Float64Array.from(groups, reduce);
  const sum = (column: Float64Array): Float64Array => of((members) => members.reduce((total, i) => total + column[i], 0));
  return {
    count: groups.length,
    kinds: Uint16Array.from(groups, ([first]) => coins.kinds[first]),
    values: sum(coins.values),
    weights: sum(coins.weights),
    fees: sum(coins.fees),
    longTermFees: sum(coins.longTermFees),
    confirmations: of((members) => Math.min(...members.map((i) => coins.confirmations[i]))),
    owns: Uint8Array.from(groups, (members) => (members.every((i) => coins.owns[i] === 1) ? 1 : 0)),
    ancestors: sum(coins.ancestors),
    descendants: of((members) => Math.max(...members.map((i) => coins.descendants[i]))),
  };
}

function groupByScript(table: CoinTable): {
  readonly groups: readonly (readonly number[])[];
  readonly leftovers: ReadonlySet<number>;
} {
  const groups: (readonly number[])[] = [];
  const leftovers = new Set<number>();
  const positions = Array.from({ length: table.count }, (_, i) => i);
  for (const members of Map.groupBy(positions, (i) => table.coinAt(i).script).values()) {
    for (let at = 0; at < members.length; at += GROUP_COINS_MAX) groups.push(members.slice(at, at + GROUP_COINS_MAX));
    if (members.length > GROUP_COINS_MAX) leftovers.add(groups.length - 1);
  }
  return { groups, leftovers };
}
