/**
 * Searches against all subsets of small sets of coins: branch and bound finds a
 * selection whenever there is one and none has less waste; coin grinder finds
 * the lightest; and what is chosen in the end wastes no more than either.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Random } from '../../../../src/chains/random.ts';
import { isUnspentError } from '../../../../src/util/errors.ts';
import { branchAndBound } from '../../../../src/wallet/selection/bitcoin/branch-and-bound.ts';
import type { Candidates } from '../../../../src/wallet/selection/bitcoin/candidates.ts';
import type { Coin } from '../../../../src/wallet/selection/bitcoin/coin.ts';
import { coinGrinder } from '../../../../src/wallet/selection/bitcoin/coin-grinder.ts';
import { feeOf, vsizeOf } from '../../../../src/wallet/selection/bitcoin/fee-rate.ts';
import { selectCoins } from '../../../../src/wallet/selection/bitcoin/select.ts';
import { BASE_VSIZE, coinOf, OUTPUT_VSIZE, paymentOf, positive } from './made-coins.ts';

interface Sums {
  readonly positions: readonly number[];
  readonly amount: number;
  readonly weight: number;
  readonly waste: number;
  /** Without its last candidate. */
  readonly before: number;
}

function subsets({ amounts, weights, wastes, count }: Candidates): readonly Sums[] {
  return Array.from({ length: 2 ** count - 1 }, (_, i): Sums => {
    const positions = [...amounts.keys()].filter((position) => ((i + 1) >> position) & 1);
    const sum = (column: Float64Array): number => positions.reduce((total, position) => total + column[position], 0);
    const amount = sum(amounts);
    return { positions, amount, weight: sum(weights), waste: sum(wastes), before: amount - amounts[positions[positions.length - 1]] };
  });
}

/** Few distinct amounts and weights, so that clones, ties and exact matches are common. */
const candidate = fc.record({ amount: fc.integer({ min: 1, max: 30 }), weight: fc.integer({ min: 1, max: 4 }), rate: fc.constant(0) });
const pools = fc.record({
  list: fc.array(candidate, { minLength: 1, maxLength: 10 }),
  target: fc.integer({ min: 1, max: 120 }),
  cost: fc.integer({ min: 0, max: 8 }),
  weightMax: fc.integer({ min: 1, max: 30 }),
  /** Fee now less fee later, for each unit of weight. */
  wasteRate: fc.integer({ min: -3, max: 3 }),
});

describe('against all subsets', () => {
  test('branch and bound: it finds one whenever there is one, and none wastes less', () => {
    fc.assert(
      fc.property(pools, ({ list, target, cost, weightMax, wasteRate }) => {
        const pool = positive(list.map(({ amount, weight }) => ({ amount, weight, waste: weight * wasteRate })));
        const result = branchAndBound(pool, target, cost, weightMax);
        // The rule does not look at what comes after a hit: more inputs would only burn them.
        const hits = subsets(pool).filter(
          (s) => s.amount >= target && s.amount <= target + cost && s.weight <= weightMax && s.before < target,
        );
        assert.ok(result.complete);
        assert.equal(result.positions === null, hits.length === 0);
        if (result.positions === null) return;
        const found = hits.find(({ positions }) => positions.join() === result.positions!.join());
        assert.ok(found !== undefined, 'it is one of them');
        assert.equal(found.waste + found.amount, Math.min(...hits.map(({ waste, amount }) => waste + amount)));
      }),
      { numRuns: 600 },
    );
  });

  test('coin grinder: none is lighter, and of the lightest none binds less', () => {
    fc.assert(
      fc.property(pools, ({ list, target, weightMax }) => {
        const pool = positive(list.map(({ amount, weight }) => ({ amount, weight, waste: weight })));
        const result = coinGrinder(pool, target, weightMax);
        const fit = subsets(pool).filter(({ amount, weight }) => amount >= target && weight <= weightMax);
        assert.ok(result.complete);
        assert.equal(result.positions === null, fit.length === 0);
        if (result.positions === null) return;
        const found = fit.find(({ positions }) => positions.join() === result.positions!.join());
        assert.ok(found !== undefined, 'it is one of them');
        const lightest = Math.min(...fit.map(({ weight }) => weight));
        assert.equal(found.weight, lightest);
        assert.equal(found.amount, Math.min(...fit.filter(({ weight }) => weight === lightest).map(({ amount }) => amount)));
      }),
      { numRuns: 600 },
    );
  });
});

const coins = fc.array(
  fc.record({
    value: fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1000, max: 300_000 }), fc.constantFrom(20_000, 50_000, 100_000)),
    weight: fc.constantFrom(230, 272, 593),
    confirmations: fc.constantFrom(0, 1, 5, 6, 100),
    own: fc.boolean(),
    bumpFee: fc.constantFrom(0, 0, 0, 700),
    script: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'),
  }),
  { minLength: 1, maxLength: 9 },
);

