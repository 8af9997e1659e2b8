/** All coins of a script together, up to 100 to a group, for whoever avoids partial spends. */
import { GROUP_COINS_MAX } from '../../../util/limits.ts';
import type { UnsortedCandidates } from './candidates.ts';
import type { Coin } from './coin.ts';
import type { EligibilityRound } from './eligibility.ts';
import type { FeeRates } from './fee-rate.ts';
import { type CoinGroups, costsOf } from './groups.ts';

/** What is a sum is one over its coins. */
interface ScriptGroup {
  readonly coins: readonly Coin[];
  /** What was left over of a script's coins after full groups. */
  readonly isLeftover: boolean;
  readonly kind: number;
  readonly value: number;
  readonly fee: number;
  readonly longTermFee: number;
  readonly weight: number;
  /** A group is as young as its youngest coin, and as foreign. */
  readonly confirmations: number;
  readonly own: boolean;
  /** They add up, which counts shared ones twice. */
  readonly ancestors: number;
  readonly descendants: number;
}

export class ScriptGroups implements CoinGroups {
  readonly types: readonly string[];
  readonly #groups: readonly ScriptGroup[];

  constructor(coins: readonly Coin[], rates: FeeRates) {
    this.types = [...new Set(coins.map(({ type }) => type))];
    const groups: ScriptGroup[] = [];
    for (const members of Map.groupBy(coins, ({ script }) => script).values()) {
      for (let at = 0; at < members.length; at += GROUP_COINS_MAX) {
        const isLeftover = members.length > GROUP_COINS_MAX && at + GROUP_COINS_MAX >= members.length;
        groups.push(groupOf(members.slice(at, at + GROUP_COINS_MAX), isLeftover, this.types, rates));
      }
    }
    this.#groups = groups;
  }

  get count(): number {
    return this.#groups.length;
  }

  coinsOf(i: number): readonly Coin[] {
    return this.#groups[i].coins;
  }

  confirmationsOf(i: number): number {
    return this.#groups[i].confirmations;
  }

  eligible(round: EligibilityRound): readonly Uint32Array[] {
    const eligible = [...this.#groups.keys()].filter((i) => this.isEligible(i, round));
    return this.types.map((_, kind) => Uint32Array.from(eligible.filter((i) => this.#groups[i].kind === kind)));
  }

  isEligible(i: number, round: EligibilityRound): boolean {
    const { own, confirmations, ancestors, descendants, isLeftover } = this.#groups[i];
    const needed = own ? round.ownConfirmations : round.foreignConfirmations;
    if (confirmations < needed || ancestors > round.ancestorsMax || descendants > round.descendantsMax) return false;
    return round.partialGroups || !isLeftover;
  }

  candidates(groups: Uint32Array, byValue: boolean): UnsortedCandidates {
    const of = (column: (group: ScriptGroup) => number): Float64Array => Float64Array.from(groups, (i) => column(this.#groups[i]));
    return {
      amounts: of(({ value, fee }) => (byValue ? value : value - fee)),
      weights: of(({ weight }) => weight),
      wastes: of(({ fee, longTermFee }) => fee - longTermFee),
    };
  }
}

function groupOf(coins: readonly Coin[], isLeftover: boolean, types: readonly string[], rates: FeeRates): ScriptGroup {
  const costs = coins.map((coin) => costsOf(coin, rates));
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    coins,
    isLeftover,
    kind: types.indexOf(coins[0].type),
    value: sum(costs.map(({ value }) => value)),
    fee: sum(costs.map(({ fee }) => fee)),
    longTermFee: sum(costs.map(({ longTermFee }) => longTermFee)),
    weight: sum(coins.map(({ weight }) => weight)),
    confirmations: Math.min(...coins.map(({ confirmations }) => confirmations)),
    own: coins.every(({ own }) => own),
    ancestors: sum(coins.map(({ ancestors }) => ancestors)),
    descendants: Math.max(...coins.map(({ descendants }) => descendants)),
  };
}
