/**
 * Selections from a wallet's coins: the vectors of W85 by name, rounds of
 * eligibility, groups, preset coins, and 100,000 coins (W86).
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Random } from '../../../../src/chains/random.ts';
import { isUnspentError, type UnspentError } from '../../../../src/util/errors.ts';
import {
  type Coin,
  SELECTION_ORDERS,
  type Selection,
  type SelectionOrder,
  type SelectionRequest,
} from '../../../../src/wallet/selection/bitcoin/coin.ts';
import { feeOf, vsizeOf } from '../../../../src/wallet/selection/bitcoin/fee-rate.ts';
import { selectCoins } from '../../../../src/wallet/selection/bitcoin/select.ts';
import { systemRandom } from '../../../../src/wallet/selection/random.ts';
import { cpuTimed } from '../../../support/cpu-time.ts';
import { BASE_VSIZE, BTC, CENT, coinOf, effectiveCoin, OUTPUT_VSIZE, paymentOf, WPKH_SCRIPT, WPKH_WEIGHT } from './made-coins.ts';

const sum = (coins: readonly { readonly value: bigint }[]): bigint => coins.reduce((total, { value }) => total + value, 0n);
const repeat = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));
const keys = (coins: readonly Coin[]): readonly string[] => coins.map(({ script }) => script).sort();

/** Selects, and checks what holds for every selection. */
function select(coins: readonly Coin[], request: SelectionRequest, seed = 1): Selection {
  const selection = selectCoins(coins, request, new Random(seed));
  const { inputs, outputs, change, changeIndex, fee, weight, vsize } = selection;
  assert.equal(sum(inputs), sum(outputs) + change + fee, 'nothing is lost');
  assert.equal(new Set(inputs).size, inputs.length, 'no coin twice');
  assert.equal(vsize, vsizeOf(weight));
  assert.ok(fee >= BigInt(feeOf(request.rates.target, vsize)), 'the asked rate on the real size');
  assert.ok(change === 0n || change >= 294n, 'change is never dust');
  assert.equal(changeIndex === null, change === 0n);
  assert.ok(changeIndex === null || (changeIndex >= 0 && changeIndex <= outputs.length));
  assert.ok(weight <= (request.policy?.weightMax ?? 400_000));
  return selection;
}

function failure(coins: readonly Coin[], request: SelectionRequest): UnspentError {
  try {
    selectCoins(coins, request, new Random(1));
  } catch (error) {
    assert.ok(isUnspentError(error));
    return error;
  }
  throw new Error('it selected something');
}

