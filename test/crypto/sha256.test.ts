/** SHA-256 as we assemble it, against the platform's. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { sha256, sha256d, sha256dInto, sha256dWithout, sha256Into } from '../../src/crypto/sha256.ts';
import { ManyHashes } from '../../src/crypto/sha256-many.ts';
import { hashPairs, pairRow } from '../../src/crypto/sha256-pairs.ts';
import { concatBytes, toHex, utf8 } from '../../src/util/bytes.ts';

const platform = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest());
const twice = (bytes: Uint8Array): string => toHex(platform(platform(bytes)));
const pattern = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i * 31 + length);

describe('SHA-256', () => {
  test('the vectors of FIPS 180-4', () => {
    assert.equal(toHex(sha256(utf8('abc'))), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    assert.equal(toHex(sha256(new Uint8Array(0))), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    assert.equal(
      toHex(sha256(utf8('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq'))),
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    );
  });

  test('every length up to 600, and some long ones', () => {
    for (let length = 0; length <= 600; length++) {
      const bytes = pattern(length);
      assert.equal(toHex(sha256(bytes)), toHex(platform(bytes)), `${length} bytes`);
      assert.equal(toHex(sha256d(bytes)), twice(bytes), `${length} bytes`);
    }
    for (const length of [65_536, 131_000, 1_000_001, 4_194_304]) {
      assert.equal(toHex(sha256(pattern(length))), toHex(platform(pattern(length))), `${length} bytes`);
    }
  });

  test('a run of a buffer, and written into another', () => {
    const bytes = pattern(300);
    assert.equal(toHex(sha256(bytes, 10, 150)), toHex(platform(bytes.subarray(10, 150))));
    assert.equal(toHex(sha256d(bytes, 10, 150)), twice(bytes.subarray(10, 150)));
    const to = new Uint8Array(40);
    sha256Into(bytes, 3, 90, to, 5, 28);
    assert.equal(toHex(to), `${'00'.repeat(5)}${toHex(platform(bytes.subarray(3, 90)), 0, 28)}${'00'.repeat(7)}`);
    sha256dInto(bytes, 0, 64, bytes, 0);
    assert.equal(toHex(bytes, 0, 32), twice(pattern(300).subarray(0, 64)));
  });

  test('without two runs inside', () => {
    fc.assert(
      fc.property(fc.nat(400), fc.array(fc.nat(400), { minLength: 6, maxLength: 6 }), (length, points) => {
        const bytes = pattern(length);
        const [start, a, b, c, d, end] = points.map((point) => Math.min(point, length)).sort((x, y) => x - y);
        const rest = concatBytes(bytes.subarray(start, a), bytes.subarray(b, c), bytes.subarray(d, end));
        assert.equal(toHex(sha256dWithout(bytes, start, end, [a, b], [c, d])), twice(rest));
      }),
    );
  });

  test('of many at once, of every length up to 900, in any order', () => {
    const [once, again] = [new ManyHashes(false, 28), new ManyHashes(true)];
    const asked = Array.from({ length: 900 }, (_, i) => {
      const bytes = pattern((i * 137) % 901);
      const [to, twiceTo] = [new Uint8Array(40), new Uint8Array(40)];
      once.add(bytes, 0, bytes.length, to, 3);
      again.add(bytes, 0, bytes.length, twiceTo, 5);
      const message = { bytes: bytes.slice(), to, twiceTo };
      // It may be changed as soon as it was added.
      bytes.fill(0);
      return message;
    });
    once.finish();
    again.finish();
    for (const { bytes, to, twiceTo } of asked) {
      assert.equal(toHex(to), `${'00'.repeat(3)}${toHex(platform(bytes), 0, 28)}${'00'.repeat(9)}`, `${bytes.length} bytes`);
      assert.equal(toHex(twiceTo), `${'00'.repeat(5)}${twice(bytes)}${'00'.repeat(3)}`, `${bytes.length} bytes`);
    }
  });

  test('of many at once, without two runs inside', () => {
    const hashes = new ManyHashes(true);
    fc.assert(
      fc.property(fc.nat(1200), fc.array(fc.nat(1200), { minLength: 6, maxLength: 6 }), (length, points) => {
        const bytes = pattern(length);
        const [start, a, b, c, d, end] = points.map((point) => Math.min(point, length)).sort((x, y) => x - y);
        const to = new Uint8Array(32);
        hashes.addWithout(bytes, start, end, [a, b], [c, d], to, 0);
        hashes.finish();
        assert.equal(toHex(to), toHex(sha256dWithout(bytes, start, end, [a, b], [c, d])));
      }),
    );
  });

  test('of many at once: those that were cleared are never written', () => {
    const hashes = new ManyHashes(false);
    const [cleared, wanted] = [new Uint8Array(32), new Uint8Array(32)];
    hashes.add(pattern(10), 0, 10, cleared, 0);
    hashes.clear();
    hashes.add(pattern(11), 0, 11, wanted, 0);
    hashes.finish();
    assert.equal(toHex(cleared), '00'.repeat(32));
    assert.equal(toHex(wanted), toHex(platform(pattern(11))));
  });

  test('of pairs in a row, twice over each, whatever their number', () => {
    for (const count of [1, 2, 3, 4, 5, 6, 7, 8, 9, 4095, 4096, 4097]) {
      const hashes = Uint8Array.from({ length: 64 * count }, (_, i) => (i * 31 + count + (i >> 8)) & 0xff);
      const row = pairRow(2 * count);
      row.set(hashes);
      hashPairs(count);
      for (let i = 0; i < count; i++)
        assert.equal(toHex(row, 32 * i, 32 * (i + 1)), twice(hashes.subarray(64 * i, 64 * (i + 1))), `pair ${i} of ${count}`);
    }
  });
});
