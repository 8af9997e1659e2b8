/**
 * What the devnet asks of transactions from outside: each rule by a transaction
 * that breaks it alone, and what becomes of those that wait when time passes or
 * the chain turns.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LiveDevnet } from '../../../src/chains/cardano/devnet/live.ts';
import { makeWallet } from '../../../src/chains/cardano/devnet/wallet.ts';
import { addSignatures } from '../../../src/ledgers/cardano/signatures.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';
import { assertCode } from '../../support/harness.ts';
import { signTx } from '../../support/sign.ts';

const ADA = 1_000_000n;
const [alice, bob] = [makeWallet(1), makeWallet(2)];

interface Wish {
  readonly from?: number;
  readonly until?: number;
  readonly fee?: bigint;
  readonly paid?: bigint;
  readonly back?: bigint;
  /** Of the one redeemer it then has. */
  readonly units?: readonly [memory: number, steps: number];
  readonly collateral?: bigint;
  readonly signers?: readonly Uint8Array[];
  readonly inputs?: number;
}

/** Alice has one coin of 100 ada. */
function alicesChain(): LiveDevnet {
  const chain = new LiveDevnet({ seed: 5, addresses: 3, txPerBlock: 1 });
  chain.fund(alice.address, 100n * ADA);
  chain.mine(3);
  return chain;
}

/** Alice pays Bob 10 ada of that coin, and breaks no rule but as wished. */
function payment(chain: LiveDevnet, wish: Wish = {}): Uint8Array {
  const coin = [...chain.utxos.values()].find(({ addressHex }) => addressHex === toHex(alice.address))!;
  const { from, until, fee = 200_000n, paid = 10n * ADA, units, collateral, signers = [], inputs = 1 } = wish;
  const back = wish.back ?? coin.lovelace - fee - paid;
  const optional = [from, until, collateral, collateral].filter((field) => field !== undefined).length + (signers.length > 0 ? 1 : 0);
  const w = new CborWriter().array(4).map(3 + optional);
  const refs = (field: number, count: number): void => {
    w.uint(field).array(count);
    for (let i = 0; i < count; i++) w.array(2).bytes(coin.txId).uint(coin.index);
  };
  refs(0, inputs);
  w.uint(1).array(2).array(2).bytes(bob.address).bigUint(paid).array(2).bytes(alice.address).bigUint(back);
  w.uint(2).bigUint(fee);
  if (until !== undefined) w.uint(3).uint(until);
  if (from !== undefined) w.uint(8).uint(from);
  if (collateral !== undefined) refs(13, 1);
  if (signers.length > 0) signers.reduce((list, hash) => list.bytes(hash), w.uint(14).array(signers.length));
  if (collateral !== undefined) {
    w.uint(16)
      .array(2)
      .bytes(alice.address)
      .bigUint(coin.lovelace - collateral);
  }
  if (units === undefined) w.map(0);
  else w.map(1).uint(5).map(1).array(2).uint(0).uint(0).array(2).uint(0).array(2).uint(units[0]).uint(units[1]);
  return w.bool(true).null().take();
}

const keyHash = (wallet: typeof alice): Uint8Array => wallet.address.subarray(1);

function refusal(chain: LiveDevnet, tx: Uint8Array): string {
  const verdict = chain.submit(tx);
  return verdict.accepted ? 'accepted' : verdict.reason;
}

