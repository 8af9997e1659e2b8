/**
 * The tree of headers against the plainest model there is: a map of parents and
 * work as big numbers, over random trees with several difficulties.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { targetOf } from '../../../src/ledgers/bitcoin/difficulty.ts';
import { headerHash } from '../../../src/ledgers/bitcoin/index.ts';
import { HeaderTree } from '../../../src/sources/bitcoin/header-tree.ts';
import { concatBytes, toHex } from '../../../src/util/bytes.ts';
import { u32 } from '../../ledgers/bitcoin/forge.ts';

const ROOT = { hash: new Uint8Array(32).fill(7), height: 100, time: 0, bits: 0 };
const BITS = [0x207fffff, 0x1d00ffff, 0x1d00fffe, 0x1b0404cb, 0x170331db, 0x01010000, 0x03000001, 0xff123456] as const;

function header(prevHash: Uint8Array, bits: number, nonce: number): Uint8Array {
  return concatBytes(u32(1), prevHash, new Uint8Array(32), u32(0), u32(bits), u32(nonce));
}

interface Known {
  readonly hash: Uint8Array;
  readonly parent: number;
  readonly height: number;
  readonly work: bigint;
}

/** What the tree should say, worked out afresh each time. */
class Model {
  readonly known: Known[] = [{ ...ROOT, parent: -1, work: 0n }];
  best = 0;

  add(parent: number, bits: number, hash: Uint8Array): void {
    const target = targetOf(bits);
    const work = this.known[parent].work + (target === null ? 0n : 2n ** 256n / (target + 1n));
    this.known.push({ hash, parent, height: this.known[parent].height + 1, work });
    if (work > this.known[this.best].work) this.best = this.known.length - 1;
  }

  branch(number: number): number[] {
    const path: number[] = [];
    for (let at = number; at !== -1; at = this.known[at].parent) path.unshift(at);
    return path;
  }
}

test('a random tree is what the model says', () => {
  const step = fc.record({ parent: fc.nat(), near: fc.boolean(), bits: fc.constantFrom(...BITS) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { maxLength: 10 }), (steps, asked) => {
      const tree = new HeaderTree(ROOT);
      const model = new Model();
      steps.forEach(({ parent, near, bits }, i) => {
        const size = model.known.length;
        const on = near ? size - 1 - (parent % Math.min(3, size)) : parent % size;
        const bytes = header(model.known[on].hash, bits, i);
        model.add(on, bits, headerHash(bytes));
        assert.equal(tree.add(bytes), size);
        assert.equal(tree.add(bytes), size, 'a second time it is the same');
        assert.equal(tree.best, model.best);
      });
      assert.equal(tree.size, model.known.length);
      model.known.forEach(({ hash, parent, height }, n) => {
        assert.deepEqual([tree.find(hash), tree.parent(n), tree.height(n), toHex(tree.hash(n))], [n, parent, height, toHex(hash)]);
      });
      for (const [x, y, z] of asked) {
        const [a, b] = [x % model.known.length, y % model.known.length];
        const [left, right] = [model.branch(a), model.branch(b)];
        assert.equal(tree.fork(a, b), left.filter((n, i) => right[i] === n).at(-1));
        const height = ROOT.height - 2 + (z % (left.length + 4));
        assert.equal(tree.ancestor(a, height), left[height - ROOT.height] ?? -1);
      }
    }),
    { numRuns: 200 },
  );
});

test('a header whose parent is unknown is not taken', () => {
  const tree = new HeaderTree(ROOT);
  assert.equal(tree.add(header(new Uint8Array(32), 0x207fffff, 0)), -1);
  assert.equal(tree.size, 1);
  assert.equal(tree.find(new Uint8Array(32)), -1);
});

test('a long chain grows past its first room, and a branch with more work in fewer blocks wins', () => {
  const tree = new HeaderTree(ROOT);
  let last: Uint8Array = ROOT.hash;
  for (let i = 0; i < 5000; i++) {
    const bytes = header(last, 0x207fffff, i);
    assert.equal(tree.add(bytes), i + 1);
    last = headerHash(bytes);
  }
  assert.equal(tree.best, 5000);
  assert.equal(tree.ancestor(5000, 2600), 2500);
  const heavy = header(tree.hash(2500), 0x1d00ffff, 1);
  assert.equal(tree.add(heavy), 5001);
  assert.equal(tree.best, 5001);
  assert.equal(tree.height(5001), 2601);
  assert.equal(tree.fork(5001, 5000), 2500);
  assert.equal(tree.ancestor(5000, 5099), 4999);
});

test('targets are read as nodes read them', () => {
  assert.equal(targetOf(0x1d00ffff), BigInt('0x00000000ffff0000000000000000000000000000000000000000000000000000'));
  assert.equal(targetOf(0x05009234), 0x92340000n);
  assert.equal(targetOf(0x01123456), 0x12n);
  assert.equal(targetOf(0x04923456), null, 'negative');
  assert.equal(targetOf(0x00123456), null, 'zero');
  assert.equal(targetOf(0xff123456), null, 'too large');
});
