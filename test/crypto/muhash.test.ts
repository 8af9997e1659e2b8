/**
 * MuHash3072 and the stream it is made of: the vectors of Bitcoin Core and of
 * the RFC, and what a hash of a set promises.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { chacha20 } from '../../src/crypto/chacha20.ts';
import { formatId, MUHASH_BYTES, MuHash } from '../../src/ledgers/bitcoin/index.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';

const PRIME = 2n ** 3072n - 1103717n;

function small(number: number): Uint8Array {
  const bytes = new Uint8Array(32);
  bytes[0] = number;
  return bytes;
}

function littleEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: MUHASH_BYTES }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
}

describe('ChaCha20', () => {
  const stream = (key: string, bytes: number): string => {
    const out = new Uint8Array(bytes);
    chacha20(fromHex(key), out);
    return toHex(out);
  };

  test('the first two blocks of a key of zeros (RFC 8439, A.1 vectors 1 and 2)', () => {
    assert.equal(
      stream('00'.repeat(32), 128),
      '76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586' +
        '9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f',
    );
  });

  test('another key', () => {
    assert.equal(
      stream(`${'00'.repeat(31)}01`, 64),
      '4540f05a9f1fb296d7736e7b208e3c96eb4fe1834688d2604f450952ed432d41bbe2a0b6ea7566d2a5d1e7e20d42af2c53d792b1c43fea817e9ad275ae546963',
    );
  });
});

describe('MuHash3072', () => {
  test('the vector of Bitcoin Core', () => {
    const set = new MuHash();
    set.add(small(0));
    set.add(small(1));
    set.remove(small(2));
    assert.equal(formatId(set.digest()), '10d312b100cbd32ada024a6646e40d3482fcff103668d2625f10002a607d5863');
  });

  const element = fc.uint8Array({ maxLength: 120 });
  const changes = fc.array(fc.record({ element, gone: fc.boolean() }), { maxLength: 12 });
  const apply = (set: MuHash, list: readonly { element: Uint8Array; gone: boolean }[]): MuHash => {
    for (const { element: each, gone } of list) {
      if (gone) set.remove(each);
      else set.add(each);
    }
    return set;
  };

  test('the order does not matter, nor where the value was asked for', () => {
    fc.assert(
      fc.property(changes, fc.infiniteStream(fc.nat()), (list, numbers) => {
        const shuffled = list.map((change) => ({ change, rank: numbers.next().value as number })).sort((a, b) => a.rank - b.rank);
        const one = apply(new MuHash(), list);
        const two = new MuHash();
        for (const { change } of shuffled) {
          apply(two, [change]);
          if (change.gone) two.toBytes();
        }
        assert.equal(toHex(one.toBytes()), toHex(two.toBytes()));
        assert.equal(toHex(one.digest()), toHex(two.digest()));
      }),
      { numRuns: 60 },
    );
  });

  test('removing undoes adding, and adding undoes removing', () => {
    fc.assert(
      fc.property(changes, element, (list, each) => {
        const plain = toHex(apply(new MuHash(), list).toBytes());
        for (const order of [
          [false, true],
          [true, false],
        ]) {
          const set = apply(new MuHash(), list);
          apply(
            set,
            order.map((gone) => ({ element: each, gone })),
          );
          assert.equal(toHex(set.toBytes()), plain);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('different sets differ, and an element counts as often as it is there', () => {
    const digest = (list: readonly number[]): string => {
      const set = new MuHash();
      for (const number of list) set.add(small(number));
      return toHex(set.digest());
    };
    const seen = new Set([[], [0], [1], [0, 0], [0, 1], [1, 1], [0, 0, 1]].map(digest));
    assert.equal(seen.size, 7);
  });

  test('its bytes hold it, and another set can be joined to it', () => {
    fc.assert(
      fc.property(changes, changes, (a, b) => {
        const [first, second] = [apply(new MuHash(), a), apply(new MuHash(), b)];
        const whole = toHex(apply(apply(new MuHash(), a), b).toBytes());
        first.combine(second);
        assert.equal(toHex(first.toBytes()), whole);
        const again = MuHash.from(apply(new MuHash(), a).toBytes());
        assert.equal(toHex(apply(again, b).toBytes()), whole);
      }),
      { numRuns: 30 },
    );
  });

  test('the numbers are exact: a long product equals the one that bigint alone gives', () => {
    const stream = new Uint8Array(MUHASH_BYTES);
    const set = new MuHash();
    let product = 1n;
    for (let i = 0; i < 300; i++) {
      set.add(small(i));
      const one = new MuHash();
      one.add(small(i));
      stream.set(one.toBytes());
      product = (product * BigInt(`0x${toHex(Uint8Array.from(stream).reverse())}`)) % PRIME;
    }
    assert.equal(toHex(set.toBytes()), toHex(littleEndian(product)));
  });

  test('bytes that are no value are refused', () => {
    const good = new MuHash();
    good.add(small(7));
    const bytes = good.toBytes();
    assert.equal(toHex(MuHash.from(bytes).toBytes()), toHex(bytes));
    for (const wrong of [
      bytes.subarray(1),
      new Uint8Array(MUHASH_BYTES),
      new Uint8Array(MUHASH_BYTES).fill(0xff),
      littleEndian(PRIME),
      new Uint8Array(0),
    ]) {
      assert.throws(() => MuHash.from(wrong), { code: 'STORE_DAMAGED' });
    }
    assert.equal(toHex(MuHash.from(littleEndian(PRIME - 1n)).toBytes()), toHex(littleEndian(PRIME - 1n)));
  });
});
