/**
 * Draws coins until they hold what is asked for: unit by unit, lovelace last,
 * because coins with assets bring some. Coins that hold nothing else are drawn
 * first, so that few other assets have to come back as change.
 */
import { UnspentError } from '../../../util/errors.ts';
import { type RandomBits, shuffle } from '../random.ts';
import { Bundle, LOVELACE, unitOf } from './bundle.ts';
import type { Coin, SelectionOrder } from './coin.ts';

/** Coins that were selected, and where to get more of. */
export class CoinDraw {
  readonly selected = new Set<Coin>();
  readonly held = new Bundle();
  readonly #coins: readonly Coin[];
  readonly #order: SelectionOrder;
  readonly #random: RandomBits;
  /** For each unit, coins that hold it: the next one to draw comes last. */
  readonly #stacks = new Map<string, Coin[]>();

  constructor(coins: readonly Coin[], preset: readonly Coin[], order: SelectionOrder, random: RandomBits) {
    this.#coins = coins;
    this.#order = order;
    this.#random = random;
    for (const coin of preset) this.#take(coin);
  }

  /** Until there is enough of each unit. Throws FUNDS_INSUFFICIENT. */
  reach(needed: Bundle): void {
    for (const unit of needed.units()) this.reachQuantity(unit, needed.quantity(unit));
  }

  /** Throws FUNDS_INSUFFICIENT. */
  reachQuantity(unit: string, quantity: bigint): void {
    while (this.held.quantity(unit) < quantity) {
      const coin = this.#next(unit);
      if (coin === undefined) throw missing(unit, quantity, this.held.quantity(unit));
      this.#take(coin);
    }
  }

  /** Draws on while that brings a unit closer to twice what is needed, and not above three times (CIP-2). */
  improve(needed: Bundle): void {
    for (const unit of needed.units()) {
      const [ideal, most] = [2n * needed.quantity(unit), 3n * needed.quantity(unit)];
      for (let next = this.#next(unit); next !== undefined; next = this.#next(unit)) {
        const [before, after] = [this.held.quantity(unit), this.held.quantity(unit) + quantityIn(next, unit)];
        if (after > most || distance(after, ideal) >= distance(before, ideal)) break;
        this.#take(next);
      }
    }
  }

  #take(coin: Coin): void {
    this.selected.add(coin);
    this.held.add(coin);
  }

  #next(unit: string): Coin | undefined {
    const stack = this.#stacks.get(unit) ?? this.#stackOf(unit);
    this.#stacks.set(unit, stack);
    while (stack.length > 0 && this.selected.has(stack[stack.length - 1])) stack.pop();
    return stack.at(-1);
  }

  #stackOf(unit: string): Coin[] {
    const holders = this.#coins.filter((coin) => quantityIn(coin, unit) > 0n);
    if (this.#order === 'largest-first') return holders.sort((a, b) => compare(quantityIn(a, unit), quantityIn(b, unit)));
    shuffle(this.#random, holders);
    const others = unit === LOVELACE ? 0 : 1;
    return [...holders.filter(({ assets }) => assets.length > others), ...holders.filter(({ assets }) => assets.length <= others)];
  }
}

function quantityIn({ lovelace, assets }: Coin, unit: string): bigint {
  if (unit === LOVELACE) return lovelace;
  return assets.find((asset) => unitOf(asset) === unit)?.quantity ?? 0n;
}

function distance(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a;
}

function compare(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function missing(unit: string, needed: bigint, available: bigint): UnspentError {
  const meta = { unit, needed, available, missing: needed - available };
  return new UnspentError(
    'FUNDS_INSUFFICIENT',
    `${meta.missing} of ${unit} are missing: ${needed} are needed, and coins hold ${available}`,
    meta,
  );
}