describe('W85', () => {
  /** What a payment takes of effective values. */
  const target = (value: number, rate: number): number => value + feeOf(rate, BASE_VSIZE);

  test('W85 BnB exact: coins that pay to the satoshi, and no change', () => {
    const rate = 5000;
    const part = Math.floor(0.6 * target(BTC, rate));
    const coins = [part, target(BTC, rate) - part, part - 1000].map((amount) => effectiveCoin(amount, rate));
    const selection = select(coins, paymentOf(BTC, rate));
    assert.deepEqual([selection.algorithm, selection.inputs.length, selection.change], ['branch-and-bound', 2, 0n]);
    assert.equal(selection.waste, BigInt(2 * (340 - 680)), 'below the long-term rate inputs are worth spending');
    assert.equal(selection.fee, BigInt(feeOf(rate, BASE_VSIZE + 2 * 68)));
  });

  test('W85 BnB within cost of change: the upper bound is in, one above it makes change', () => {
    const rate = 20_000;
    const cost = feeOf(rate, OUTPUT_VSIZE) + feeOf(10_000, 68);
    const others = [effectiveCoin(3 * BTC, rate)];
    const at = (above: number): Selection => select([effectiveCoin(target(BTC, rate) + above, rate), ...others], paymentOf(BTC, rate));
    const [within, beyond] = [at(cost), at(cost + 1)];
    assert.deepEqual([within.algorithm, within.change, within.fee], ['branch-and-bound', 0n, BigInt(feeOf(rate, BASE_VSIZE + 68) + cost)]);
    assert.notEqual(beyond.algorithm, 'branch-and-bound');
  });

  test('W85 CoinGrinder at 31 sat/vB vs 29: the lightest inputs only when fees are high', () => {
    // Two light coins together weigh less than the heavy one; no selection is without change.
    const coins = (rate: number): Coin[] => [
      effectiveCoin(3 * BTC, rate, { weight: 4 * 500 }),
      ...repeat(2, () => effectiveCoin(1.5 * BTC, rate, { weight: 4 * 57 })),
      ...repeat(30, () => effectiveCoin(0.1 * BTC, rate, { weight: 4 * 68 })),
    ];
    for (let seed = 0; seed < 20; seed++) {
      const high = select(coins(31_000), paymentOf(2 * BTC, 31_000), seed);
      assert.deepEqual([high.algorithm, high.inputs.map(({ weight }) => weight)], ['coin-grinder', [4 * 57, 4 * 57]]);
      assert.notEqual(select(coins(29_000), paymentOf(2 * BTC, 29_000), seed).algorithm, 'coin-grinder');
      assert.notEqual(select(coins(30_000), paymentOf(2 * BTC, 30_000), seed).algorithm, 'coin-grinder', 'three times is not yet high');
    }
  });

  test('W85 SRD weight eviction: a random draw that fits', () => {
    // 60 small coins are too heavy; with the large ones it fits, and knapsack has no larger coin to fall back on.
    const policy = { weightMax: 10_000 + 4 * (BASE_VSIZE + OUTPUT_VSIZE) };
    const coins = [...repeat(60, () => coinOf(0.33 * BTC)), ...repeat(10, () => coinOf(2 * BTC))];
    let drawn = 0;
    for (let seed = 0; seed < 30; seed++) {
      const selection = select(coins, paymentOf(25.33 * BTC, 0, { policy }), seed);
      assert.ok(selection.inputs.filter(({ value }) => value === BigInt(2 * BTC)).length >= 9);
      if (selection.algorithm === 'single-random-draw') drawn++;
    }
    assert.ok(drawn > 0);
  });

  test('W85 knapsack fallback: where neither no change nor ample change is possible', () => {
    const rate = 1000;
    // It leaves 20,000: too much for none, too little for what the random draw aims at.
    const coins = [effectiveCoin(target(BTC, rate) - 50_000, rate), effectiveCoin(70_000, rate)];
    const selection = select(coins, paymentOf(BTC, rate));
    assert.deepEqual([selection.algorithm, selection.inputs.length], ['knapsack', 2]);
    assert.equal(selection.change, BigInt(20_000 - feeOf(rate, OUTPUT_VSIZE)));
    // A coin that costs more than it brings would make knapsack fall short, and nothing else is left: the largest first.
    const dust = repeat(5, () => coinOf(10, { weight: 4 * 5000 }));
    const last = select([...coins, ...dust], paymentOf(BTC, rate));
    assert.deepEqual([last.algorithm, keys(last.inputs)], ['largest-first', keys(coins)]);
  });

  test('W85 dust-only wallet: all that is missing is said', () => {
    const error = failure(
      repeat(1000, () => coinOf(300)),
      paymentOf(10_000, 20_000),
    );
    assert.equal(error.code, 'FUNDS_INSUFFICIENT');
    const needed = BigInt(target(10_000, 20_000));
    assert.deepEqual(error.meta, { needed, available: 0n, missing: needed, unconfirmed: 0n });
  });

  test('W85 max weight: one large coin, a mixture that fits, or none', () => {
    const [small, medium] = [0.033 * BTC, 0.0625 * BTC];
    const one = select([...repeat(1515, () => coinOf(small)), coinOf(50 * BTC)], paymentOf(49.5 * BTC, 0));
    assert.ok(one.inputs.some(({ value }) => value === BigInt(50 * BTC)));
    const mixture = select([...repeat(400, () => coinOf(medium)), ...repeat(2000, () => coinOf(0.025 * BTC))], paymentOf(49.5 * BTC, 0));
    assert.equal(new Set(mixture.inputs.map(({ value }) => value)).size, 2);
    const error = failure(
      repeat(1515, () => coinOf(small)),
      paymentOf(49.5 * BTC, 0),
    );
    assert.deepEqual([error.code, error.meta], ['TX_TOO_LARGE', { weightMax: 400_000 }]);
  });

  test('W85 subtract fee: receivers pay it, and branch and bound is left out', () => {
    const rate = 3000;
    const cost = feeOf(rate, OUTPUT_VSIZE) + feeOf(1000, 68);
    const rates = { target: rate, longTerm: 1000, discard: 1000, dustRelay: 3000 };
    const outputs = [{ value: BigInt(BTC), script: WPKH_SCRIPT, subtractFee: true }];
    const coins = [coinOf(BTC + cost), coinOf(0.5 * BTC + cost), coinOf(0.5 * BTC)];
    for (let seed = 0; seed < 20; seed++) {
      const selection = select(coins, { ...paymentOf(BTC, rate), rates, outputs }, seed);
      assert.notEqual(selection.algorithm, 'branch-and-bound');
      assert.equal(selection.outputs[0].value + selection.fee + selection.change, sum(selection.inputs));
    }
    const all = select([coinOf(BTC)], { ...paymentOf(BTC, rate), outputs });
    assert.deepEqual([all.outputs[0].value, all.change, all.fee], [BigInt(BTC) - all.fee, 0n, BigInt(feeOf(rate, BASE_VSIZE + 68))]);
    const [third, ...rest] = repeat(3, (i) => ({ value: BigInt(CENT), script: WPKH_SCRIPT, subtractFee: i !== 1 }));
    const split = select([coinOf(10 * CENT)], { ...paymentOf(BTC, 3001), outputs: [third, ...rest] });
    const [first, untouched, last] = split.outputs.map(({ value }) => BigInt(CENT) - value);
    assert.deepEqual([first + last, untouched, first - last], [split.fee, 0n, split.fee % 2n], 'in equal parts, the first bears the rest');
    assert.equal(failure([coinOf(1000)], { ...paymentOf(1000, 10_000), outputs: [{ ...outputs[0], value: 1000n }] }).code, 'OUTPUT_DUST');
  });

  test('W85 equal-waste tie: more inputs', () => {
    // At the long-term rate inputs neither cost nor win anything; one coin and two coins both pay exactly.
    const rate = 10_000;
    const [one, two] = [
      [effectiveCoin(target(BTC, rate), rate)],
      [BTC / 4, target(BTC, rate) - BTC / 4].map((part) => effectiveCoin(part, rate)),
    ];
    for (let seed = 0; seed < 20; seed++) {
      const selection = select([...one, ...two], paymentOf(BTC, rate), seed);
      assert.deepEqual([selection.waste, keys(selection.inputs)], [0n, keys(two)]);
    }
  });
});

