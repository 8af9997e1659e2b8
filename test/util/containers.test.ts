/** The small machinery of the hot path: prefix order, scratch, arena. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Arena } from '../../src/util/arena.ts';
import { inPrefixOrder } from '../../src/util/key-order.ts';
import { Scratch } from '../../src/util/scratch.ts';

describe('prefix order', () => {
  test('ascending, and items of one prefix in the order they came', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.nat(3), fc.nat(0xffff_ffff), fc.constant(0xffff_ffff))), (prefixes) => {
        const items = prefixes.map((prefix, i) => ({ prefix, i }));
        const ordered = inPrefixOrder(items, ({ prefix }) => prefix);
        assert.deepEqual(
          ordered,
          items.toSorted((a, b) => a.prefix - b.prefix || a.i - b.i),
        );
      }),
    );
  });

  test('many items after few, and few after many', () => {
    for (const count of [3, 5000, 2]) {
      const items = Array.from({ length: count }, (_, i) => (i * 2_654_435_761) % 2 ** 32);
      assert.deepEqual(
        [...inPrefixOrder(items, (item) => item)],
        items.toSorted((a, b) => a - b),
      );
    }
  });
});

describe('scratch', () => {
  test('a view is made once per length, over the same bytes', () => {
    const scratch = new Scratch(16);
    assert.equal(scratch.view(8), scratch.view(8));
    scratch.bytes[0] = 7;
    assert.equal(scratch.view(3)[0], 7);
    assert.equal(scratch.view(8).length, 8);
  });

  test('growing forgets the old views', () => {
    const scratch = new Scratch(16);
    const before = scratch.view(8);
    scratch.need(17);
    assert.equal(scratch.bytes.length, 32);
    assert.notEqual(scratch.view(8), before);
    assert.equal(scratch.view(8).buffer, scratch.bytes.buffer);
    assert.equal(scratch.view(10_000).length, 10_000);
    assert.notEqual(scratch.view(9000), scratch.view(9000));
  });
});

describe('arena', () => {
  test('runs never overlap until it is reset, then its slabs serve again', () => {
    const arena = new Arena();
    const slabs = new Set<Uint8Array>();
    const fill = (): void => {
      const taken: { slab: Uint8Array; at: number; length: number; mark: number }[] = [];
      for (let i = 0; i < 3000; i++) {
        const length = 1 + ((i * 37) % 2000);
        const at = arena.take(length);
        assert.ok(at + length <= arena.slab.length);
        arena.slab.fill(i & 0xff, at, at + length);
        taken.push({ slab: arena.slab, at, length, mark: i & 0xff });
      }
      for (const { slab, at, length, mark } of taken) {
        slabs.add(slab);
        assert.ok(slab.subarray(at, at + length).every((byte) => byte === mark));
      }
    };
    fill();
    const made = slabs.size;
    arena.reset();
    fill();
    assert.equal(slabs.size, made, 'no new slab the second time');
  });

  test('what is larger than a slab gets its own', () => {
    const arena = new Arena();
    arena.take(10);
    const small = arena.slab;
    const length = small.length + 1;
    assert.equal(arena.take(length), 0);
    assert.equal(arena.slab.length, length);
    arena.take(10);
    assert.notEqual(arena.slab, small);
    assert.equal(arena.slab.length, small.length);
  });
});
