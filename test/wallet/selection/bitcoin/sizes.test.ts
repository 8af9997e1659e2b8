/**
 * Weights of inputs, sizes of outputs and dust: the figures that are known of
 * Bitcoin's transactions, and a transaction that another library has built.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Transaction } from 'bitcoinjs-lib';
import { Random } from '../../../../src/chains/random.ts';
import { changeTerms } from '../../../../src/wallet/selection/bitcoin/change.ts';
import { checkRates, feeOf, vsizeOf } from '../../../../src/wallet/selection/bitcoin/fee-rate.ts';
import { inputWeight, type SpendForm } from '../../../../src/wallet/selection/bitcoin/input-weight.ts';
import { compactSizeBytes, dustThreshold, outputBytes, weightWithoutInputs } from '../../../../src/wallet/selection/bitcoin/output-size.ts';
import { CHANGE, WPKH_SCRIPT } from './made-coins.ts';

const zeros = (length: number): Uint8Array => new Uint8Array(length);
const SCRIPTS = {
  p2pkh: Uint8Array.from([0x76, 0xa9, 20, ...zeros(20), 0x88, 0xac]),
  p2sh: Uint8Array.from([0xa9, 20, ...zeros(20), 0x87]),
  p2wpkh: Uint8Array.from([0x00, 20, ...zeros(20)]),
  p2wsh: Uint8Array.from([0x00, 32, ...zeros(32)]),
  p2tr: Uint8Array.from([0x51, 32, ...zeros(32)]),
  p2a: Uint8Array.from([0x51, 2, 0x4e, 0x73]),
  data: Uint8Array.from([0x6a, 4, 1, 2, 3, 4]),
};

/** What unlocks an input, as bytes of its script and items of its witness. */
function unlocking(form: SpendForm): { readonly script: number; readonly witness: readonly number[] } {
  switch (form.kind) {
    case 'p2pkh':
      return { script: 1 + 72 + 1 + 33, witness: [] };
    case 'p2sh-p2wpkh':
      return { script: 23, witness: [72, 33] };
    case 'p2wpkh':
      return { script: 0, witness: [72, 33] };
    case 'p2tr-key':
      return { script: 0, witness: [64] };
    case 'p2wsh-multisig':
      return { script: 0, witness: [0, ...new Array<number>(form.required).fill(72), 3 + 34 * form.keys] };
    case 'p2sh-p2wsh-multisig':
      return { script: 35, witness: [0, ...new Array<number>(form.required).fill(72), 3 + 34 * form.keys] };
    default:
      throw new Error(`not in this test: ${form.kind}`);
  }
}

const FORMS: readonly (readonly [SpendForm, vsize: number])[] = [
  [{ kind: 'p2pkh' }, 148],
  [{ kind: 'p2sh-p2wpkh' }, 91],
  [{ kind: 'p2wpkh' }, 68],
  [{ kind: 'p2tr-key' }, 57.5],
  [{ kind: 'p2wsh-multisig', required: 2, keys: 3 }, 104.5],
  [{ kind: 'p2wsh-multisig', required: 11, keys: 15 }, 371.25],
  [{ kind: 'p2sh-p2wsh-multisig', required: 2, keys: 3 }, 139.5],
];

describe('weights of inputs', () => {
  for (const [form, vsize] of FORMS) {
    test(`${JSON.stringify(form)}: ${vsize} virtual bytes`, () => {
      // A byte says of an input without witness that it has none.
      assert.equal(inputWeight(form), 4 * vsize + (form.kind === 'p2pkh' ? 1 : 0));
    });
  }

  test('others: P2PK, bare and P2SH multisig, pay to anchor, and what is given', () => {
    assert.equal(inputWeight({ kind: 'p2pk' }), 4 * (41 + 73) + 1);
    assert.equal(inputWeight({ kind: 'multisig', required: 1, keys: 2 }), 4 * (41 + 74) + 1);
    // 2-of-3: a redeem script of 105 bytes is pushed with two, and the script of 254 has a length of three.
    assert.equal(inputWeight({ kind: 'p2sh-multisig', required: 2, keys: 3 }), 4 * (40 + 3 + 254) + 1);
    assert.equal(inputWeight({ kind: 'p2sh-multisig', required: 1, keys: 1 }), 4 * (41 + 1 + 73 + 1 + 37) + 1);
    assert.equal(inputWeight({ kind: 'p2sh-multisig', required: 8, keys: 15 }), 4 * (40 + 3 + 1 + 8 * 73 + 3 + 513) + 1);
    assert.equal(inputWeight({ kind: 'p2wsh-multisig', required: 17, keys: 20 }), 4 * 41 + 2 + 17 * 73 + 3 + (2 + 20 * 34 + 2 + 1));
    assert.equal(inputWeight({ kind: 'p2a' }), 4 * 41 + 1);
    assert.equal(inputWeight({ kind: 'given', scriptBytes: 0, witnessBytes: 108 }), inputWeight({ kind: 'p2wpkh' }));
    assert.throws(() => inputWeight({ kind: 'p2wsh-multisig', required: 4, keys: 3 }), /as many signatures/);
  });

  test('a transaction weighs what bitcoinjs-lib says it weighs', () => {
    const segwit = FORMS.map(([form]) => form);
    for (const forms of [segwit, segwit.slice(1), [segwit[2]], new Array<SpendForm>(253).fill(segwit[3])]) {
      const tx = new Transaction();
      for (const [i, form] of forms.entries()) {
        const { script, witness } = unlocking(form);
        tx.addInput(zeros(32), i, 0xffff_fffd, zeros(script));
        tx.setWitness(i, witness.map(zeros));
      }
      const outputs = [SCRIPTS.p2wpkh, SCRIPTS.p2tr, SCRIPTS.p2pkh].map((script) => ({ script }));
      for (const { script } of outputs) tx.addOutput(script, 1000n);
      const weight = weightWithoutInputs(outputs, forms.length) + forms.reduce((sum, form) => sum + inputWeight(form), 0);
      assert.equal(weight, tx.weight());
      assert.equal(vsizeOf(weight), tx.virtualSize());
    }
  });
});