describe('rounds', () => {
  const rate = 1000;
  const pay = (coins: readonly Coin[], request: Partial<SelectionRequest> = {}): readonly string[] =>
    keys(select(coins, paymentOf(BTC, rate, request)).inputs);
  const unconfirmed = (other: Partial<Coin> = {}): Coin =>
    coinOf(2 * BTC, { confirmations: 0, own: true, ancestors: 1, descendants: 1, ...other });

  test('what has six confirmations, else one, else own change', () => {
    const [old, young, change] = [coinOf(2 * BTC, { confirmations: 6 }), coinOf(2 * BTC, { confirmations: 5 }), unconfirmed()];
    assert.deepEqual(pay([change, young, old]), keys([old]));
    assert.deepEqual(pay([change, young]), keys([young]));
    assert.deepEqual(pay([change]), keys([change]));
    const own = coinOf(2 * BTC, { confirmations: 1, own: true });
    assert.deepEqual(pay([change, young, own]), keys([own]), 'of own coins one confirmation is enough');
  });

  test('own change with few ancestors before own change with many', () => {
    const chain = [1, 2, 3, 4, 8, 12, 24].map((ancestors) => unconfirmed({ ancestors, descendants: ancestors }));
    for (const [i, coin] of chain.entries()) {
      const rest = chain.slice(i);
      // Of one round any may be taken: 1 and 2, 3 and 4, 8 and 12.
      const round = rest.filter(
        ({ ancestors }) => [2, 4, 12, 24].find((limit) => limit >= ancestors) === [2, 4, 12, 24].find((limit) => limit >= coin.ancestors),
      );
      assert.ok(keys(round).includes(pay(rest)[0]), `${coin.ancestors}`);
    }
    const error = failure([unconfirmed({ ancestors: 25 })], paymentOf(BTC, rate));
    assert.equal(error.code, 'FUNDS_INSUFFICIENT');
    assert.equal(error.meta['unconfirmed'], BigInt(2 * BTC - feeOf(rate, 68)), 'it says what waits');
    assert.equal(pay([unconfirmed({ ancestors: 25 })], { policy: { rejectLongChains: false } }).length, 1);
  });

  test('others unconfirmed only where it is allowed, own only where it is not forbidden', () => {
    const foreign = unconfirmed({ own: false });
    assert.equal(failure([foreign], paymentOf(BTC, rate)).code, 'FUNDS_INSUFFICIENT');
    assert.deepEqual(pay([foreign], { policy: { spendUnsafe: true } }), keys([foreign]));
    assert.equal(failure([unconfirmed()], paymentOf(BTC, rate, { policy: { spendUnconfirmedChange: false } })).code, 'FUNDS_INSUFFICIENT');
  });

  test('one kind of output before several; several only in the second round', () => {
    const [key, script] = ['p2wpkh', 'p2sh'].map(
      (type) =>
        (value: number, confirmations = 6) =>
          coinOf(value * BTC, { type, confirmations }),
    );
    const alone = [script(0.7), script(0.7)];
    for (let seed = 0; seed < 10; seed++) {
      const { inputs } = select([key(0.9), ...alone], paymentOf(BTC, rate), seed);
      assert.deepEqual(keys(inputs), keys(alone));
    }
    const mixed = [key(0.9), script(0.9)];
    assert.deepEqual(pay(mixed), keys(mixed));
    // A younger coin of one kind is taken before kinds are mixed.
    assert.deepEqual(pay([...mixed, key(0.9, 1)]).length, 2);
    assert.ok(pay([...mixed, key(0.9, 1)]).every((name) => name !== mixed[1].script));
  });

  test('a kind whose coins are too heavy does not stop the others', () => {
    const heavy = coinOf(5 * BTC, { type: 'p2wsh', weight: 390_000 });
    const light = coinOf(2 * BTC);
    assert.deepEqual(
      pay(
        [heavy, heavy, light].map((coin, i) => ({ ...coin, index: i })),
        { policy: { weightMax: 4000 } },
      ),
      keys([light]),
    );
  });
});

