/**
 * What stands between a block nobody checked and the store: a body that is not
 * its header's is refused, in each of the ways it can be wrong.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { sha256d } from '../../../src/crypto/sha256.ts';
import { type BitcoinBlock, bitcoinLedger, decodeBlock, decodeTx, merkleRoot, saidHeight } from '../../../src/ledgers/bitcoin/index.ts';
import { concatBytes, toHex } from '../../../src/util/bytes.ts';
import { needsFixtures } from '../../support/fixtures.ts';
import { forgeBlock, forgeCoinbase, forgeTx, OP_TRUE } from './forge.ts';
import { bitcoin, regtest, sampleBytes, samples } from './samples.ts';

const ledger = bitcoinLedger(regtest);
const PREV = new Uint8Array(32).fill(9);
const paid = [{ value: 50n, script: OP_TRUE }];
const spending = (seed: number, witness?: readonly Uint8Array[]): Uint8Array =>
  forgeTx({ inputs: [{ txId: new Uint8Array(32).fill(seed), index: 0, ...(witness ? { witness } : {}) }], outputs: paid });

const verify = (raw: Uint8Array, height = 600): void => ledger.verify(ledger.decode(raw, height));

describe('the Merkle tree', () => {
  const plain = (leaves: readonly Uint8Array[]): Uint8Array => {
    if (leaves.length === 1) return leaves[0];
    const padded = leaves.length % 2 === 0 ? leaves : [...leaves, leaves[leaves.length - 1]];
    return plain(Array.from({ length: padded.length / 2 }, (_, i) => sha256d(concatBytes(padded[2 * i], padded[2 * i + 1]))));
  };

  test('is what the plain definition gives, and no honest list is mutated', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(), { minLength: 1, maxLength: 40 }), (numbers) => {
        const leaves = numbers.map((number) => sha256d(Uint8Array.of(number, number >> 8, number >> 16, number >> 24)));
        const { root, mutated } = merkleRoot(leaves);
        assert.equal(toHex(root), toHex(plain(leaves)));
        assert.equal(mutated, false);
      }),
    );
  });

  test('a list with its end repeated has the same root and is found out (CVE-2012-2459)', () => {
    for (const count of [1, 2, 3, 5, 6, 7, 9, 11, 12, 13]) {
      const leaves = Array.from({ length: count }, (_, i) => sha256d(Uint8Array.of(i)));
      const honest = merkleRoot(leaves);
      let twins = 0;
      for (let repeat = 1; repeat <= count; repeat *= 2) {
        const longer = [...leaves, ...leaves.slice(count - repeat)];
        const forged = merkleRoot(longer);
        if (toHex(forged.root) !== toHex(honest.root)) continue;
        twins++;
        assert.ok(forged.mutated, `${count} and ${repeat} more`);
      }
      if (count % 2 === 1 && count > 1) assert.ok(twins > 0, `${count}`);
    }
  });

  test('a block with its last transactions twice is refused', () => {
    const txs = [forgeCoinbase(600, paid), spending(1), spending(2)];
    verify(forgeBlock(PREV, txs));
    const twice = forgeBlock(PREV, [...txs, txs[2]]);
    assert.deepEqual(twice.subarray(36, 68), forgeBlock(PREV, txs).subarray(36, 68));
    assert.throws(() => verify(twice), { code: 'BLOCK_INVALID', message: /repeated/ });
  });

  test('any other change of a transaction is noticed', () => {
    const raw = forgeBlock(PREV, [forgeCoinbase(600, paid), spending(1), spending(2)]);
    const block = ledger.decode(raw, 600);
    for (const tx of block.txs) {
      const changed = raw.slice();
      changed[tx.end - 1] ^= 1;
      assert.throws(() => verify(changed), { code: 'BLOCK_INVALID', message: /Merkle root/ });
      assert.throws(() => ledger.verify(ledger.decode(changed, 600), false), { code: 'BLOCK_INVALID', message: /Merkle root/ });
    }
  });
});

describe('witnesses', () => {
  const others = [spending(1, [OP_TRUE]), spending(2)];
  const good = forgeBlock(PREV, [forgeCoinbase(600, paid, others), ...others]);
  const stripped = (tx: Uint8Array): Uint8Array => {
    const { raw, start, bodyStart, bodyEnd, lockTimeAt, end } = decodeTx(tx);
    return concatBytes(raw.subarray(start, start + 4), raw.subarray(bodyStart, bodyEnd), raw.subarray(lockTimeAt, end));
  };

  test('those committed to are accepted, others are not', () => {
    verify(good);
    const block = ledger.decode(good, 600);
    const changed = good.slice();
    // The one byte of the one item of the second transaction's witness.
    changed[block.txs[1].witnessEnd - 1] ^= 1;
    assert.deepEqual(ledger.decode(changed, 600).txs[1].id, block.txs[1].id);
    assert.throws(() => verify(changed), { code: 'BLOCK_INVALID', message: /not those it commits to/ });
    // Where nobody keeps witnesses, they are not looked at: ids and outputs are not made of them.
    ledger.verify(ledger.decode(changed, 600), false);
    const salted = good.slice();
    salted[block.txs[0].witnessEnd - 1] ^= 1;
    assert.throws(() => verify(salted), { code: 'BLOCK_INVALID', message: /not those it commits to/ });
  });

  test('a block that lost them is noticed, where they are asked for', () => {
    const bare = forgeBlock(PREV, [stripped(forgeCoinbase(600, paid, others)), ...others.map(stripped)]);
    assert.deepEqual(bare.subarray(0, 80), good.subarray(0, 80));
    assert.throws(() => verify(bare), { code: 'BLOCK_INVALID', message: /stripped/ });
    // Before the rules held, miners could commit to what was not there.
    bitcoinLedger({ ...regtest, segwitHeight: 601 }).verify(decodeBlock(bare, 600));
  });

  test('witnesses without a commitment are refused at any height', () => {
    const loose = forgeBlock(PREV, [forgeCoinbase(600, paid), ...others]);
    for (const segwitHeight of [0, 601]) {
      const strict = bitcoinLedger({ ...regtest, segwitHeight });
      assert.throws(() => strict.verify(decodeBlock(loose, 600)), { code: 'BLOCK_INVALID', message: /commits to none/ });
    }
  });

  test('the last commitment counts', () => {
    const wrong = { value: 0n, script: concatBytes(Uint8Array.of(0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed), new Uint8Array(32)) };
    verify(forgeBlock(PREV, [forgeCoinbase(600, [...paid, wrong], others), ...others]));
  });

  test('real blocks: a bit of a witness changed', needsFixtures, () => {
    const sample = samples.find(({ height }) => height === 482683) ?? assert.fail();
    const raw = sampleBytes(sample.file);
    const block: BitcoinBlock = decodeBlock(raw, sample.height);
    const tx = block.txs.slice(1).find(({ hasWitness }) => hasWitness) ?? assert.fail();
    raw[tx.witnessEnd - 1] ^= 4;
    assert.throws(() => bitcoinLedger(bitcoin).verify(decodeBlock(raw, sample.height)), { code: 'BLOCK_INVALID' });
  });
});

describe('heights', () => {
  test('what coinbases say', () => {
    for (const height of [1, 2, 16, 17, 127, 128, 255, 256, 32_767, 32_768, 65_535, 65_536, 227_931, 8_388_607, 8_388_608, 16_777_216]) {
      assert.equal(saidHeight(forgeBlock(PREV, [forgeCoinbase(height, paid)])), height);
      assert.equal(saidHeight(forgeBlock(PREV, [forgeCoinbase(height, paid, [])])), height);
    }
  });

  test('a block handed over at another height is refused where heights are asked for', () => {
    const raw = forgeBlock(PREV, [forgeCoinbase(700, paid)]);
    verify(raw, 700);
    assert.throws(() => verify(raw, 701), { code: 'BLOCK_INVALID', message: /says height 700/ });
    verify(raw, 499);
    const silent = forgeTx({ inputs: [{ txId: new Uint8Array(32), index: 0xffff_ffff, scriptSig: Uint8Array.of(0x6a) }], outputs: paid });
    assert.throws(() => verify(forgeBlock(PREV, [silent]), 700), { code: 'BLOCK_INVALID', message: /no height/ });
  });
});
