/**
 * Each coin for itself. This is what wallets with many coins go through, so it
 * goes through the columns of the table as they are: what a coin costs is looked
 * up by the way it is spent, which few differ in.
 */
import { UNMINED } from '../../coin-columns.ts';
import { takeIndexes, takeNumbers } from '../columns.ts';
import type { UnsortedCandidates } from './candidates.ts';
import type { Coin } from './coin.ts';
import { type CoinTable, confirmationsAt } from './coin-table.ts';
import type { EligibilityRound } from './eligibility.ts';
import type { FeeRates } from './fee-rate.ts';
import { type CoinGroups, feesOf } from './groups.ts';

export class SingleCoins implements CoinGroups {
  readonly count: number;
  readonly types: readonly string[];
  readonly #table: CoinTable;
  /** For each form of the table its place in `types`. */
  readonly #kinds: Uint32Array;
  readonly #fees: Float64Array;
  readonly #wastes: Float64Array;

  constructor(table: CoinTable, rates: FeeRates) {
    const fees = table.forms.map(({ weight }) => feesOf(weight, rates));
    const types = [...new Set(table.forms.map(({ type }) => type))];
    this.count = table.count;
    this.types = types;
    this.#table = table;
    this.#kinds = Uint32Array.from(table.forms, ({ type }) => types.indexOf(type));
    this.#fees = Float64Array.from(fees, ({ fee }) => fee);
    this.#wastes = Float64Array.from(fees, ({ fee, longTermFee }) => fee - longTermFee);
  }

  coinsOf(i: number): readonly Coin[] {
    return [this.#table.coinAt(i)];
  }

  confirmationsOf(i: number): number {
    return confirmationsAt(this.#table, i);
  }

  eligible(round: EligibilityRound): readonly Uint32Array[] {
    const { places, heights, owns, formIndexes, tip } = this.#table;
    const [kinds, count] = [this.#kinds, this.count];
    const lists = this.types.map(() => takeIndexes(count));
    const counts = this.types.map(() => 0);
    const highestOwn = tip + 1 - round.ownConfirmations;
    const highestForeign = tip + 1 - round.foreignConfirmations;
    for (let i = 0; i < count; i++) {
      const place = places[i];
      const height = heights[place];
      if (height > (owns[place] === 1 ? highestOwn : highestForeign)) continue;
      if (height === UNMINED && !this.isEligible(i, round)) continue;
      const kind = kinds[formIndexes[place]];
      lists[kind][counts[kind]++] = i;
    }
    return lists.map((list, kind) => list.subarray(0, counts[kind]));
  }

  isEligible(i: number, round: EligibilityRound): boolean {
    const place = this.#table.places[i];
    const needed = this.#table.owns[place] === 1 ? round.ownConfirmations : round.foreignConfirmations;
    const { ancestors = 0, descendants = 0 } = this.#table.ancestries.get(place) ?? {};
    return this.confirmationsOf(i) >= needed && ancestors <= round.ancestorsMax && descendants <= round.descendantsMax;
  }

  candidates(groups: Uint32Array, byValue: boolean): UnsortedCandidates {
    const { places, values, formIndexes, forms, heights, ancestries } = this.#table;
    const [fees, wasteOf, weightOf] = [this.#fees, this.#wastes, Float64Array.from(forms, ({ weight }) => weight)];
    const count = groups.length;
    const [amounts, weights, wastes] = [takeNumbers(count), takeNumbers(count), takeNumbers(count)];
    for (let i = 0; i < count; i++) {
      const place = places[groups[i]];
      const form = formIndexes[place];
      const bumpFee = heights[place] === UNMINED ? Number(ancestries.get(place)?.bumpFee ?? 0n) : 0;
      amounts[i] = byValue ? values[place] : values[place] - fees[form] - bumpFee;
      weights[i] = weightOf[form];
      wastes[i] = wasteOf[form] + bumpFee;
    }
    return { amounts, weights, wastes };
  }
}
