/**
 * The searches, each with the cases that Bitcoin Core's wallet is tested with:
 * the same coins and targets, the results worked out here. Amounts are effective
 * values, unless the text says otherwise.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Random } from '../../../../src/chains/random.ts';
import { SELECTION_TRIES_MAX } from '../../../../src/util/limits.ts';
import { branchAndBound } from '../../../../src/wallet/selection/bitcoin/branch-and-bound.ts';
import { sourcesAt } from '../../../../src/wallet/selection/bitcoin/candidates.ts';
import { coinGrinder } from '../../../../src/wallet/selection/bitcoin/coin-grinder.ts';
import { sortDescending } from '../../../../src/wallet/selection/bitcoin/descending.ts';
import { knapsack } from '../../../../src/wallet/selection/bitcoin/knapsack.ts';
import { largestFirst, oldestFirst } from '../../../../src/wallet/selection/bitcoin/ordered.ts';
import { singleRandomDraw } from '../../../../src/wallet/selection/bitcoin/single-random-draw.ts';
import { amountsOf, BTC, CENT, candidatesAt, candidatesOf, type MadeCandidate, positive } from './made-coins.ts';

const COST_OF_CHANGE = 359;
const WEIGHT_MAX = 400_000;
const repeat = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));
const cents = (...list: number[]): number[] => list.map((value) => value * CENT);

describe('branch and bound', () => {
  const found = (list: readonly MadeCandidate[], target: number, weightMax = WEIGHT_MAX): readonly number[] | null => {
    const pool = positive(list);
    return amountsOf(pool, branchAndBound(pool, target, COST_OF_CHANGE, weightMax));
  };

  for (const target of [0, 1, 5000, 10_000, 25_000, 59_764, 500_000, 1_500_000]) {
    test(`exact, within the cost of change, and not at all, at ${target} sat/kvB`, () => {
      const at = (...list: number[]): readonly MadeCandidate[] => candidatesAt({ target, longTerm: 10_000 }, list);
      const pool = at(...cents(1, 3, 5));
      assert.equal(found([], CENT), null);
      assert.deepEqual(found(pool, CENT), cents(1));
      assert.deepEqual(found(pool, 3 * CENT), cents(3));
      assert.deepEqual(found(pool, 5 * CENT), cents(5));
      assert.deepEqual(found(pool, 4 * CENT), cents(3, 1));
      assert.deepEqual(found(pool, 9 * CENT), cents(5, 3, 1));
      assert.deepEqual(found(pool, 4 * CENT - COST_OF_CHANGE), cents(3, 1), 'the upper bound');
      assert.equal(found(pool, 4 * CENT - COST_OF_CHANGE - 1), null, 'one above the upper bound');
      assert.equal(found(pool, CENT / 2), null, 'the smallest is too large');
      assert.equal(found(pool, 7 * CENT), null, 'no combination');
      assert.equal(found(pool, 10 * CENT), null, 'more than there is');
    });

    test(`clones are tried once, at ${target} sat/kvB`, () => {
      const at = (...list: number[]): readonly MadeCandidate[] => candidatesAt({ target, longTerm: 10_000 }, list);
      const pool = positive([...at(...cents(2, 7, 7)), ...at(...repeat(50_000, () => 5 * CENT))]);
      const result = branchAndBound(pool, 16 * CENT, COST_OF_CHANGE, WEIGHT_MAX);
      assert.deepEqual(amountsOf(pool, result), cents(7, 7, 2));
      assert.ok(result.complete && result.tries < 20, `${result.tries} tries`);
    });
  }

  test('below the long-term rate many inputs, above it few', () => {
    const [low, high] = [5000, 25_000].map(
      (target) =>
        (...list: number[]) =>
          candidatesAt({ target, longTerm: 10_000 }, cents(...list)),
    );
    assert.deepEqual(found(low(2, 3, 5, 10), 10 * CENT), cents(5, 3, 2));
    assert.deepEqual(found(high(2, 3, 5, 10), 10 * CENT), cents(10));
    const heavy = (target: number): readonly MadeCandidate[] => candidatesAt({ target, longTerm: 10_000 }, cents(6, 7), 500);
    assert.deepEqual(found([...low(2, 3, 5, 10), ...heavy(5000)], 13 * CENT), cents(7, 6), 'heavy ones are gladly spent');
    assert.deepEqual(found([...high(2, 3, 5, 10), ...heavy(25_000)], 13 * CENT), cents(10, 3));
  });

  test('the limit of tries: the eight smallest of unlike coins, with ever more that are a little too large', () => {
    const pool = (count: number): readonly MadeCandidate[] =>
      candidatesAt(
        { target: 5000, longTerm: 10_000 },
        repeat(count, (i) => CENT + i + (i < 8 ? 0 : COST_OF_CHANGE)),
      );
    const smallest = repeat(8, (i) => CENT + 7 - i);
    assert.deepEqual(found(pool(17), 8 * CENT), smallest);
    // All subsets of up to eight of 20 are more than it may look at, and the right one comes last.
    const result = branchAndBound(positive(pool(20)), 8 * CENT, COST_OF_CHANGE, WEIGHT_MAX);
    assert.deepEqual([result.positions, result.tries, result.complete], [null, SELECTION_TRIES_MAX, false]);
  });

  test('weight: a coin that is too heavy is passed over; a light one of its amount is taken', () => {
    const pool = cents(10, 9, 8, 3, 1).map((amount): MadeCandidate => ({ amount }));
    const heavy = { amount: 5 * CENT, weight: WEIGHT_MAX };
    const result = branchAndBound(positive([...pool, heavy]), 16 * CENT, 0, WEIGHT_MAX);
    assert.deepEqual([result.positions, result.tooHeavy], [null, true]);
    const light = { amount: 5 * CENT };
    assert.deepEqual(found([...pool, heavy, light], 16 * CENT), cents(8, 5, 3));
    // Below the long-term rate the heavier of two equal amounts has less waste, and is tried first.
    const cheap = [...pool, { ...heavy, waste: -1000 }, { ...light, waste: -10 }];
    assert.deepEqual(found(cheap, 16 * CENT), cents(8, 5, 3));
  });
});

describe('coin grinder', () => {
  const grind = (list: readonly (readonly [btc: number, vsize: number])[], btc: number, weightMax: number) => {
    const pool = positive(
      list.map(([value, vsize]) => ({ amount: Math.round(value * BTC) - 5 * vsize, weight: 4 * vsize, waste: 3 * vsize })),
    );
    const result = coinGrinder(pool, Math.round(btc * BTC) + CENT, weightMax);
    const values = result.positions?.map((position) => (pool.amounts[position] + (5 * pool.weights[position]) / 4) / BTC);
    return { ...result, values: values?.toSorted((a, b) => b - a) };
  };
  const times = (count: number, value: number, vsize: number): (readonly [number, number])[] =>
    repeat(count, () => [value, vsize] as const);

  test('funds that do not suffice, and selections that are all too heavy', () => {
    const coins = [...times(10, 1, 68), ...times(10, 2, 68)];
    assert.deepEqual(grind(coins, 49.5, 10_000).positions, null);
    assert.equal(grind(coins, 49.5, 10_000).tooHeavy, false);
    assert.deepEqual(grind(coins, 29.5, 3000).positions, null);
    assert.equal(grind(coins, 29.5, 3000).tooHeavy, true);
  });

  test('the lightest selection, and how many it looks at to find it', () => {
    const few = grind([...times(60, 0.33, 68), ...times(10, 2, 68)], 25.33, 10_000);
    assert.deepEqual([few.values, few.tries], [[...repeat(10, () => 2), ...repeat(17, () => 0.33)], 37]);
    const two = grind([[2, 148], ...times(2, 1, 68)], 1.9, WEIGHT_MAX);
    assert.deepEqual([two.values, two.tries], [[1, 1], 3], 'two light ones before a heavy one');
    const mixed = repeat(5, (j) => [[3 + 3 * j, 350] as const, [2 + 3 * j, 250] as const, [1 + 3 * j, 150] as const]).flat();
    const best = grind(mixed, 30, WEIGHT_MAX);
    assert.deepEqual([best.values, best.tries], [[14, 13, 4], 92]);
    const clones = [...times(100, 8, 1000), ...times(100, 7, 800), ...times(100, 6, 600), ...times(100, 5, 400)];
    const light = grind([...[4, 3, 2, 1].map((value) => [value, 100] as const), ...clones], 9.9, WEIGHT_MAX);
    assert.deepEqual([light.values, light.tries], [[4, 3, 2, 1], 38]);
    const tiny = repeat(100, (j) => [0.01 + j / BTC, 110] as const);
    const skipped = grind([[1.8, 2500], ...times(2, 1, 1000), ...tiny], 1.9, 40_000);
    assert.deepEqual([skipped.values, skipped.tries], [[1, 1], 7]);
  });

  test('of equally light selections the one that binds less', () => {
    assert.deepEqual(grind([...times(1, 5, 68), ...times(1, 4, 68), ...times(1, 3, 68)], 2.5, WEIGHT_MAX).values, [3]);
  });
});

describe('single random draw', () => {
  const draw = (list: readonly MadeCandidate[], target: number, weightMax: number, seed: number) => {
    const pool = positive(list);
    return { pool, result: singleRandomDraw(pool, target, weightMax, new Random(seed)) };
  };

  test('funds that do not suffice, and weight that never does', () => {
    const coins = repeat(20, (i): MadeCandidate => ({ amount: (1 + (i % 2)) * BTC }));
    const poor = draw(coins, 49.5 * BTC, 10_000, 1).result;
    assert.deepEqual([poor.positions, poor.tooHeavy], [null, false]);
    const heavy = draw(coins, 49.5 * BTC, 3000, 1).result;
    assert.deepEqual([heavy.positions, heavy.tooHeavy], [null, true]);
  });

  test('drops the least valuable while it is too heavy, and is never above the weight', () => {
    const coins = repeat(70, (i): MadeCandidate => ({ amount: i < 60 ? 0.33 * BTC : 2 * BTC }));
    for (let seed = 0; seed < 50; seed++) {
      const { pool, result } = draw(coins, 25.33 * BTC, 10_000, seed);
      assert.ok(result.positions !== null);
      const sum = (column: Float64Array): number => result.positions!.reduce((total, position) => total + column[position], 0);
      assert.ok(sum(pool.weights) <= 10_000 && sum(pool.amounts) >= 25.33 * BTC);
      assert.equal(new Set(result.positions).size, result.positions.length);
      // 36 inputs fit, and without nine of the ten large ones they do not bring 25.33: what was dropped was small.
      assert.ok(result.positions.filter((position) => pool.amounts[position] === 2 * BTC).length >= 9);
    }
  });

  test('draws each coin equally often', () => {
    const times = new Map<number, number>();
    for (let seed = 0; seed < 4000; seed++) {
      const { pool, result } = draw(
        repeat(8, (i) => ({ amount: 1000 + i })),
        1000,
        WEIGHT_MAX,
        seed,
      );
      const [amount] = amountsOf(pool, result)!;
      times.set(amount, (times.get(amount) ?? 0) + 1);
    }
    for (const count of times.values()) assert.ok(count > 380 && count < 620, [...times].join(' '));
    assert.equal(times.size, 8);
  });
});

describe('knapsack', () => {
  /** Values at no fee, with change of a cent aimed at. */
  const solve = (values: readonly number[], target: number, seed: number, weight = 272): readonly number[] | null => {
    const pool = candidatesOf(values.map((amount) => ({ amount, weight })));
    return amountsOf(pool, knapsack(pool, target, CENT, WEIGHT_MAX, new Random(seed)));
  };
  const seeds = repeat(30, (i) => i);
  const all = (values: readonly number[], target: number, expected: readonly number[] | null): void => {
    for (const seed of seeds) assert.deepEqual(solve(values, target, seed), expected, `${values} for ${target}`);
  };

  test('an exact coin, all smaller ones, a subset, or the next larger', () => {
    all([], CENT, null);
    all(cents(1, 2, 5, 10, 20), 38 * CENT, cents(20, 10, 5, 2, 1));
    all(cents(1, 2, 5, 10, 20), 34 * CENT, cents(20, 10, 5));
    all(cents(1, 2, 5, 10, 20), 7 * CENT, cents(5, 2));
    all(cents(1, 2, 5, 10, 20), 8 * CENT, cents(5, 2, 1));
    all(cents(1, 2, 5, 10, 20), 9 * CENT, cents(10));
    all(cents(1, 2, 5, 10, 20), 39 * CENT, null);
    all(cents(6, 7, 8, 20, 30), 71 * CENT, cents(30, 20, 8, 7, 6));
    all(cents(6, 7, 8, 20, 30), 72 * CENT, null);
    all(cents(6, 7, 8, 20, 30), 16 * CENT, cents(20));
    all(cents(5, 6, 7, 8, 20, 30), 16 * CENT, cents(7, 6, 5));
    all(cents(5, 6, 7, 8, 18, 20, 30), 16 * CENT, cents(18));
    all(cents(5, 6, 7, 8, 18, 20, 30), 11 * CENT, cents(6, 5));
    all(cents(5, 6, 7, 8, 18, 20, 30, 100, 200, 300, 400), 95 * CENT, cents(100));
    all(cents(5, 6, 7, 8, 18, 20, 30, 100, 200, 300, 400), 195 * CENT, cents(200));
  });

  test('small change is avoided where it can be', () => {
    const sums = (values: readonly number[], target: number): number[] =>
      seeds.map((seed) => solve(values, target, seed)!.reduce((sum, value) => sum + value, 0));
    const tenths = cents(0.1, 0.2, 0.3, 0.4, 0.5);
    assert.deepEqual(new Set(sums(tenths, CENT)), new Set([CENT]));
    assert.deepEqual(new Set(sums([...tenths, 1111 * CENT], CENT)), new Set([CENT]));
    assert.deepEqual(new Set(sums([...tenths, ...cents(0.6, 0.7, 1111)], CENT)), new Set([CENT]));
    all(
      repeat(20, () => 50_000 * BTC),
      500_000 * BTC,
      repeat(10, () => 50_000 * BTC),
    );
    all(cents(0.5, 0.6, 0.7, 1111), CENT, cents(1111));
    all(cents(0.4, 0.6, 0.8, 1111), CENT, cents(0.6, 0.4));
    all(cents(0.05, 1, 100), 100.01 * CENT, cents(100, 1, 0.05));
    all(cents(0.05, 1, 100), 99.9 * CENT, cents(100, 1));
  });

  test('many coins of one amount: as many as target and change take', () => {
    for (const value of [1500, 15_000, 150_000, 1_500_000, 15_000_000]) {
      const count = value - 2000 < CENT ? Math.ceil((2000 + CENT) / value) : 1;
      for (const seed of [1, 2, 3]) assert.equal(solve(new Array<number>(676).fill(value), 2000, seed, 148)!.length, count, `${value}`);
    }
  });

  test('the order of amounts, with a thousand large ones and a small one', () => {
    all([...repeat(1000, () => 1000 * BTC), 3 * BTC].slice(-200), 1003 * BTC, [1000 * BTC, 3 * BTC]);
  });

  test('work is bounded, however many coins there are', () => {
    const pool = candidatesOf(repeat(50_000, (i) => ({ amount: 1000 + ((i * 7919) % 9973) })));
    const { positions, tries } = knapsack(pool, 10_000_000, CENT, WEIGHT_MAX, new Random(1));
    assert.ok(positions !== null);
    assert.ok(tries < 1_000_000, `${tries} coins looked at`);
  });

  test('weight: the next larger coin instead of many, or nothing', () => {
    const pool = candidatesOf([...repeat(100, () => ({ amount: CENT, weight: 400 })), { amount: 200 * CENT, weight: 400 }]);
    const result = knapsack(pool, 80 * CENT, CENT, 4000, new Random(1));
    assert.deepEqual(amountsOf(pool, result), cents(200));
    const none = candidatesOf(repeat(100, () => ({ amount: CENT, weight: 400 })));
    const nothing = knapsack(none, 80 * CENT, CENT, 4000, new Random(1));
    assert.deepEqual([nothing.positions, nothing.tooHeavy], [null, true]);
  });
});

