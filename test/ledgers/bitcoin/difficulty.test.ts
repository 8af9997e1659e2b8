/**
 * Targets and schedules: the short form against the plainest reading of it,
 * retargets that happened on the real chains (and the cases of Bitcoin Core's
 * and Litecoin Core's own tests), and the special rules of test networks on
 * lines of headers made for them.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  bitsOf,
  type HeaderLine,
  isTimewarp,
  mayFollow,
  medianTime,
  nextBits,
  RETARGET_BLOCKS,
  retarget,
  targetOf,
  workOf,
} from '../../../src/ledgers/bitcoin/difficulty.ts';
import { BITCOIN_NETWORKS, bitcoinNetwork } from '../../../src/ledgers/bitcoin/index.ts';

const rulesOf = (name: string) => bitcoinNetwork(name).work;
const bitcoin = rulesOf('bitcoin');
const litecoin = rulesOf('litecoin');

interface Plain {
  readonly time: number;
  readonly bits: number;
}

/** Headers one after the other, from that height on. */
function line(headers: readonly Plain[], lowest = 0): HeaderLine & { readonly last: number } {
  return {
    last: headers.length - 1,
    height: (n) => lowest + n,
    time: (n) => headers[n].time,
    bits: (n) => headers[n].bits,
    parent: (n) => n - 1,
    ancestor: (_, height) => (height < lowest ? -1 : height - lowest),
  };
}

/** So many headers, `spacing` seconds apart. */
function steady(count: number, spacing: number, bits: number): Plain[] {
  return Array.from({ length: count }, (_, i) => ({ time: 1_000_000_000 + i * spacing, bits }));
}

describe('the short form of a target', () => {
  /** As bytes: the number of bytes, then the three highest of them; a first byte from 80 on would be a minus sign. */
  function short(target: bigint): number {
    let hex = target.toString(16);
    if (hex.length % 2 === 1) hex = `0${hex}`;
    if (Number.parseInt(hex.slice(0, 2), 16) >= 0x80) hex = `00${hex}`;
    return Number.parseInt((hex.length / 2).toString(16) + hex.padEnd(6, '0').slice(0, 6), 16);
  }

  const targets = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });
  const anySize = fc.tuple(targets, fc.nat(255)).map(([target, less]) => (target >> BigInt(less) === 0n ? 1n : target >> BigInt(less)));

  test('is what its bytes say, and loses only what does not fit', () => {
    fc.assert(
      fc.property(anySize, (target) => {
        const bits = bitsOf(target);
        assert.equal(bits, short(target));
        const back = targetOf(bits) as bigint;
        assert.ok(back <= target && (target - back) * 2n ** 15n <= target, `${target} came back as ${back}`);
        assert.equal(bitsOf(back), bits, 'a second time nothing is lost');
      }),
      { numRuns: 2000 },
    );
  });

  test('keeps the order of targets, and harder ones are more work', () => {
    fc.assert(
      fc.property(anySize, anySize, (a, b) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        const [hard, easy] = [targetOf(bitsOf(low)) as bigint, targetOf(bitsOf(high)) as bigint];
        assert.ok(hard <= easy);
        assert.ok(workOf(bitsOf(low)) >= workOf(bitsOf(high)));
      }),
    );
  });

  test('any bits at all are read as nodes read them', () => {
    fc.assert(
      fc.property(fc.nat(0xffff_ffff), (bits) => {
        const [size, word] = [bits >>> 24, bits & 0x7f_ffff];
        const exact = BigInt(word) * 256n ** BigInt(size);
        const target = exact / 256n ** 3n;
        const isNone = (bits & 0x80_0000) !== 0 || target === 0n || target >= 2n ** 256n;
        assert.equal(targetOf(bits), isNone ? null : target);
        assert.equal(workOf(bits), isNone ? 0n : 2n ** 256n / (target + 1n));
      }),
    );
    assert.equal(workOf(0x1d00ffff), 0x100010001n);
    assert.equal(workOf(0x207fffff), 2n);
  });

  test('the first block of a network is no easier than its limit', () => {
    for (const { name, genesis, work } of BITCOIN_NETWORKS) {
      assert.ok((targetOf(genesis.bits) as bigint) <= (targetOf(work.limitBits) as bigint), name);
      assert.equal(bitsOf(targetOf(work.limitBits) as bigint), work.limitBits, name);
    }
  });
});

