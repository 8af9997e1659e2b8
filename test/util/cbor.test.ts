/**
 * The CBOR cursor against the examples of RFC 8949, appendix A, and against the
 * writer; every way to be cut short or to lie about a length.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encode } from 'cborg';
import fc from 'fast-check';
import { concatBytes, fromHex, toHex } from '../../src/util/bytes.ts';
import { ARRAY, BYTES, Cursor, INDEFINITE, MAP, NEGINT, SIMPLE, TAG, TEXT, UINT } from '../../src/util/cbor.ts';
import { CborWriter } from '../../src/util/cbor-write.ts';
import { CBOR_BIG_BYTES_MAX, CBOR_RECURSION_MAX } from '../../src/util/limits.ts';

const cursor = (hex: string): Cursor => new Cursor(fromHex(hex));
const invalid = { code: 'BLOCK_INVALID', message: /at byte \d+$/ } as const;

/** RFC 8949, appendix A: integers. */
const INTEGERS: readonly (readonly [string, bigint])[] = [
  ['00', 0n],
  ['01', 1n],
  ['0a', 10n],
  ['17', 23n],
  ['1818', 24n],
  ['1819', 25n],
  ['1864', 100n],
  ['1903e8', 1000n],
  ['1a000f4240', 1000000n],
  ['1b000000e8d4a51000', 1000000000000n],
  ['1bffffffffffffffff', 18446744073709551615n],
  ['c249010000000000000000', 18446744073709551616n],
  ['3bffffffffffffffff', -18446744073709551616n],
  ['c349010000000000000000', -18446744073709551617n],
  ['20', -1n],
  ['29', -10n],
  ['3863', -100n],
  ['3903e7', -1000n],
];

/** RFC 8949, appendix A: everything else, by what it begins with. */
const OTHERS: readonly (readonly [string, number])[] = [
  ['f90000', SIMPLE],
  ['f98000', SIMPLE],
  ['f93c00', SIMPLE],
  ['fb3ff199999999999a', SIMPLE],
  ['fa47c35000', SIMPLE],
  ['fb7ff0000000000000', SIMPLE],
  ['f4', SIMPLE],
  ['f5', SIMPLE],
  ['f6', SIMPLE],
  ['f7', SIMPLE],
  ['f0', SIMPLE],
  ['f8ff', SIMPLE],
  ['c074323031332d30332d32315432303a30343a30305a', TAG],
  ['c11a514b67b0', TAG],
  ['c1fb41d452d9e8200000', TAG],
  ['d74401020304', TAG],
  ['d818456449455446', TAG],
  ['d82076687474703a2f2f7777772e6578616d706c652e636f6d', TAG],
  ['40', BYTES],
  ['4401020304', BYTES],
  ['60', TEXT],
  ['6161', TEXT],
  ['6449455446', TEXT],
  ['62225c', TEXT],
  ['64f0908591', TEXT],
  ['80', ARRAY],
  ['83010203', ARRAY],
  ['8301820203820405', ARRAY],
  ['98190102030405060708090a0b0c0d0e0f101112131415161718181819', ARRAY],
  ['a0', MAP],
  ['a201020304', MAP],
  ['a26161016162820203', MAP],
  ['826161a161626163', ARRAY],
  ['a56161614161626142616361436164614461656145', MAP],
  ['5f42010243030405ff', BYTES],
  ['7f657374726561646d696e67ff', TEXT],
  ['9fff', ARRAY],
  ['9f018202039f0405ffff', ARRAY],
  ['9f01820203820405ff', ARRAY],
  ['83018202039f0405ff', ARRAY],
  ['83019f0203ff820405', ARRAY],
  ['9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff', ARRAY],
  ['bf61610161629f0203ffff', MAP],
  ['826161bf61626163ff', ARRAY],
  ['bf6346756ef563416d7421ff', MAP],
];

describe('RFC 8949, appendix A', () => {
  test('integers, big ones too', () => {
    for (const [hex, value] of INTEGERS) {
      assert.equal(cursor(hex).bigInt(), value, hex);
      assert.equal(toHex(new CborWriter().int(value).take()), hex);
      if (value >= 0n && value < 1n << 64n) assert.equal(cursor(hex).bigUint(), value);
      if (value >= 0n && value <= Number.MAX_SAFE_INTEGER) assert.equal(cursor(hex).uint(), Number(value));
    }
  });

  test('every example is one item, and one byte less is none', () => {
    for (const [hex, major] of [...INTEGERS.map(([hex]) => [hex, fromHex(hex)[0] >> 5] as const), ...OTHERS]) {
      const c = cursor(hex);
      assert.equal(c.peek(), major, hex);
      c.skip();
      assert.equal(c.at, c.end, hex);
      for (let end = 0; end < c.end; end++) assert.throws(() => new Cursor(c.bytes, 0, end).skip(), invalid, `${hex} cut at ${end}`);
    }
  });

  test('strings in pieces', () => {
    assert.deepEqual(cursor('5f42010243030405ff').byteString(), Uint8Array.of(1, 2, 3, 4, 5));
    assert.deepEqual(cursor('5fff').byteString(), new Uint8Array(0));
    assert.deepEqual(cursor('4401020304').byteString(), Uint8Array.of(1, 2, 3, 4));
    // A piece must be a definite string of the same kind.
    for (const hex of ['5f5f4100ffff', '5f6100ff', '5f00ff', '7f4100ff', '5f80ff']) {
      assert.throws(() => cursor(hex).skip(), invalid, hex);
      assert.throws(() => cursor(hex).byteString(), invalid, hex);
    }
  });

  test('what is not well-formed (appendix F)', () => {
    const wrong =
      '1c 1d 1e 3c 5c 7c 9c bc dc fc fd fe ff 1f 3f df 81ff 8200ff a1ff a100ff a1ff00 bf00ff bf000000ff 9f8000 9f 5f00ff 18 19 1a 1b 1901 1a0102 41 61 5affffffff00 5bffffffffffffffff010203 7affffffff00 81 818181 8200 a1 a20102 a100 9f81 c0';
    for (const hex of wrong.split(' ')) assert.throws(() => cursor(hex).skip(), invalid, hex);
  });
});

