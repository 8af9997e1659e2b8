/** The waste of a selection, in the cases that Bitcoin Core's wallet is tested with, and worked out here. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { changeOf, wasteOf } from '../../../../src/wallet/selection/bitcoin/waste.ts';
import { BTC } from './made-coins.ts';

const CHANGE = { fee: 30, cost: 125, minViable: 300 };
const FEE = 100;
/** Coins of 1 and 2 BTC, each with a fee of 100 now and `later` some other day. */
const two = (later: number, bumpFees = 0, bumpDiscount = 0, fee = FEE) => ({
  amount: 3 * BTC - 2 * fee - bumpFees,
  waste: 2 * (fee - later) + bumpFees,
  bumpDiscount,
});
const target = (amount: number, subtractFee = false) => ({ amount, subtractFee });
/** All that two coins bring after their fees. */
const EXACT = 3 * BTC - 2 * FEE;

describe('waste', () => {
  test('with change: its cost, and fees now less fees later', () => {
    assert.equal(wasteOf(two(60), target(2 * BTC), CHANGE), 80 + 125);
    assert.equal(wasteOf(two(140), target(2 * BTC), CHANGE), -80 + 125);
    assert.equal(wasteOf(two(100), target(2 * BTC), CHANGE), 125);
    assert.equal(wasteOf(two(190), target(2 * BTC), CHANGE), -55, 'it may be negative');
    assert.equal(wasteOf(two(140), target(2 * BTC), { ...CHANGE, cost: 80 }), 0);
    assert.ok(wasteOf(two(60, 0, 0, 200), target(2 * BTC), CHANGE) > wasteOf(two(60), target(2 * BTC), CHANGE));
  });

  test('without change: the excess, and fees now less fees later', () => {
    assert.equal(wasteOf(two(60), target(EXACT - 80), CHANGE), 80 + 80);
    assert.equal(wasteOf(two(140), target(EXACT - 80), CHANGE), -80 + 80);
    assert.equal(wasteOf(two(100), target(EXACT - 80), CHANGE), 80);
    assert.equal(wasteOf(two(100), target(EXACT), CHANGE), 0);
    assert.equal(wasteOf(two(140), target(EXACT), CHANGE), -80);
  });

  test('what lifts ancestors counts, less what they share', () => {
    const change = { fee: 35, cost: 125, minViable: 200 };
    assert.equal(wasteOf(two(140, 60), target(2 * BTC), change), -80 + 125 + 60);
    assert.equal(wasteOf(two(140, 60, 30), target(2 * BTC), change), -80 + 125 + 60 - 30);
    // Without change the discount becomes excess, and nothing is won.
    assert.equal(wasteOf(two(140, 60), target(EXACT - 100), change), -80 + 60 + 40);
    assert.equal(wasteOf(two(140, 60, 30), target(EXACT - 100), change), -80 + 60 - 30 + 70);
  });

  test('change is made from the least that is viable on', () => {
    const left = (amount: number): number => changeOf(two(100), target(EXACT - amount), CHANGE);
    assert.deepEqual([left(329), left(330), left(5000)], [0, 300, 4970]);
    // The receiver pays the fee, so none is kept back for the output of change.
    const values = { amount: 3 * BTC, waste: 0, bumpDiscount: 0 };
    assert.deepEqual(
      [changeOf(values, target(3 * BTC - 299, true), CHANGE), changeOf(values, target(3 * BTC - 300, true), CHANGE)],
      [0, 300],
    );
    assert.equal(wasteOf(values, target(3 * BTC - 299, true), CHANGE), 299);
  });
});