describe('a new period', () => {
  type Case = readonly [what: string, rules: typeof bitcoin, first: number, last: number, bits: number, next: number];
  const CASES: readonly Case[] = [
    ['bitcoin 32256', bitcoin, 1261130161, 1262152739, 0x1d00ffff, 0x1d00d86a],
    ['bitcoin 2016: not above the limit', bitcoin, 1231006505, 1233061996, 0x1d00ffff, 0x1d00ffff],
    ['bitcoin 68544: not more than four times as hard', bitcoin, 1279008237, 1279297671, 0x1c05a3f4, 0x1c0168fd],
    ['bitcoin 46368: not more than four times as easy', bitcoin, 1263163443, 1269211443, 0x1c387f6f, 0x1d00e1fd],
    ['bitcoin 556416', bitcoin, 1545175965, 1546275302, 0x17371ef4, 0x173218a5],
    ['litecoin 280224', litecoin, 1358118740, 1358378777, 0x1c0ac141, 0x1c093f8d],
    ['litecoin 2016: not above the limit', litecoin, 1317972665, 1318480354, 0x1e0ffff0, 0x1e0fffff],
    ['litecoin: not more than four times as hard', litecoin, 1401682934, 1401757934, 0x1b075cf1, 0x1b01d73c],
    ['litecoin: not more than four times as easy', litecoin, 1463690315, 1464900315, 0x1b015318, 0x1b054c60],
  ];
  for (const [what, rules, first, last, bits, next] of CASES) test(what, () => assert.equal(retarget(rules, bits, last - first), next));

  test('is what the plain formula says, within a factor of four', () => {
    const seconds = fc.integer({ min: -10_000, max: 10_000_000 });
    const hard = fc.integer({ min: 0x1700_8000, max: 0x1d00_ffff }).filter((bits) => targetOf(bits) !== null);
    fc.assert(
      fc.property(hard, seconds, (bits, taken) => {
        const twoWeeks = 14 * 24 * 3600;
        const bounded = taken < twoWeeks / 4 ? twoWeeks / 4 : Math.min(taken, twoWeeks * 4);
        const target = ((targetOf(bits) as bigint) * BigInt(bounded)) / BigInt(twoWeeks);
        const limit = 2n ** 224n - 1n;
        assert.equal(retarget(bitcoin, bits, taken), target > limit ? 0x1d00_ffff : bitsOf(target));
      }),
    );
  });

  test('counts from the first block of the old one; on Litecoin from the one before it, but for the first time', () => {
    for (const [rules, back] of [
      [bitcoin, 0],
      [litecoin, 1],
    ] as const) {
      const bits = 0x1b01_0000;
      const two = steady(2 * RETARGET_BLOCKS, rules.spacing / 2, bits);
      const first = two[RETARGET_BLOCKS - back];
      const expected = retarget(rules, bits, two[two.length - 1].time - first.time);
      assert.equal(nextBits(rules, line(two), two.length - 1, 0), expected);
      const one = two.slice(0, RETARGET_BLOCKS);
      assert.equal(nextBits(rules, line(one), one.length - 1, 0), retarget(rules, bits, one[one.length - 1].time - one[0].time));
      // The header that it takes is not there.
      const cut = line(two.slice(RETARGET_BLOCKS + 1 - back), RETARGET_BLOCKS + 1 - back);
      assert.equal(nextBits(rules, cut, cut.last, 0), null);
      assert.equal(mayFollow(rules, cut, cut.last, { time: 0, bits: expected }), true);
      assert.equal(mayFollow(rules, cut, cut.last, { time: 0, bits: retarget(rules, bits, 0) }), true);
      assert.equal(mayFollow(rules, cut, cut.last, { time: 0, bits: bitsOf((targetOf(bits) as bigint) / 5n) }), false);
      assert.equal(mayFollow(rules, cut, cut.last, { time: 0, bits: bitsOf((targetOf(bits) as bigint) * 5n) }), false);
    }
  });

  test('within a period nothing changes, and on regtest never', () => {
    const headers = steady(100, 1, 0x1c00_ffff);
    assert.equal(nextBits(bitcoin, line(headers), 99, 2_000_000_000), 0x1c00_ffff);
    assert.equal(nextBits(rulesOf('bitcoin-signet'), line(headers), 99, 2_000_000_000), 0x1c00_ffff);
    const period = steady(RETARGET_BLOCKS, 1, 0x207f_ffff);
    for (const name of ['bitcoin-regtest', 'litecoin-regtest'])
      for (const count of [1, 100, RETARGET_BLOCKS]) assert.equal(nextBits(rulesOf(name), line(period), count - 1, 0), 0x207f_ffff);
  });
});