describe('heads', () => {
  test('every width of every major type, shortest or not', () => {
    for (const major of [UINT, NEGINT, BYTES, TEXT, ARRAY, MAP, TAG]) {
      for (const [info, hex] of [
        ['05', ''],
        ['18', '05'],
        ['19', '0005'],
        ['1a', '00000005'],
        ['1b', '0000000000000005'],
      ] as const) {
        const c = new Cursor(concatBytes(Uint8Array.of((major << 5) | Number.parseInt(info, 16)), fromHex(hex)));
        assert.equal(c.head(), true);
        assert.deepEqual([c.major, c.hi, c.lo, c.at], [major, 0, 5, 1 + hex.length / 2]);
      }
    }
  });

  test('64 bits in two halves', () => {
    const c = cursor('1b0123456789abcdef');
    c.uint64();
    assert.deepEqual([c.hi, c.lo], [0x01234567, 0x89abcdef]);
  });

  test('an integer a number cannot hold is refused as one', () => {
    assert.equal(cursor('1b001fffffffffffff').uint(), Number.MAX_SAFE_INTEGER);
    assert.throws(() => cursor('1b0020000000000000').uint(), invalid);
  });

  test('a wrong kind is an error that says where', () => {
    assert.throws(() => cursor('20').uint(), /expected an unsigned integer at byte 0/);
    assert.throws(() => cursor('01').array(), /expected an array at byte 0/);
    assert.throws(() => cursor('80').map(), /expected a map at byte 0/);
    assert.throws(() => cursor('60').span(), /expected a byte string at byte 0/);
    assert.throws(() => cursor('5f4100ff').span(), /expected a byte string at byte 0/);
    assert.throws(() => cursor('00').tag(), /expected a tag at byte 0/);
    assert.throws(() => cursor('60').bigInt(), /expected an integer at byte 0/);
    assert.throws(() => cursor('c100').bigInt(), /expected an integer at byte 0/);
    const within = cursor('8201');
    within.at = 1;
    assert.throws(() => within.array(), { code: 'BLOCK_INVALID', meta: { at: 1 } });
  });
});

describe('containers', () => {
  test('elements one by one, definite or not', () => {
    for (const hex of ['83010203', '9f010203ff']) {
      const c = cursor(hex);
      const found: number[] = [];
      for (let i = 0, n = c.array(); c.more(n, i); i++) found.push(c.uint());
      assert.deepEqual(found, [1, 2, 3]);
      assert.equal(c.at, c.end);
    }
  });

  test('a count beyond the bytes left is refused before anything is made of it', () => {
    for (const hex of ['8401', '9b00000001000000000000', '9affffffff00'])
      assert.throws(() => cursor(hex).array(), /longer than the bytes left/);
    for (const hex of ['a200', 'baffffffff00', 'bb000000010000000000'])
      assert.throws(() => cursor(hex).map(), /longer than the bytes left/);
    for (const hex of ['4201', '5b000000010000000000']) assert.throws(() => cursor(hex).span(), /longer than the bytes left/);
  });

  test('tuples: the exact number, and an end where one is due', () => {
    const definite = cursor('820102');
    assert.equal(definite.tuple(2, 'pair'), 2);
    assert.throws(() => cursor('83010203').tuple(2, 'pair'), /pair has 3 fields, expected 2 at byte 0/);
    const indefinite = cursor('9f0102ff');
    const count = indefinite.tuple(2, 'pair');
    assert.equal(count, INDEFINITE);
    indefinite.uint();
    assert.throws(() => indefinite.close(count), /expected the end of an array/);
    indefinite.uint();
    indefinite.close(count);
    assert.equal(indefinite.at, indefinite.end);
  });

  test('spans: of any length, or of exactly one', () => {
    const c = cursor('43010203');
    c.span();
    assert.deepEqual([c.start, c.stop, c.at], [1, 4, 4]);
    assert.throws(() => cursor('43010203').span(4), /expected 4 bytes, found 3/);
  });

  test('null and undefined', () => {
    for (const hex of ['f6', 'f7']) assert.equal(cursor(hex).nullish(), true);
    const c = cursor('00');
    assert.equal(c.nullish(), false);
    assert.equal(c.at, 0);
    assert.throws(() => cursor('').nullish(), invalid);
  });
});

