/**
 * The node store and the strings of bits that everything else stands on.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  bitAt,
  bitsFromText,
  bitsToText,
  commonBits,
  compareBits,
  concatBits,
  csmt,
  equalBits,
  isBits,
  MemoryNodes,
  NodeOverlay,
  sinkWithin,
  sliceBits,
  startsWith,
  within,
  writeAll,
} from '../../src/proofs/index.ts';
import { branchKey } from '../../src/proofs/radix/record.ts';
import { toHex } from '../../src/util/bytes.ts';
import { bits, Dice, dumpNodes } from './support.ts';

const text = fc.string({ unit: fc.constantFrom('0', '1'), maxLength: 70 });

describe('bits', () => {
  test('do what text does', () => {
    fc.assert(
      fc.property(text, text, fc.nat(70), fc.nat(70), (a, b, from, to) => {
        const [x, y] = [bits(a), bits(b)];
        assert.equal(bitsToText(x), a);
        assert.ok(isBits(x, 70));
        assert.equal(bitsToText(concatBits(x, y)), a + b);
        const [low, high] = [Math.min(from, to, a.length), Math.min(Math.max(from, to), a.length)];
        assert.equal(bitsToText(sliceBits(x, low, high)), a.slice(low, high));
        const common = [...a, '.'].findIndex((bit, i) => bit !== b[i]);
        assert.equal(commonBits(x, 0, y, 0), common);
        assert.equal(commonBits(x, low, x, low), a.length - low);
        assert.equal(startsWith(x, y), a.startsWith(b));
        assert.equal(equalBits(x, y), a === b);
        assert.equal(Math.sign(compareBits(x, y)), a < b ? -1 : a > b ? 1 : 0);
        for (let i = 0; i < a.length; i++) assert.equal(bitAt(x, i), Number(a[i]));
      }),
      { numRuns: 500 },
    );
  });

  test('have one form', () => {
    assert.equal(bitsFromText('012'), null);
    assert.equal(isBits({ bytes: Uint8Array.of(0x80), length: 1 }, 8), true);
    assert.equal(isBits({ bytes: Uint8Array.of(0x81), length: 1 }, 8), false);
    assert.equal(isBits({ bytes: Uint8Array.of(0x80, 0), length: 1 }, 8), false);
    assert.equal(isBits({ bytes: new Uint8Array(0), length: 1 }, 8), false);
    assert.equal(isBits({ bytes: Uint8Array.of(0, 0), length: 9 }, 8), false);
    assert.equal(isBits({ bytes: Uint8Array.of(0), length: 0.5 }, 8), false);
  });

  test('no two paths have one record key, and eight levels stand together', () => {
    const texts = Array.from({ length: 2 ** 11 - 1 }, (_, i) => (i + 1).toString(2).slice(1));
    const keys = texts.map((path) => toHex(branchKey(bits(path).bytes, path.length)));
    assert.equal(new Set(keys).size, texts.length);
    const sorted = [...keys].sort();
    assert.ok(sorted.findLastIndex((key) => key.startsWith('00')) === 254);
    assert.ok(keys.every((key) => key < 'ff'));
  });
});

describe('an overlay', () => {
  test('reads its own writes first, and knows the way back', () => {
    const base = new MemoryNodes();
    const key = (i: number): Uint8Array => Uint8Array.of(i);
    base.put(key(1), key(11));
    base.put(key(2), key(12));
    const before = dumpNodes(base);
    const overlay = new NodeOverlay(base);
    overlay.put(key(1), key(21));
    overlay.del(key(2));
    overlay.put(key(3), key(23));
    overlay.put(key(4), key(24));
    overlay.del(key(4));
    assert.deepEqual(overlay.getMany([1, 2, 3, 4, 5].map(key)), [key(21), undefined, key(23), undefined, undefined]);
    assert.deepEqual(overlay.get(key(1)), key(21));
    assert.deepEqual(dumpNodes(base), before);
    const [writes, inverse] = [overlay.writes(), overlay.inverse()];
    assert.equal(writes.length, 3);
    writeAll(writes, base);
    assert.deepEqual(base.getMany([1, 2, 3, 4].map(key)), [key(21), undefined, key(23), undefined]);
    writeAll(inverse, base);
    assert.deepEqual(dumpNodes(base), before);
  });

  test('several updates through one are the same as one after another', () => {
    const dice = new Dice();
    const batches = Array.from({ length: 20 }, () =>
      Array.from({ length: 10 }, () => ({ key: { bytes: dice.bytes(4), length: 32 }, value: dice.bytes(32) })),
    );
    const direct = new MemoryNodes();
    const grouped = new MemoryNodes();
    const overlay = new NodeOverlay(grouped);
    for (const batch of batches) {
      csmt.update(direct, direct, batch);
      csmt.update(overlay, overlay, batch);
      assert.deepEqual(csmt.root(overlay), csmt.root(direct));
    }
    assert.equal(grouped.size, 0);
    writeAll(overlay.writes(), grouped);
    assert.deepEqual(dumpNodes(grouped), dumpNodes(direct));
  });
});

describe('a part of a store', () => {
  test('two trees share one, and do not meet', () => {
    const dice = new Dice();
    const shared = new MemoryNodes();
    const alone = [new MemoryNodes(), new MemoryNodes()];
    for (let i = 0; i < 40; i++) {
      const prefix = Uint8Array.of(i % 2);
      const change = { key: { bytes: dice.bytes(2), length: 16 }, value: dice.bytes(32) };
      csmt.update(within(prefix, shared), sinkWithin(prefix, shared), [change]);
      csmt.update(alone[i % 2], alone[i % 2], [change]);
    }
    alone.forEach((nodes, i) => {
      assert.deepEqual(csmt.root(within(Uint8Array.of(i), shared)), csmt.root(nodes));
    });
    assert.equal(shared.size, alone[0].size + alone[1].size);
  });
});