describe('test networks', () => {
  const testnet3 = rulesOf('bitcoin-testnet3');
  const testnet4 = rulesOf('bitcoin-testnet4');
  const limit = testnet3.limitBits;
  const hard = 0x1b01_0000;

  test('a block more than twenty minutes late may be as easy as can be, and the next one is not', () => {
    const headers = steady(50, 600, hard);
    const { time } = headers[49];
    for (const rules of [testnet3, testnet4]) {
      assert.equal(nextBits(rules, line(headers), 49, time + 1200), hard);
      assert.equal(nextBits(rules, line(headers), 49, time + 1201), limit);
      const late = [...headers, { time: time + 1201, bits: limit }, { time: time + 2402, bits: limit }];
      assert.equal(nextBits(rules, line(late), 51, time + 2402), hard, 'the newest block that was not late says it');
      assert.equal(mayFollow(rules, line(late), 51, { time: time + 2402, bits: limit }), false);
    }
    const litecoinTest = rulesOf('litecoin-testnet');
    assert.equal(nextBits(litecoinTest, line(headers), 49, time + 300), hard);
    assert.equal(nextBits(litecoinTest, line(headers), 49, time + 301), litecoinTest.limitBits);
  });

  test('the search for it ends at the first block of the period, or where nothing is known', () => {
    const easy = steady(10, 600, limit);
    const { time } = easy[9];
    const below = { time: 0, bits: hard };
    assert.equal(nextBits(testnet3, line([below, ...easy], RETARGET_BLOCKS - 1), 10, time), limit);
    assert.equal(nextBits(testnet3, line([below, ...easy], RETARGET_BLOCKS), 10, time), hard);
    assert.equal(nextBits(testnet3, line(easy, RETARGET_BLOCKS + 5), 9, time), null);
    assert.equal(mayFollow(testnet3, line(easy, RETARGET_BLOCKS + 5), 9, { time, bits: hard }), true);
    assert.equal(mayFollow(testnet3, line(easy, RETARGET_BLOCKS + 5), 9, { time, bits: 0x1f00_ffff }), false, 'easier than the limit');
  });

  test('a period that ends with an easy block: testnet3 forgets the difficulty, testnet4 does not (BIP94)', () => {
    const headers = steady(RETARGET_BLOCKS, 600, hard);
    headers[RETARGET_BLOCKS - 1] = { time: headers[RETARGET_BLOCKS - 1].time, bits: limit };
    const taken = 600 * (RETARGET_BLOCKS - 1);
    assert.equal(nextBits(testnet3, line(headers), RETARGET_BLOCKS - 1, 0), retarget(testnet3, limit, taken));
    assert.equal(nextBits(testnet4, line(headers), RETARGET_BLOCKS - 1, 0), retarget(testnet4, hard, taken));
  });

  test('the first block of a period of testnet4 is not earlier than ten minutes before the last one (BIP94)', () => {
    const headers = line(steady(RETARGET_BLOCKS, 600, hard));
    const time = headers.time(headers.last);
    assert.equal(isTimewarp(testnet4, headers, headers.last, time - 600), false);
    assert.equal(isTimewarp(testnet4, headers, headers.last, time - 601), true);
    assert.equal(isTimewarp(testnet4, headers, headers.last - 1, 0), false);
    assert.equal(isTimewarp(testnet3, headers, headers.last, time - 601), false);
  });
});

test('the median of eleven times, of fewer at the beginning, and of none where they are not known', () => {
  const times = [5, 3, 9, 1, 7, 11, 2, 8, 4, 10, 6, 100];
  const headers = times.map((time) => ({ time, bits: 0 }));
  assert.equal(medianTime(line(headers), 10), 6);
  assert.equal(medianTime(line(headers), 11), 7);
  assert.equal(medianTime(line(headers), 0), 5);
  assert.equal(medianTime(line(headers), 1), 5, 'of two, the later');
  assert.equal(medianTime(line(headers), 2), 5);
  assert.equal(medianTime(line(headers, 50), 9), null);
  assert.equal(medianTime(line(headers, 50), 10), 6);
});
