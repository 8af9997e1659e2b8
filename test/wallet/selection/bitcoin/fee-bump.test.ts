/** Replacements by BIP125, ancestors that are lifted by a child, and the lock time of new transactions. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Random } from '../../../../src/chains/random.ts';
import { bumpFeeOf, MinedCluster, type UnconfirmedTx } from '../../../../src/wallet/selection/bitcoin/ancestry.ts';
import {
  checkReplacement,
  DEFAULT_REPLACEMENT,
  REPLACEABLE_SEQUENCE,
  selectReplacement,
  type Victim,
} from '../../../../src/wallet/selection/bitcoin/fee-bump.ts';
import { feeOf } from '../../../../src/wallet/selection/bitcoin/fee-rate.ts';
import { antiSnipingLocktime } from '../../../../src/wallet/selection/bitcoin/locktime.ts';
import { selectCoins } from '../../../../src/wallet/selection/bitcoin/select.ts';
import { CENT, coinOf, paymentOf } from './made-coins.ts';

const victim = (fee: number, vsize: number, other: Partial<Victim> = {}): Victim => ({
  fee: BigInt(fee),
  vsize,
  direct: true,
  replaceable: true,
  ...other,
});

describe('replacements', () => {
  const check =
    (fee: number, vsize: number, victims: readonly Victim[], newUnconfirmedInputs = 0, fullRbf = true) =>
    () =>
      checkReplacement({ fee: BigInt(fee), vsize, newUnconfirmedInputs }, victims, { ...DEFAULT_REPLACEMENT, fullRbf });
  const refusedFor = (rule: string, body: () => void): void =>
    assert.throws(
      body,
      (error: { code?: string; meta?: { rule?: string } }) => error.code === 'REPLACEMENT_REFUSED' && error.meta?.rule === rule,
    );

  test('each rule, at its edge', () => {
    assert.equal(REPLACEABLE_SEQUENCE, 0xfffffffe - 1);
    assert.doesNotThrow(check(1150, 150, [victim(1000, 150)]));
    refusedFor('fee', check(1149, 150, [victim(1000, 150)]));
    refusedFor('fee', check(1150, 150, [victim(900, 150), victim(200, 110, { direct: false })]));
    refusedFor('rate', check(2000, 300, [victim(1000, 150)]));
    assert.doesNotThrow(check(2001, 300, [victim(1000, 150)]));
    assert.doesNotThrow(check(2300, 300, [victim(1000, 150), victim(1000, 110, { direct: false })]), 'of descendants no rate is asked');
    refusedFor('unconfirmed-inputs', check(5000, 150, [victim(1000, 150)], 1));
    refusedFor('evictions', check(5000, 150, [victim(100, 150), ...new Array<Victim>(100).fill(victim(0, 1, { direct: false }))]));
    assert.doesNotThrow(check(5000, 150, [victim(100, 150), ...new Array<Victim>(99).fill(victim(0, 1, { direct: false }))]));
    refusedFor('signal', check(5000, 150, [victim(1000, 150, { replaceable: false })], 0, false));
    assert.doesNotThrow(check(5000, 150, [victim(1000, 150, { replaceable: false })]));
    assert.doesNotThrow(check(5000, 150, [victim(1000, 150, { direct: false, replaceable: false })], 0, false));
  });

  test('a selection that nodes take, for any rate asked and any victims', () => {
    const victims = fc.array(
      fc.record({ fee: fc.integer({ min: 0, max: 60_000 }), vsize: fc.integer({ min: 100, max: 2000 }), direct: fc.boolean() }),
      { minLength: 1, maxLength: 4 },
    );
    const rates = fc.constantFrom(0, 500, 1000, 3000, 20_000, 90_000);
    fc.assert(
      fc.property(victims, rates, fc.integer({ min: 1000, max: 60_000 }), fc.nat(1 << 20), (list, rate, value, seed) => {
        const evicted = list.map(({ fee, vsize, direct }, i) => victim(fee, vsize, { direct: direct || i === 0 }));
        const preset = [coinOf(50_000), coinOf(9000)];
        const coins = [
          ...preset,
          ...[90_000, 300_000, 2_000_000, 60_000_000].map((amount) => coinOf(amount)),
          coinOf(9 * CENT, { confirmations: 0, own: true, ancestors: 1, descendants: 1 }),
        ];
        const selection = selectReplacement(coins, paymentOf(value, rate, { preset }), evicted, DEFAULT_REPLACEMENT, new Random(seed));
        for (const coin of preset) assert.ok(selection.inputs.includes(coin), 'it stays in conflict');
        assert.ok(selection.inputs.every(({ confirmations }) => confirmations > 0));
        checkReplacement({ ...selection, newUnconfirmedInputs: 0 }, evicted, DEFAULT_REPLACEMENT);
        assert.ok(selection.fee >= BigInt(feeOf(rate, selection.vsize)));
      }),
      { numRuns: 400 },
    );
  });

  test('it pays no more than it has to', () => {
    const preset = [coinOf(CENT)];
    const { fee, vsize } = selectReplacement(
      [],
      paymentOf(500_000, 2000, { preset }),
      [victim(7000, 110), victim(20_000, 5000, { direct: false })],
      DEFAULT_REPLACEMENT,
      new Random(1),
    );
    assert.equal(fee, 27_000n + BigInt(feeOf(1000, vsize)));
    assert.throws(() => selectReplacement([coinOf(CENT)], paymentOf(1000, 1000), [victim(100, 110)]), { code: 'USAGE' });
    assert.throws(() => selectReplacement([], paymentOf(995_000, 1000, { preset }), [victim(9000, 110)]), { code: 'FUNDS_INSUFFICIENT' });
  });
});

describe('child pays for parent', () => {
  const tx = (id: string, fee: number, vsize: number, ...parents: string[]): UnconfirmedTx => ({ id, fee: BigInt(fee), vsize, parents });

  test('what ancestors pay too little, and nothing for those that pay enough', () => {
    assert.equal(bumpFeeOf(['a'], [tx('a', 100, 100)], 10_000), 900n);
    assert.equal(bumpFeeOf(['a'], [tx('a', 1000, 100)], 10_000), 0n);
    assert.equal(bumpFeeOf(['a'], [], 10_000), 0n, 'it is mined');
    const chain = [tx('a', 100, 100), tx('b', 200, 100, 'a'), tx('c', 300, 100, 'b')];
    assert.equal(bumpFeeOf(['c'], chain, 10_000), 3000n - 600n);
    assert.equal(bumpFeeOf(['b'], chain, 10_000), 2000n - 300n);
  });

  test('a rich ancestor is mined by itself and pays for nobody above it', () => {
    assert.equal(bumpFeeOf(['b'], [tx('a', 5000, 100), tx('b', 200, 100, 'a')], 10_000), 800n);
    // A rich child has paid for its parent already: only the second child is left.
    const family = [tx('a', 100, 100), tx('rich', 5000, 100, 'a'), tx('poor', 100, 100, 'a')];
    assert.equal(bumpFeeOf(['poor'], family, 10_000), 900n);
    assert.equal(bumpFeeOf(['rich'], family, 10_000), 0n);
  });

  test('shared ancestors are paid for once', () => {
    const family = [tx('a', 100, 100), tx('b', 500, 100, 'a'), tx('c', 500, 100, 'a')];
    const [b, c, both] = [['b'], ['c'], ['b', 'c']].map((spent) => bumpFeeOf(spent, family, 10_000));
    assert.deepEqual([b, c, both], [1400n, 1400n, 1900n]);
  });

  test('together is never more than one by one', () => {
    const shape = fc.array(
      fc.record({ fee: fc.nat(3000), vsize: fc.integer({ min: 50, max: 300 }), parents: fc.array(fc.nat(10), { maxLength: 3 }) }),
      { minLength: 1, maxLength: 10 },
    );
    fc.assert(
      fc.property(shape, (list) => {
        const cluster = list.map(({ fee, vsize, parents }, i) =>
          tx(`${i}`, fee, vsize, ...parents.filter((parent) => parent < i).map(String)),
        );
        const ids = cluster.map(({ id }) => id);
        const single = ids.reduce((sum, id) => sum + bumpFeeOf([id], cluster, 10_000), 0n);
        assert.ok(bumpFeeOf(ids, cluster, 10_000) <= single);
        // What is left to lift pays less than the rate, whichever of them is spent.
        for (const id of ids) assert.ok(bumpFeeOf([id], cluster, 0) === 0n && bumpFeeOf([id], cluster, 10_000) >= 0n);
      }),
      { numRuns: 200 },
    );
  });

  test('is what a miner would leave who looks at everything again after each package', () => {
    const shape = fc.array(
      fc.record({ fee: fc.nat(3000), vsize: fc.integer({ min: 50, max: 300 }), parents: fc.array(fc.nat(14), { maxLength: 3 }) }),
      { minLength: 1, maxLength: 14 },
    );
    fc.assert(
      fc.property(shape, fc.integer({ min: 1, max: 15_000 }), (list, rate) => {
        const cluster = list.map(({ fee, vsize, parents }, i) =>
          tx(`${i}`, fee, vsize, ...new Set(parents.filter((parent) => parent < i).map(String))),
        );
        for (const { id } of cluster) assert.equal(bumpFeeOf([id], cluster, rate), plainBumpFee([id], cluster, rate));
        const every = cluster.map(({ id }) => id);
        assert.equal(bumpFeeOf(every, cluster, rate), plainBumpFee(every, cluster, rate));
      }),
      { numRuns: 300 },
    );
  });

  test('of a chain of thousands is worked out once', () => {
    const chain = Array.from({ length: 3000 }, (_, i) => tx(`${i}`, 100 + (i % 7), 100, ...(i === 0 ? [] : [`${i - 1}`])));
    const mined = new MinedCluster(chain, 10_000);
    assert.equal(mined.behind(['2999']).vsize, 300_000);
    assert.equal(
      mined.behind(['9', '4']).fee,
      chain.slice(0, 10).reduce((sum, { fee }) => sum + Number(fee), 0),
    );
  });

  test('a child that spends its own output of a stuck transaction lifts both to the rate', () => {
    const stuck = tx('stuck', 200, 200);
    const rate = 15_000;
    const coin = coinOf(80_000, {
      confirmations: 0,
      own: true,
      ancestors: 1,
      descendants: 1,
      bumpFee: bumpFeeOf(['stuck'], [stuck], rate),
    });
    const child = selectCoins([], paymentOf(0, rate, { outputs: [], preset: [coin], presetOnly: true }), new Random(1));
    assert.equal(child.fee + stuck.fee, BigInt(feeOf(rate, child.vsize + stuck.vsize)));
    assert.equal(child.change, 80_000n - child.fee);
  });
});

/** The same, told plainly. */
function plainBumpFee(spent: readonly string[], cluster: readonly UnconfirmedTx[], rate: number): bigint {
  const left = new Map(cluster.map((tx) => [tx.id, tx]));
  const packageOf = (ids: readonly string[]): UnconfirmedTx[] => {
    const found = new Set<UnconfirmedTx>();
    const open = [...ids];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const one = left.get(id);
      if (one === undefined || found.has(one)) continue;
      found.add(one);
      open.push(...one.parents);
    }
    return [...found];
  };
  const feesOf = (txs: readonly UnconfirmedTx[]): number => txs.reduce((sum, { fee }) => sum + Number(fee), 0);
  const missing = (txs: readonly UnconfirmedTx[]): number =>
    feeOf(
      rate,
      txs.reduce((sum, { vsize }) => sum + vsize, 0),
    ) - feesOf(txs);
  const paid = (txs: readonly UnconfirmedTx[]): number => feesOf(txs) / txs.reduce((sum, { vsize }) => sum + vsize, 0);
  for (;;) {
    const [best] = [...left.keys()]
      .map((id) => packageOf([id]))
      .filter((txs) => missing(txs) <= 0)
      .sort((a, b) => paid(b) - paid(a));
    if (best === undefined) return BigInt(Math.max(0, missing(packageOf(spent))));
    for (const { id } of best) left.delete(id);
  }
}

describe('lock time', () => {
  const tip = { height: 800_000, timeSeconds: 1_700_000_000 };

  test('the height of the tip, now and then a little lower', () => {
    const times = Array.from({ length: 4000 }, (_, seed) => antiSnipingLocktime(tip, tip.timeSeconds + 600, new Random(seed)));
    const lower = times.filter((time) => time < tip.height);
    assert.ok(lower.length > 300 && lower.length < 500, `${lower.length} of 4000`);
    assert.ok(Math.min(...times) > tip.height - 100 && Math.max(...times) === tip.height);
    assert.equal(
      Math.min(...Array.from({ length: 200 }, (_, seed) => antiSnipingLocktime({ ...tip, height: 3 }, tip.timeSeconds, new Random(seed)))),
      0,
    );
  });

  test('with an old tip none', () => {
    const at = (age: number): number => antiSnipingLocktime(tip, tip.timeSeconds + age, { next: () => 5 });
    assert.deepEqual([at(8 * 3600), at(8 * 3600 + 1)], [800_000, 0]);
  });
});
