/** Small records: what was written is read again, and nothing that was cut. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteReader, ByteWriter } from '../../src/util/byte-writer.ts';
import { toHex } from '../../src/util/bytes.ts';

const damaged = { code: 'STORE_DAMAGED', message: /the record is cut or malformed at byte \d+/ } as const;

test('varints are LEB128, up to the largest exact integer', () => {
  const w = new ByteWriter();
  for (const [value, hex] of [
    [0, '00'],
    [127, '7f'],
    [128, '8001'],
    [16_383, 'ff7f'],
    [16_384, '808001'],
    [2 ** 32, '8080808010'],
    [Number.MAX_SAFE_INTEGER, 'ffffffffffffff0f'],
  ] as const) {
    w.reset();
    w.varint(value);
    assert.equal(toHex(w.view()), hex);
    assert.equal(new ByteReader(w.view(), 'the record').varint(), value);
  }
});

type Field = { readonly kind: 'u8' | 'varint'; readonly value: number } | { readonly kind: 'run'; readonly value: Uint8Array };
const field: fc.Arbitrary<Field> = fc.oneof(
  fc.record({ kind: fc.constant('u8' as const), value: fc.nat(255) }),
  fc.record({ kind: fc.constant('varint' as const), value: fc.maxSafeNat() }),
  fc.record({ kind: fc.constant('run' as const), value: fc.uint8Array({ maxLength: 3000 }) }),
);

function write(w: ByteWriter, fields: readonly Field[]): Uint8Array {
  w.reset();
  for (const { kind, value } of fields) {
    if (kind === 'run') w.run(value);
    else w[kind](value);
  }
  return w.view().slice();
}

function read(bytes: Uint8Array, fields: readonly Field[]): void {
  const r = new ByteReader(bytes, 'the record');
  for (const { kind, value } of fields) {
    if (kind === 'run') assert.deepEqual(r.run(value.length), value);
    else assert.equal(r[kind](), value);
  }
  r.end();
}

test('any fields there and back, with one writer used over and over', () => {
  const w = new ByteWriter();
  fc.assert(fc.property(fc.array(field, { maxLength: 12 }), (fields) => read(write(w, fields), fields)));
});

test('a record that is cut, or has more behind it, is damage', () => {
  fc.assert(
    fc.property(fc.array(field, { minLength: 1, maxLength: 5 }), fc.nat(), (fields, at) => {
      const bytes = write(new ByteWriter(), fields);
      fc.pre(bytes.length > 0);
      assert.throws(() => read(bytes.subarray(0, at % bytes.length), fields), damaged);
      assert.throws(() => read(Uint8Array.of(...bytes, 0), fields), damaged);
    }),
  );
});

test('a varint that does not end is damage, and so is a run longer than what is left', () => {
  assert.throws(() => new ByteReader(new Uint8Array(20).fill(0xff), 'the record').varint(), damaged);
  assert.throws(() => new ByteReader(new Uint8Array(20), 'the record').run(21), damaged);
  assert.throws(() => new ByteReader(new Uint8Array(20), 'the record').run(2 ** 53), damaged);
});

test('parts of bytes, short and long', () => {
  const w = new ByteWriter();
  const bytes = Uint8Array.from({ length: 5000 }, (_, i) => i & 0xff);
  for (const [start, end] of [
    [3, 3],
    [1, 60],
    [10, 74],
    [10, 75],
    [0, 5000],
  ]) {
    w.reset();
    w.u8(1);
    w.run(bytes, start, end);
    assert.equal(toHex(w.view()), `01${toHex(bytes, start, end)}`);
  }
});