describe('limits', () => {
  test('depth: as deep as there are bytes, and what is wrong far down is still found', () => {
    for (const depth of [CBOR_RECURSION_MAX, CBOR_RECURSION_MAX + 1, 200_000]) {
      for (const nest of ['81', 'c1', 'a100', '8200', 'bf00']) {
        const close = nest === 'bf00' ? 'ff'.repeat(depth) : '';
        const c = cursor(`${nest.repeat(depth)}00${close}f6`);
        c.skip();
        assert.equal(c.at, c.end - 1, `${nest} ${depth}`);
        assert.throws(() => cursor(`${nest.repeat(depth)}`).skip(), /unexpected end|longer than the bytes left/);
        assert.throws(() => cursor(`${nest.repeat(depth)}ff`).skip(), invalid);
      }
      cursor('9f'.repeat(depth) + 'ff'.repeat(depth)).skip();
      assert.throws(() => cursor(`${'9f'.repeat(depth)}bf00ff`).skip(), /unexpected break/);
      assert.throws(() => cursor(`${'81'.repeat(depth)}5f41006100ff`).skip(), /definite piece/);
    }
  });

  test('big numbers: the longest allowed, and one byte more', () => {
    const big = (bytes: number) => new CborWriter().tag(2).bytes(new Uint8Array(bytes).fill(0xff)).take();
    assert.equal(new Cursor(big(CBOR_BIG_BYTES_MAX)).bigInt(), (1n << BigInt(8 * CBOR_BIG_BYTES_MAX)) - 1n);
    assert.throws(() => new Cursor(big(CBOR_BIG_BYTES_MAX + 1)).bigInt(), { code: 'BLOCK_INVALID' });
  });

  test('a cursor over a part never reads past its end', () => {
    const bytes = fromHex('8301020304');
    const c = new Cursor(bytes, 0, 3);
    assert.throws(() => c.skip(), invalid);
    assert.throws(() => new Cursor(bytes, 3, 3).peek(), invalid);
    assert.throws(() => new Cursor(bytes, 3, 3).more(INDEFINITE, 0), invalid);
  });
});

const anything = fc.letrec((tie) => ({
  item: fc.oneof(
    { depthSize: 'small' },
    fc.maxSafeInteger(),
    fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }),
    fc.uint8Array({ maxLength: 300 }),
    fc.string(),
    fc.constantFrom(null, true, false),
    fc.double({ noNaN: true }),
    fc.array(tie('item'), { maxLength: 30 }),
    fc.dictionary(fc.string(), tie('item')),
  ),
})).item;

describe('what another library wrote', () => {
  test('is stepped over exactly', () => {
    fc.assert(
      fc.property(anything, fc.uint8Array({ maxLength: 5 }), (value, behind) => {
        const encoded = encode(value);
        const c = new Cursor(concatBytes(encoded, behind));
        c.skip();
        assert.equal(c.at, encoded.length);
      }),
      { numRuns: 500 },
    );
  });

  test('integers are read as they are', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(1n << 64n), max: (1n << 64n) - 1n }), (value) => {
        assert.equal(new Cursor(encode(value)).bigInt(), value);
        assert.equal(toHex(new CborWriter().int(value).take()), toHex(encode(value)));
      }),
    );
  });
});

describe('the writer', () => {
  test('heads are the shortest there are', () => {
    for (const value of [0, 23, 24, 255, 256, 65535, 65536, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
      assert.equal(toHex(new CborWriter().uint(value).take()), toHex(encode(value)));
      assert.equal(toHex(new CborWriter().negative(-1 - value).take()), toHex(encode(-1n - BigInt(value))));
    }
  });

  test('it grows, and starts again after each take', () => {
    const write = new CborWriter(1);
    const long = new Uint8Array(5000).fill(7);
    const first = write.array(2).bytes(long).text('é').take();
    const c = new Cursor(first);
    assert.equal(c.array(), 2);
    assert.deepEqual(c.byteString(), long);
    c.skip();
    assert.equal(c.at, first.length);
    assert.equal(write.length, 0);
    assert.equal(toHex(write.startMap().uint(1).null().uint(2).bool(true).end().take()), 'bf01f602f5ff');
    assert.equal(
      toHex(write.encoded(Uint8Array.of(1)).startBytes().bytes(Uint8Array.of(2)).end().startArray().end().take()),
      'd81841015f4102ff9fff',
    );
  });

  test('a programmer who writes no integer is told', () => {
    for (const value of [-1, 1.5, Number.NaN, 2 ** 53]) assert.throws(() => new CborWriter().uint(value), /assertion failed/);
    assert.throws(() => new CborWriter().bigUint(-1n), /assertion failed/);
    assert.throws(() => new CborWriter().negative(0), /assertion failed/);
  });
});
