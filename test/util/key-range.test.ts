/** Bounds of key ranges: what lies directly behind a key, and behind all keys of a prefix. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compareBytes, concatBytes, fromHex, toHex } from '../../src/util/bytes.ts';
import { keyAfter, keyAfterPrefix, prefixEnd } from '../../src/util/key-range.ts';

/** Few values, so that prefixes are shared and 0xff is frequent. */
const key = fc.uint8Array({ maxLength: 4 }).map((bytes) => bytes.map((byte) => [0, 1, 0xfe, 0xff][byte % 4]));

describe('bounds of key ranges', () => {
  it('keyAfter: nothing lies between a key and the key after it', () => {
    fc.assert(
      fc.property(key, key, (a, b) => {
        assert.equal(compareBytes(b, a) > 0, compareBytes(b, keyAfter(a)) >= 0);
      }),
    );
  });

  it('keyAfterPrefix: of the keys that are long enough, exactly those of the prefix lie between the two', () => {
    fc.assert(
      fc.property(key, key, (prefix, other) => {
        fc.pre(other.length >= prefix.length);
        const end = keyAfterPrefix(prefix);
        const isBetween = compareBytes(other, prefix) >= 0 && (end === undefined || compareBytes(other, end) < 0);
        assert.equal(isBetween, toHex(other).startsWith(toHex(prefix)));
      }),
    );
    assert.deepEqual(keyAfterPrefix(fromHex('01ff')), fromHex('0200'));
    assert.equal(keyAfterPrefix(fromHex('ffff')), undefined);
    assert.equal(keyAfterPrefix(new Uint8Array(0)), undefined);
  });

  it('prefixEnd: has the prefix, and lies behind every key of it that is not longer than said', () => {
    fc.assert(
      fc.property(key, key, (prefix, rest) => {
        const end = prefixEnd(prefix, rest.length);
        assert.ok(toHex(end).startsWith(toHex(prefix)));
        assert.ok(compareBytes(concatBytes(prefix, rest), end) < 0);
      }),
    );
  });

  it('leave the key they are given as it was', () => {
    const given = fromHex('01fe');
    for (const bound of [keyAfter(given), keyAfterPrefix(given), prefixEnd(given, 2)]) bound?.fill(7);
    assert.equal(toHex(given), '01fe');
  });
});
