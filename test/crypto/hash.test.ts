/**
 * Hashes against the vectors of their specifications, and BLAKE2b, which is
 * ours, against two libraries at every length around its block size.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { blake2b as noble } from '@noble/hashes/blake2.js';
import fc from 'fast-check';
import { createBLAKE2b } from 'hash-wasm';
import { blake2b } from '../../src/crypto/blake2b.ts';
import { blake2b224, blake2b256, blake2b256Prefixed, sha3_256, sha256 } from '../../src/crypto/hash.ts';
import { concatBytes, toHex, utf8 } from '../../src/util/bytes.ts';

const abc = utf8('abc');
const empty = new Uint8Array(0);
const wasm256 = await createBLAKE2b(256);
const ramp = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7 + (i >> 8)) & 0xff);

describe('vectors', () => {
  test('BLAKE2b (RFC 7693, appendix A): "abc", 64 bytes', () => {
    assert.equal(
      toHex(blake2b(abc, 0, 3, 64)),
      'ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923',
    );
  });

  test('BLAKE2b (RFC 7693, appendix E): the inputs and lengths of its self test, without keys', () => {
    const sequence = (length: number, seed: number): Uint8Array => {
      const out = new Uint8Array(length);
      let a = Math.imul(0xdead4bad, seed) >>> 0;
      let b = 1;
      for (let i = 0; i < length; i++) {
        const t = (a + b) >>> 0;
        a = b;
        b = t;
        out[i] = t >>> 24;
      }
      return out;
    };
    for (const outBytes of [20, 32, 48, 64]) {
      for (const inBytes of [0, 3, 128, 129, 255, 1024]) {
        const input = sequence(inBytes, inBytes);
        const ours = toHex(blake2b(input, 0, inBytes, outBytes));
        assert.equal(ours, toHex(noble(input, { dkLen: outBytes })));
        if (outBytes === 64) assert.equal(ours, createHash('blake2b512').update(input).digest('hex'));
      }
    }
  });

  test('BLAKE2b-256 and BLAKE2b-224', () => {
    assert.equal(toHex(blake2b256(empty)), '0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8');
    assert.equal(toHex(blake2b256(abc)), 'bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319');
    assert.equal(toHex(blake2b224(empty)), '836cc68931c2e4e3e838602eca1902591d216837bafddfe6f0c8cb07');
    assert.equal(toHex(blake2b224(abc)), '9bd237b02a29e43bdd6738afa5b53ff0eee178d6210b618e4511aec8');
  });

  test('SHA-256 (FIPS 180-4) and SHA3-256 (FIPS 202)', () => {
    assert.equal(toHex(sha256(abc)), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    assert.equal(toHex(sha256(empty)), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    assert.equal(toHex(sha3_256(abc)), '3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532');
    assert.equal(toHex(sha3_256(empty)), 'a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a');
  });
});

describe('BLAKE2b against two libraries', () => {
  test('every length up to four blocks, and some long ones', () => {
    const bytes = ramp(1_000_003);
    const lengths = [...Array.from({ length: 520 }, (_, i) => i), 65_279, 65_280, 65_281, 65_536, 200_000, 1_000_003];
    for (const length of lengths) {
      const part = bytes.subarray(0, length);
      const ours = toHex(blake2b256(bytes, 0, length));
      assert.equal(ours, toHex(noble(part, { dkLen: 32 })), `${length} bytes`);
      assert.equal(ours, toHex(wasm256.init().update(part).digest('binary')), `${length} bytes`);
      assert.equal(toHex(blake2b224(part)), toHex(noble(part, { dkLen: 28 })), `${length} bytes`);
    }
  });

  test('any part of any bytes, and a prefix as if it stood before them', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 700 }), fc.nat(), fc.nat(), fc.uint8Array({ maxLength: 200 }), (bytes, a, b, prefix) => {
        const [start, end] = [a % (bytes.length + 1), b % (bytes.length + 1)].sort((x, y) => x - y);
        const part = bytes.slice(start, end);
        assert.equal(toHex(blake2b256(bytes, start, end)), toHex(noble(part, { dkLen: 32 })));
        assert.equal(toHex(blake2b256Prefixed(prefix, bytes, start, end)), toHex(noble(concatBytes(prefix, part), { dkLen: 32 })));
      }),
      { numRuns: 500 },
    );
  });

  test('a hash is not changed by the next one', () => {
    const first = blake2b256(abc);
    const before = toHex(first);
    blake2b256(empty);
    blake2b256(ramp(100_000));
    assert.equal(toHex(first), before);
  });
});
