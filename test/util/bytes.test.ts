/** Hex, comparison, joining and big-endian integers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  compareBytes,
  concatBytes,
  copyBytes,
  decodedHex,
  equalBytes,
  fromHex,
  isHex,
  readBigU64,
  readU16,
  readU32,
  readU64,
  toHex,
  utf8,
  writeBigU64,
  writeU16,
  writeU32,
  writeU64,
} from '../../src/util/bytes.ts';

const bytes = fc.uint8Array({ maxLength: 40 });

test('hex there and back, as the platform does it', () => {
  fc.assert(
    fc.property(bytes, (value) => {
      const hex = toHex(value);
      assert.equal(hex, Buffer.from(value).toString('hex'));
      assert.equal(hex, decodedHex(value, 0, value.length), 'as without Node');
      assert.deepEqual(fromHex(hex), value);
      assert.deepEqual(fromHex(hex.toUpperCase()), value);
    }),
  );
  assert.equal(toHex(Uint8Array.of(1, 2, 3, 4), 1, 3), '0203');
});

test('what is not hex is a usage error that shows it', () => {
  for (const text of ['0', 'zz', '0x00', '00 ', ' ', 'é0', '00\n']) {
    assert.equal(isHex(text), false, text);
    assert.throws(() => fromHex(text), { code: 'USAGE' });
  }
  assert.equal(isHex('00', 1), true);
  assert.equal(isHex('00', 2), false);
  assert.throws(() => fromHex('00', 32), /expected 32 bytes of hex \(64 digits\), got '00'/);
  assert.throws(
    () => fromHex('z'.repeat(1000)),
    (error: Error) => error.message.length < 200,
  );
});

test('order is that of unsigned bytes, shorter first', () => {
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      assert.equal(Math.sign(compareBytes(a, b)), Buffer.compare(a, b));
      assert.equal(equalBytes(a, b), Buffer.compare(a, b) === 0);
      assert.equal(equalBytes(a, a.slice()), true);
    }),
  );
});

test('joining and copying', () => {
  assert.deepEqual(concatBytes(Uint8Array.of(1), new Uint8Array(0), Uint8Array.of(2, 3)), Uint8Array.of(1, 2, 3));
  assert.deepEqual(concatBytes(), new Uint8Array(0));
  const to = new Uint8Array(5);
  copyBytes(Uint8Array.of(9, 8, 7, 6), 1, to, 2, 2);
  assert.deepEqual(to, Uint8Array.of(0, 0, 8, 7, 0));
  assert.deepEqual(utf8('é'), Uint8Array.of(0xc3, 0xa9));
});

test('big-endian integers, as DataView does them', () => {
  const buffer = new Uint8Array(16);
  const view = new DataView(buffer.buffer);
  fc.assert(
    fc.property(
      fc.nat(8),
      fc.nat(0xffff),
      fc.nat(0xffff_ffff),
      fc.maxSafeNat(),
      fc.bigInt(0n, (1n << 64n) - 1n),
      (at, u16, u32, u53, u64) => {
        writeU16(buffer, at, u16);
        assert.equal(view.getUint16(at), u16);
        assert.equal(readU16(buffer, at), u16);
        writeU32(buffer, at, u32);
        assert.equal(view.getUint32(at), u32);
        assert.equal(readU32(buffer, at), u32);
        writeU64(buffer, at, u53);
        assert.equal(view.getBigUint64(at), BigInt(u53));
        assert.equal(readU64(buffer, at), u53);
        writeBigU64(buffer, at, u64);
        assert.equal(view.getBigUint64(at), u64);
        assert.equal(readBigU64(buffer, at), u64);
      },
    ),
  );
  writeU64(buffer, 0, Number.MAX_SAFE_INTEGER);
  assert.equal(readU64(buffer, 0), Number.MAX_SAFE_INTEGER);
});