describe('a transaction from outside', () => {
  const chain = alicesChain();
  const { slot } = chain.tip.point!;
  const cases: readonly (readonly [what: string, Wish, RegExp])[] = [
    ['before its time', { from: slot + 2 }, new RegExp(`valid from slot ${slot + 2} on, and this is slot ${slot + 1}`)],
    ['after its time', { until: slot + 1 }, new RegExp(`valid before slot ${slot + 1} only`)],
    ['without inputs', { inputs: 0 }, /has no inputs/],
    ['with an input twice', { inputs: 2 }, /is named twice/],
    ['with a fee that is too small', { fee: 160_000n }, /the fee is 160000 lovelace, less than 1\d\d\d\d\d/],
    [
      'with a fee that its scripts are not paid by',
      { units: [1_000_000, 500_000_000], collateral: 5n * ADA },
      /the fee is 200000 lovelace/,
    ],
    [
      'with too little collateral',
      { units: [1000, 1000], collateral: 200_000n, fee: ADA },
      /the collateral is 200000 lovelace, less than 1500000/,
    ],
    ['with scripts and no collateral', { units: [1000, 1000], fee: ADA }, /the collateral is 0 lovelace/],
    ['with an output that is too small', { paid: 500_000n }, /output 0 has 500000 lovelace, less than/],
    ['that makes lovelace', { back: 91n * ADA }, /value is not conserved/],
    ['that somebody else must sign, too', { signers: [keyHash(bob)] }, new RegExp(`the key ${toHex(keyHash(bob))} has not signed`)],
  ];
  for (const [what, wish, reason] of cases) {
    it(`${what} is refused`, () => assert.match(refusal(chain, signTx(payment(chain, wish), alice)), reason));
  }

  it('that its owner has not signed, or not this one, is refused', () => {
    const tx = payment(chain);
    assert.match(refusal(chain, tx), new RegExp(`the key ${toHex(keyHash(alice))} has not signed`));
    assert.match(refusal(chain, signTx(tx, bob)), /has not signed/);
    const other = { key: alice.verificationKey, signature: new Uint8Array(64) };
    assert.match(refusal(chain, addSignatures(tx, [other])), /a signature is not that of its key/);
    assertCode(() => addSignatures(tx, [{ ...other, signature: new Uint8Array(63) }]), 'USAGE');
    assertCode(() => addSignatures(Uint8Array.of(0x84), [other]), 'USAGE');
  });

  it('that keeps them all is taken, once, with signatures that were added one by one', () => {
    const tx = payment(chain, { from: slot + 1, until: slot + 2, signers: [keyHash(bob)] });
    const signed = signTx(signTx(tx, alice), bob);
    assert.equal(refusal(chain, signed), 'accepted');
    assert.match(refusal(chain, signed), /waiting already/);
    assert.match(refusal(chain, signTx(payment(chain), alice)), /is not unspent/);
  });
});

describe('a transaction that waits', () => {
  const heldBy = (chain: LiveDevnet, wallet: typeof alice): bigint =>
    [...chain.utxos.values()].reduce((sum, utxo) => sum + (utxo.addressHex === toHex(wallet.address) ? utxo.lovelace : 0n), 0n);

  it('is dropped when its time is over before the block', () => {
    const chain = alicesChain();
    const { slot } = chain.tip.point!;
    assert.equal(refusal(chain, signTx(payment(chain, { until: slot + 2 }), alice)), 'accepted');
    chain.mine();
    assert.ok(chain.tip.point!.slot >= slot + 2, 'the block came later');
    assert.deepEqual([chain.pending().length, heldBy(chain, bob)], [0, 0n]);
  });

  it('comes back after a rollback if its time has begun there, and not if it has not', () => {
    // One block back, the tip is at the slot from which it is valid; two back, before it.
    for (const [depth, isBack] of [
      [1, true],
      [2, false],
    ] as const) {
      const chain = alicesChain();
      chain.mine(2);
      const { slot } = chain.tip.point!;
      assert.equal(refusal(chain, signTx(payment(chain, { from: slot }), alice)), 'accepted');
      chain.mine();
      assert.equal(heldBy(chain, bob), 10n * ADA);
      chain.rollback(depth);
      assert.deepEqual([chain.pending().length === 1, heldBy(chain, bob)], [isBack, 0n]);
      chain.mine();
      assert.equal(heldBy(chain, bob), isBack ? 10n * ADA : 0n);
    }
  });
});