describe('among clones', () => {
  // Three pairs of columns: 20 clones, one that differs in its waste, and three clones of less amount.
  const list = [...repeat(20, () => ({ amount: BTC })), { amount: BTC, waste: 1 }, ...repeat(3, () => ({ amount: CENT }))];

  test('any of them is taken, none twice, and none that is no clone', () => {
    const pool = candidatesOf(list);
    const picks = [new Set<number>(), new Set<number>()];
    for (let seed = 0; seed < 300; seed++) {
      const [first, second, ...others] = sourcesAt(pool, [22, 0, 20, 1], new Random(seed));
      assert.notEqual(first, second);
      for (const source of [first, second]) picks[0].add(source);
      assert.equal(others[0], 20);
      picks[1].add(others[1]);
    }
    assert.deepEqual(
      [...picks[0]].sort((a, b) => a - b),
      [...repeat(20, (i) => i)],
    );
    assert.deepEqual(
      [...picks[1]].sort((a, b) => a - b),
      [21, 22, 23],
    );
    assert.deepEqual(
      sourcesAt(pool, [...repeat(24, (i) => i)], new Random(1)).sort((a, b) => a - b),
      [...repeat(24, (i) => i)],
    );
  });

  test('knapsack takes any of equal coins', () => {
    const pool = candidatesOf(repeat(20, () => ({ amount: BTC })));
    const picks = new Set<number>();
    for (let seed = 0; seed < 200; seed++) {
      const random = new Random(seed);
      for (const source of sourcesAt(pool, knapsack(pool, BTC, CENT, WEIGHT_MAX, random).positions!, random)) picks.add(source);
    }
    assert.equal(picks.size, 20);
  });
});