const requests = fc.record({
  rate: fc.constantFrom(0, 1, 1000, 9999, 10_000, 25_000, 45_000),
  outputs: fc.array(fc.integer({ min: 294, max: 200_000 }), { minLength: 1, maxLength: 3 }),
  subtractFee: fc.boolean(),
  avoidPartialSpends: fc.boolean(),
  spendUnsafe: fc.boolean(),
  preset: fc.integer({ min: 0, max: 2 }),
  fixedFee: fc.constantFrom(0n, 0n, 1234n),
  seed: fc.integer({ min: 0, max: 1 << 30 }),
});

const TYPES: Readonly<Record<number, string>> = { 230: 'p2tr', 272: 'p2wpkh', 593: 'p2pkh' };

describe('whatever is asked for', () => {
  test('amounts add up, the rate is paid, change is no dust, no coin twice; or the error is right', () => {
    fc.assert(
      fc.property(coins, requests, (list, { rate, outputs, subtractFee, avoidPartialSpends, spendUnsafe, preset, fixedFee, seed }) => {
        const made = list.map(({ value, bumpFee, confirmations, ...other }): Coin => {
          const chain = confirmations === 0 ? { ancestors: 1, descendants: 1, bumpFee: BigInt(bumpFee) } : {};
          return coinOf(value, { ...other, type: TYPES[other.weight], confirmations, ...chain });
        });
        const paid = outputs.map((value, i) => ({ ...paymentOf(value, rate).outputs[0], subtractFee: subtractFee && i < 2 }));
        const policy = { avoidPartialSpends, spendUnsafe };
        const request = paymentOf(0, rate, { outputs: paid, policy, fixedFee, preset: made.slice(0, preset) });
        let selection: ReturnType<typeof selectCoins>;
        try {
          selection = selectCoins(made, request, new Random(seed));
        } catch (error) {
          assert.ok(isUnspentError(error), `${error}`);
          assert.ok(['FUNDS_INSUFFICIENT', 'OUTPUT_DUST'].includes(error.code), `${error}`);
          if (error.code === 'FUNDS_INSUFFICIENT') assert.ok((error.meta['missing'] as bigint) > 0n, `${error}`);
          return;
        }
        const { inputs, change, fee, vsize } = selection;
        const total = (values: readonly { readonly value: bigint }[]): bigint => values.reduce((sum, { value }) => sum + value, 0n);
        assert.equal(total(inputs), total(selection.outputs) + change + fee);
        const bumps = inputs.reduce((sum, { bumpFee }) => sum + bumpFee, 0n);
        assert.ok(fee >= BigInt(feeOf(rate, vsize)) + bumps + fixedFee);
        assert.ok(change === 0n || change >= 980n);
        assert.equal(new Set(inputs).size, inputs.length);
        for (const coin of request.preset ?? []) assert.ok(inputs.includes(coin));
        for (const [i, output] of selection.outputs.entries()) {
          assert.ok(output.value >= 294n && output.value <= paid[i].value);
          assert.ok(output.value === paid[i].value || paid[i].subtractFee);
        }
      }),
      { numRuns: 1500 },
    );
  });

  test('waste is at most that of the best selection without change, and of the lightest one where fees are high', () => {
    const wallet = fc.array(fc.record({ value: fc.integer({ min: 3000, max: 40_000 }), weight: fc.constantFrom(230, 272) }), {
      minLength: 1,
      maxLength: 9,
    });
    fc.assert(
      fc.property(
        wallet,
        fc.constantFrom(1000, 10_000, 31_000),
        fc.integer({ min: 1000, max: 100_000 }),
        fc.nat(1 << 20),
        (list, rate, value, seed) => {
          const made = list.map((coin) => coinOf(coin.value, { weight: coin.weight }));
          const target = value + feeOf(rate, BASE_VSIZE);
          const fee = (coin: Coin): number => feeOf(rate, vsizeOf(coin.weight));
          const waste = (coin: Coin): number => fee(coin) - feeOf(10_000, vsizeOf(coin.weight));
          const pool = positive(made.map((coin) => ({ amount: Number(coin.value) - fee(coin), weight: coin.weight, waste: waste(coin) })));
          const cost = feeOf(rate, OUTPUT_VSIZE) + feeOf(10_000, 68);
          const exact = subsets(pool).filter((s) => s.amount >= target && s.amount <= target + cost && s.before < target);
          if (pool.total < target) {
            assert.throws(() => selectCoins(made, paymentOf(value, rate), new Random(seed)), { code: 'FUNDS_INSUFFICIENT' });
            return;
          }
          const selection = selectCoins(made, paymentOf(value, rate), new Random(seed));
          for (const hit of exact)
            assert.ok(selection.waste <= BigInt(hit.waste + hit.amount - target), `${selection.algorithm} ${selection.waste}`);
          if (rate <= 30_000) return;
          // Whatever change coin grinder aimed at, it is below twice the payment.
          const aimed = target + feeOf(rate, OUTPUT_VSIZE) + Math.max(50_000, Math.min(2 * value, 1_000_000));
          const fit = subsets(pool).filter(({ amount }) => amount >= aimed);
          if (fit.length > 0) assert.ok(selection.waste <= BigInt(Math.min(...fit.map((s) => s.waste)) + cost));
        },
      ),
      { numRuns: 400 },
    );
  });
});