describe('groups', () => {
  test('coins of one script are spent together', () => {
    const group = repeat(3, (i) => coinOf((0.4 + i / 100) * BTC, { script: 'reused' }));
    const { inputs } = select([...group, coinOf(0.3 * BTC)], paymentOf(0.5 * BTC, 1000, { policy: { avoidPartialSpends: true } }));
    assert.equal(inputs.filter(({ script }) => script === 'reused').length, 3);
  });

  test('a group is as young as its youngest coin, and dust in it is left out', () => {
    const dust = coinOf(10, { script: 'reused' });
    const group = [coinOf(BTC, { script: 'reused' }), coinOf(BTC, { script: 'reused', confirmations: 0 }), dust];
    const request = paymentOf(0.5 * BTC, 20_000, { policy: { avoidPartialSpends: true } });
    assert.equal(failure(group, request).code, 'FUNDS_INSUFFICIENT');
    const { inputs } = select(
      group.map((coin) => ({ ...coin, confirmations: 9 })),
      request,
    );
    assert.deepEqual(
      inputs.map(({ value }) => value),
      [BigInt(BTC), BigInt(BTC)],
    );
  });

  test('a hundred to a group; the rest of a script only when nothing else pays', () => {
    const many = repeat(130, () => coinOf(CENT, { script: 'reused' }));
    const policy = { avoidPartialSpends: true };
    assert.equal(select(many, paymentOf(0.1 * BTC, 1000, { policy })).inputs.length, 100);
    assert.equal(select(many, paymentOf(1.1 * BTC, 1000, { policy })).inputs.length, 130, 'in the round that allows parts of a group');
    const confirmedOnly = { ...policy, spendUnconfirmedChange: false };
    assert.equal(select(many, paymentOf(1.1 * BTC, 1000, { policy: confirmedOnly })).inputs.length, 130);
  });
});