describe('in order', () => {
  test('largest first, oldest first; what is too heavy is passed over', () => {
    const pool = positive([{ amount: 5 }, { amount: 9, weight: 5000 }, { amount: 7 }, { amount: 1 }]);
    assert.deepEqual(amountsOf(pool, largestFirst(pool, 12, 10_000)), [9, 7]);
    assert.deepEqual(amountsOf(pool, largestFirst(pool, 12, 1000)), [7, 5]);
    assert.deepEqual([largestFirst(pool, 14, 1000).positions, largestFirst(pool, 14, 1000).tooHeavy], [null, true]);
    const ages = new Map([
      [9, 1],
      [7, 30],
      [5, 20],
      [1, 40],
    ]);
    const age = (position: number): number => ages.get(pool.amounts[position])!;
    assert.deepEqual(amountsOf(pool, oldestFirst(pool, age, 8, 10_000)), [7, 1]);
    assert.deepEqual(amountsOf(pool, oldestFirst(pool, age, 9, 10_000)), [7, 5, 1]);
  });

  test('candidates are sorted by amount, whatever their sign and size', () => {
    const random = new Random(3);
    for (let round = 0; round < 20; round++) {
      const keys = Float64Array.from({ length: 500 }, () => Math.floor((random.next() / 2 ** 32 - 0.3) * 2 ** (round * 2.7)));
      const order = sortDescending(keys, Uint32Array.from(keys.keys()));
      const expected = [...keys.keys()].sort((a, b) => keys[b] - keys[a]);
      assert.deepEqual([...order], expected);
      // Those that are in order already, up or down, with equal ones among them.
      for (const ordered of [keys.toSorted(), keys.toSorted().reverse()]) {
        const kept = sortDescending(ordered, Uint32Array.from(ordered.keys()));
        assert.deepEqual(
          [...kept],
          [...ordered.keys()].sort((a, b) => ordered[b] - ordered[a]),
        );
      }
    }
    assert.deepEqual([...sortDescending(new Float64Array(0), new Uint32Array(0))], []);
  });
});
