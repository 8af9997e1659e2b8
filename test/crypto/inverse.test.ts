/** The inverse of long numbers, against what it means and against the plain algorithm. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { inverseOf } from '../../src/crypto/inverse.ts';

const PRIME = 2n ** 3072n - 1103717n;
/** Another length, and one that fits the leading bits. */
const OTHERS = [
  [2n ** 521n - 1n, 521],
  [2n ** 61n - 1n, 61],
  [2n ** 31n - 1n, 31],
  [7n, 3],
] as const;

function check(value: bigint, modulus: bigint, bits: number): void {
  const inverse = inverseOf(value, modulus, bits);
  assert.ok(inverse > 0n && inverse < modulus, 'the least positive one');
  assert.equal((value * inverse) % modulus, 1n);
}

describe('the inverse modulo a prime', () => {
  test('of random numbers of all lengths', () => {
    const numbers = fc.integer({ min: 1, max: 3071 }).chain((bits) => fc.bigInt({ min: 1n, max: 2n ** BigInt(bits) - 1n }));
    fc.assert(
      fc.property(numbers, (value) => check(value, PRIME, 3072)),
      { numRuns: 400 },
    );
    for (const [modulus, bits] of OTHERS) {
      fc.assert(
        fc.property(fc.bigInt({ min: 1n, max: modulus - 1n }), (value) => check(value, modulus, bits)),
        { numRuns: 200 },
      );
    }
  });

  test('where quotients are huge, all ones, or the leading bits say nothing', () => {
    for (let bit = 0n; bit < 3072n; bit += 13n) {
      for (const value of [1n << bit, (1n << bit) + 1n, PRIME - (1n << bit), PRIME / ((1n << bit) + 1n) || 1n]) {
        if (value > 0n && value < PRIME) check(value, PRIME, 3072);
      }
    }
    // Neighbours in Fibonacci's row take the most steps.
    let [low, high] = [1n, 1n];
    while (high < PRIME) [low, high] = [high, low + high];
    check(low, PRIME, 3072);
    check(high - low, PRIME, 3072);
  });

  test('there is none where both have a factor', () => {
    assert.throws(() => inverseOf(6n, 15n, 4));
  });
});
