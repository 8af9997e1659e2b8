/**
 * Blocks of every era that a devnet made, where no real ones are at hand: decoded
 * they are what the devnet says it made, a second CBOR library reads the same,
 * their bodies prove, and no bit of a body changes unnoticed.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verifyBody } from '../../../src/ledgers/cardano/body-proof.ts';
import { decodeBlock } from '../../../src/ledgers/cardano/decode.ts';
import { ERA } from '../../../src/ledgers/cardano/header.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { mineEveryEra } from '../../support/every-era.ts';
import { compareWithCborg } from './cborg-reading.ts';
import { between, flipAt } from './flips.ts';

const chain = mineEveryEra(3);
const samples = chain.blocks.map((made) => ({ made, raw: made.raw, block: decodeBlock(made.raw, chain.byronEpochSlots) }));

describe('made blocks', () => {
  test('of every era are what the devnet says it made', () => {
    assert.deepEqual(new Set(samples.map(({ block }) => block.era)), new Set<number>(Object.values(ERA)));
    let [txs, invalid] = [0, 0];
    for (const { made, block } of samples) {
      assert.deepEqual(
        [toHex(block.hash), block.height, block.slot, block.era, block.boundary],
        [toHex(made.hash), made.height, made.slot, made.era, made.boundary],
      );
      assert.equal(block.txs.length, made.txs.length);
      for (const [i, tx] of block.txs.entries()) {
        const expected = made.txs[i];
        assert.deepEqual([toHex(tx.id), tx.valid], [expected.id, expected.valid]);
        const spends = tx.spends.map(({ at, index }) => `${toHex(block.raw, at, at + 32)}#${index}`);
        assert.deepEqual(
          spends,
          expected.spends.map(({ key }) => key),
        );
        assert.deepEqual(
          tx.creates.map(({ index, valueHi, valueLo }) => [index, (BigInt(valueHi) << 32n) | BigInt(valueLo)]),
          expected.creates.map(({ index, lovelace }) => [index, lovelace]),
        );
        txs++;
        if (!tx.valid) invalid++;
      }
    }
    assert.ok(txs > 100 && invalid > 0, `${txs} transactions, ${invalid} of them invalid`);
  });

  test('read the same by a second CBOR library', (t) => {
    let [txs, refused] = [0, 0];
    for (const { made, raw, block } of samples) {
      const counts = compareWithCborg(`height ${made.height}`, raw, block);
      txs += counts?.txs ?? 0;
      refused += counts === null ? 1 : 0;
    }
    t.diagnostic(`${txs} transactions compared; ${refused} blocks are refused by cborg`);
    assert.ok(txs > 100);
  });

  test('have bodies that belong to their headers, to the last bit', () => {
    let unproven = 0;
    for (const { made, raw, block } of samples) {
      assert.doesNotThrow(() => verifyBody(block), `height ${made.height}`);
      const places =
        block.era >= ERA.shelley
          ? between(block.parts[0], raw.length, 40)
          : block.txs.flatMap(({ start, end }) => [...between(start, end, 40)]);
      const fates = flipAt(raw, places, (at) => at % 8, chain.byronEpochSlots);
      assert.equal(fates['accepted'], 0, `height ${made.height}`);
      unproven += fates['unproven'];
    }
    assert.ok(unproven > 100, `${unproven} changes decode and fail the proof`);
  });
});