describe('outputs', () => {
  test('sizes', () => {
    assert.deepEqual(
      Object.values(SCRIPTS).map((script) => outputBytes(script)),
      [34, 32, 31, 43, 43, 13, 15],
    );
    assert.equal(outputBytes(zeros(300)), 8 + 3 + 300);
    assert.deepEqual([0xfc, 0xfd, 0xffff, 0x1_0000].map(compactSizeBytes), [1, 3, 3, 5]);
  });

  test('dust at the relay rate of nodes, by kind of script', () => {
    const dust = Object.fromEntries(Object.entries(SCRIPTS).map(([name, script]) => [name, dustThreshold(script, 3000)]));
    assert.deepEqual(dust, { p2pkh: 546, p2sh: 540, p2wpkh: 294, p2wsh: 330, p2tr: 330, p2a: 240, data: 0 });
    assert.equal(dustThreshold(zeros(10_001), 3000), 0, 'nobody can spend it');
    assert.equal(dustThreshold(WPKH_SCRIPT, 1), 1, 'rounded up');
  });
});

describe('fees and change', () => {
  test('fees are rounded up, at any rate', () => {
    assert.deepEqual(
      [feeOf(1, 1), feeOf(0, 1000), feeOf(1000, 68), feeOf(1500, 3), feeOf(59_764, 68), feeOf(1_000_000_000, 100_000)],
      [1, 0, 68, 5, 4064, 100_000_000_000],
    );
  });

  test('rates are whole numbers within limits', () => {
    for (const target of [-1, 0.5, Number.NaN, 1_000_000_001]) {
      assert.throws(() => checkRates({ target, longTerm: 0, discard: 0, dustRelay: 0 }), { code: 'USAGE' });
    }
  });

  test('costs of change', () => {
    const rates = { target: 5000, longTerm: 10_000, discard: 3000, dustRelay: 3000 };
    const { fee, cost, minViable, weight } = changeTerms(CHANGE, rates, 0n, new Random(1));
    assert.deepEqual({ fee, cost, minViable, weight }, { fee: 155, cost: 359, minViable: 294, weight: 124 });
    assert.equal(changeTerms(CHANGE, { ...rates, discard: 10_000 }, 0n, new Random(1)).minViable, 980, 'dust at the discard rate');
    const heavy = { ...CHANGE, spendWeight: 4 * 300 };
    assert.equal(changeTerms(heavy, { ...rates, discard: 3000 }, 0n, new Random(1)).minViable, 901, 'one more than spending it costs');
  });

  test('change is aimed at 50,000 for small payments, else at a random amount below twice the payment', () => {
    const rates = { target: 1000, longTerm: 10_000, discard: 3000, dustRelay: 3000 };
    const aims = (payment: bigint): number[] =>
      Array.from({ length: 300 }, (_, seed) => changeTerms(CHANGE, rates, payment, new Random(seed)).target - 31);
    assert.deepEqual(new Set(aims(25_000n)), new Set([50_000]));
    for (const [payment, below] of [
      [40_000n, 80_000],
      [900_000n, 1_000_000],
    ] as const) {
      const list = aims(payment);
      assert.ok(Math.min(...list) >= 50_000 && Math.max(...list) < below, `${Math.min(...list)} to ${Math.max(...list)}`);
      assert.ok(Math.max(...list) - Math.min(...list) > 0.9 * (below - 50_000), 'all of the range');
    }
  });
});
