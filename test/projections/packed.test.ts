/**
 * Stored values without the key of their owner: packed and made whole again they
 * are the same bytes, whatever era or family the output is of.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Block, type Ledger, OutputKeys } from '../../src/ledgers/ledger.ts';
import { AT, isPacked, keyOffset, OWNER_LEFT_OUT, readStored, storedBytesMax, writeKeys, writeStored } from '../../src/projections/coin.ts';
import { coinOfRow, keyOf, packedLength, wholeLength, wholeValue, writePacked, writeWhole } from '../../src/projections/packed.ts';
import { concatBytes, toHex } from '../../src/util/bytes.ts';
import { ledger as cardano, makeCoin } from '../support/coins.ts';
import { ForgedChain, randomFrom } from '../support/forged-chain.ts';
import { Devnet, devnetOptions, TEST_SEED } from '../support/harness.ts';

const keys = new OutputKeys();

/** The stored values of all outputs of a block, whole. */
function* storedIn(block: Block, ledger: Ledger): Generator<Uint8Array, void, void> {
  for (const [txIndex, tx] of block.txs.entries()) {
    for (const create of tx.creates) {
      ledger.findKeys(block.raw, create, keys);
      const value = new Uint8Array(storedBytesMax(create.end - create.start));
      yield value.subarray(0, writeStored(value, 0, block, txIndex, block.raw, create, keys));
    }
  }
}

/** Somewhere in other bytes, as coins stand in the memory of a step. */
function assertPacks(whole: Uint8Array, ledger: Ledger, before = 7): void {
  const from = concatBytes(new Uint8Array(before).fill(0xaa), whole, Uint8Array.of(0xbb));
  const end = before + whole.length;
  const room = new Uint8Array(end + 40).fill(0xcc);
  const packed = room.slice(3, writePacked(from, before, end, room, 3));
  assert.equal(packed.length, packedLength(from, before, end));
  assert.equal(packed.length, whole.length - 28);
  assert.ok(isPacked(packed, 0));
  assert.equal(packed[AT.keys], OWNER_LEFT_OUT);
  assert.deepEqual(readStored(packed), readStored(whole), 'all else is read from either');
  assert.throws(() => keyOffset(packed, 0, 'address'), 'what is not there is not asked for');
  assert.equal(toHex(wholeValue(concatBytes(new Uint8Array(5), packed), 5, ledger)), toHex(whole));
  const again = room.subarray(1, writeWhole(packed, 0, packed.length, room, 1, ledger));
  assert.equal(toHex(again), toHex(whole));
  assert.equal(wholeLength(packed, 0, packed.length), whole.length);
  const coin = coinOfRow(new Uint8Array(36), packed, ledger);
  const at = keyOffset(coin.bytes, coin.at, 'address');
  assert.equal(toHex(keyOf(readStored(packed), 'address', ledger)!), toHex(coin.bytes, at, at + 28));
}

describe('a stored value without the key of its owner', () => {
  for (const flavour of ['conway', 'ancient'] as const) {
    it(`is made whole again, byte for byte (devnet, ${flavour})`, () => {
      const devnet = new Devnet(devnetOptions(TEST_SEED, flavour), { dressed: true });
      let count = 0;
      for (const block of devnet.mine(60)) {
        for (const stored of storedIn(block, devnet.ledger)) {
          assertPacks(stored, devnet.ledger, count % 9);
          count++;
        }
      }
      assert.ok(count > 50, `${count} outputs`);
    });
  }

  it('is made whole again, byte for byte (Bitcoin family)', () => {
    const chain = new ForgedChain(randomFrom(TEST_SEED));
    let count = 0;
    for (const block of chain.mine(40)) {
      for (const stored of storedIn(block, chain.ledger)) {
        assertPacks(stored, chain.ledger, count % 9);
        count++;
      }
    }
    assert.ok(count > 50, `${count} outputs`);
  });

  it('keeps every other key that does not stand in the output', () => {
    const coin = makeCoin({});
    const raw = readStored(coin.bytes).raw;
    const property = fc.property(
      fc.uint8Array({ minLength: 28, maxLength: 28 }),
      fc.uint8Array({ minLength: 28, maxLength: 28 }),
      (a, b) => {
        const made = new OutputKeys();
        cardano.findKeys(raw, cardano.readOutput(raw, 0, raw.length), made);
        made.places.fill(0);
        made.made.set(a, 28);
        made.made.set(b, 56);
        const head = new Uint8Array(AT.keys + 87);
        head[0] = coin.bytes[0];
        const whole = concatBytes(head.subarray(0, writeKeys(head, 0, made, raw, 0)), raw);
        assertPacks(whole, cardano);
      },
    );
    fc.assert(property, { seed: TEST_SEED, numRuns: 20 });
  });

  it('is as it was where there is nothing to leave out', () => {
    const bytes = concatBytes(new Uint8Array(AT.keys), Uint8Array.of(1, 2, 3));
    assert.equal(packedLength(bytes, 0, bytes.length), bytes.length);
    assert.equal(wholeValue(bytes, 0, cardano), bytes, 'and not copied');
  });

  it('has one owner: an output with two addresses is refused', () => {
    const { raw } = readStored(makeCoin({}).bytes);
    const [address, value] = [raw.subarray(1, 61), raw.subarray(61)];
    assert.doesNotThrow(() => cardano.readOutput(concatBytes(Uint8Array.of(0xa2), address, value), 0, raw.length));
    const twice = concatBytes(Uint8Array.of(0xa3), address, value, address);
    assert.throws(() => cardano.readOutput(twice, 0, twice.length), { code: 'BLOCK_INVALID' });
  });
});