describe('preset coins and orders', () => {
  const rate = 5000;

  test('preset coins are spent even if others would do better, and others are added', () => {
    const [ten, nine, one] = [10, 9, 1].map((value) => effectiveCoin(value * CENT, rate));
    const selection = select([ten, nine, one], paymentOf(10 * CENT - feeOf(rate, BASE_VSIZE), rate, { preset: [nine] }));
    assert.deepEqual([keys(selection.inputs), selection.change], [keys([nine, one]), 0n]);
  });

  test('only preset coins: enough, or what is missing', () => {
    const coin = coinOf(100_000);
    const manual = select([coinOf(BTC)], paymentOf(90_000, rate, { preset: [coin], presetOnly: true }));
    assert.deepEqual([manual.algorithm, keys(manual.inputs)], ['manual', keys([coin])]);
    // Its value would do, but not after the fee of spending it.
    const error = failure([coinOf(BTC)], paymentOf(99_900, 3000, { preset: [coin], presetOnly: true }));
    const [needed, available] = [BigInt(99_900 + feeOf(3000, BASE_VSIZE)), 100_000n - 204n];
    assert.equal(error.code, 'FUNDS_INSUFFICIENT');
    assert.deepEqual(error.meta, { needed, available, missing: needed - available, unconfirmed: 0n });
    assert.equal(failure([], paymentOf(1000, rate, { preset: [coin, { ...coin }] })).code, 'USAGE');
    assert.equal(failure([], paymentOf(1000, rate, { preset: [coinOf(BTC, { weight: 500_000 })] })).code, 'TX_TOO_LARGE');
  });

  test('no outputs: all that is spent comes back, and there is always change', () => {
    const selection = select([], paymentOf(0, rate, { outputs: [], preset: [coinOf(CENT)], presetOnly: true }));
    assert.deepEqual([selection.change, selection.changeIndex], [BigInt(CENT) - selection.fee, 0]);
    const small = coinOf(900);
    assert.equal(
      select([small, coinOf(CENT)], paymentOf(0, rate, { outputs: [], preset: [small] })).inputs.length,
      2,
      'another coin pays for change',
    );
    assert.equal(failure([], paymentOf(0, 0, { outputs: [], preset: [] })).code, 'FUNDS_INSUFFICIENT');
  });

  test('largest first, oldest first', () => {
    const coins = [3, 8, 5].map((value, i) => coinOf(value * CENT, { confirmations: 10 + ((i + 2) % 3) }));
    const by = (order: 'largest-first' | 'oldest-first', value: number): readonly bigint[] => {
      const { inputs, algorithm } = select(coins, paymentOf(value * CENT, rate, { policy: { order } }));
      assert.equal(algorithm, order);
      return inputs.map((coin) => coin.value / BigInt(CENT)).sort();
    };
    assert.deepEqual([by('largest-first', 2), by('largest-first', 9)], [[8n], [5n, 8n]]);
    assert.deepEqual([by('oldest-first', 2), by('oldest-first', 4)], [[3n], [3n, 5n]]);
  });

  test('one search alone, where it is asked for, and what it says where it finds nothing', () => {
    const coins = [3, 8, 5].map((value) => coinOf(value * CENT));
    const policy = (order: SelectionOrder) => ({ policy: { order } });
    for (const order of SELECTION_ORDERS.slice(2)) {
      const { algorithm } = select(coins, paymentOf(4 * CENT, rate, policy(order)));
      assert.equal(algorithm, order);
      assert.equal(failure(coins, paymentOf(20 * CENT, rate, policy(order))).code, 'FUNDS_INSUFFICIENT');
    }
    const exact = effectiveCoin(4 * CENT, rate);
    const payment = (value: number) => paymentOf(value - feeOf(rate, BASE_VSIZE), rate, policy('branch-and-bound'));
    assert.equal(select([...coins, exact], payment(4 * CENT)).algorithm, 'branch-and-bound');
    const error = failure(coins, payment(4 * CENT));
    assert.deepEqual([error.code, error.meta], ['SELECTION_NOT_FOUND', { order: 'branch-and-bound' }]);
    assert.equal(failure(coins, paymentOf(0, rate, { ...policy('branch-and-bound'), outputs: [], preset: [coins[0]] })).code, 'USAGE');
  });

  test('change stands where it is asked for', () => {
    for (const changeIndex of [0, 1]) assert.equal(select([coinOf(BTC)], paymentOf(CENT, rate, { changeIndex })).changeIndex, changeIndex);
    for (const changeIndex of [-1, 0.5, 2]) assert.equal(failure([coinOf(BTC)], paymentOf(CENT, rate, { changeIndex })).code, 'USAGE');
  });

  test('a payment of dust, a payment of nothing, a negative fixed fee', () => {
    const error = failure([coinOf(BTC)], paymentOf(293, rate));
    assert.deepEqual([error.code, error.meta['least']], ['OUTPUT_DUST', 294]);
    const data = { value: 0n, script: Uint8Array.of(0x6a, 1, 1) };
    assert.equal(select([coinOf(BTC)], paymentOf(0, rate, { outputs: [data] })).inputs.length, 1);
    assert.equal(failure([coinOf(BTC)], paymentOf(0, 0, { outputs: [data] })).code, 'USAGE');
    assert.equal(failure([coinOf(BTC)], paymentOf(CENT, rate, { fixedFee: -1n })).code, 'USAGE');
    assert.equal(failure([coinOf(BTC)], paymentOf(CENT, 0.5)).code, 'USAGE');
  });

  test('fees of ancestors are paid, once where they are shared', () => {
    const parent = { confirmations: 0, own: true, ancestors: 1, descendants: 1, bumpFee: 4000n };
    const coins = [coinOf(CENT, parent), coinOf(CENT, parent)];
    const apart = select(coins, paymentOf(1.5 * CENT, rate));
    const together = select(coins, paymentOf(1.5 * CENT, rate, { combinedBumpFee: () => 5000n }));
    const size = (selection: Selection): bigint => BigInt(feeOf(rate, selection.vsize));
    assert.deepEqual([apart.fee - size(apart), together.fee - size(together)], [8000n, 5000n]);
  });

  test('more than 252 inputs: the longer count is paid for', () => {
    // P2WPKH inputs are whole virtual bytes, so that rounding leaves nothing for the two bytes.
    const coins = repeat(300, () => effectiveCoin(10_000, rate));
    for (const count of [252, 253, 260, 290]) {
      const selection = select(coins, paymentOf(count * 10_000 - feeOf(rate, BASE_VSIZE), rate, { policy: { order: 'largest-first' } }));
      assert.ok(selection.inputs.length >= count, `${selection.inputs.length} for ${count}`);
    }
  });

  test('inputs and change stand in random places', () => {
    const coins = repeat(6, () => coinOf(CENT));
    const orders = new Set<string>();
    const places = new Set<number | null>();
    for (let seed = 0; seed < 60; seed++) {
      const { inputs, changeIndex } = select(coins, paymentOf(5.5 * CENT, rate), seed);
      orders.add(inputs.map(({ script }) => script).join());
      places.add(changeIndex);
    }
    assert.ok(orders.size > 30, `${orders.size} orders`);
    assert.deepEqual(places, new Set([0, 1]));
    assert.equal(
      selectCoins(coins, paymentOf(CENT, rate)).inputs.length,
      selectCoins(coins, paymentOf(CENT, rate), systemRandom()).inputs.length,
    );
  });
});

describe('W86', () => {
  test('W86 100,000 coins: the selection itself takes a fraction of its budget', () => {
    const random = new Random(86);
    const coins = repeat(100_000, (i) =>
      coinOf(10_000 + random.int(10_000_000), { type: i % 5 === 0 ? 'p2tr' : 'p2wpkh', weight: i % 5 === 0 ? 230 : WPKH_WEIGHT }),
    );
    const request = paymentOf(20 * 5_000_000, 20_000);
    selectCoins(coins, request, random);
    const [best] = repeat(3, () => cpuTimed(() => select(coins, request))[1]).sort((a, b) => a - b);
    // Processor time, several times what it takes: the figure itself is for bench/selection.ts.
    assert.ok(best < 400, `${best} ms`);
  });
});
