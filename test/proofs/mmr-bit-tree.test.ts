/**
 * The bitmap in memory against the plain one: the same root after every block
 * and the same rows after every flush, however blocks were grouped between
 * flushes, with little or nothing kept in memory, there and back.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MemoryNodes, mmr, NodeOverlay, type NodeReader, writeAll } from '../../src/proofs/index.ts';
import { toHex, writeU64 } from '../../src/util/bytes.ts';
import { bitmapRoot } from './reference.ts';
import { Dice, dumpNodes } from './support.ts';

const CHUNK = mmr.CHUNK_BITS;

interface Rows {
  readonly chunks: MemoryNodes;
  readonly chunkNodes: MemoryNodes;
}

const rows = (): Rows => ({ chunks: new MemoryNodes(), chunkNodes: new MemoryNodes() });
const dumpRows = ({ chunks, chunkNodes }: Rows): readonly string[][] => [dumpNodes(chunks), dumpNodes(chunkNodes)];

/** The nodes that are to have rows. */
const dumpStored = ({ chunks, chunkNodes }: Rows): readonly string[][] => [
  dumpNodes(chunks),
  dumpNodes(chunkNodes).filter((row) => mmr.placeOf(Number.parseInt(row.slice(0, 16), 16)).height >= mmr.STORED_LEVEL),
];

/** Bits as a plain set, and random blocks over a few chunks. */
class Model {
  readonly set = new Set<number>();
  private readonly dice: Dice;
  private next = 0;

  constructor(dice: Dice) {
    this.dice = dice;
  }

  block(): { readonly set: number[]; readonly clear: number[] } {
    const set = Array.from({ length: this.dice.below(400) }, () => this.next++);
    // Now and then a stretch that is spent at once, so that chunks of zeros come and go at the end.
    if (this.dice.below(5) === 0) this.next += CHUNK * this.dice.below(6);
    for (const leaf of set) this.set.add(leaf);
    const all = [...this.set];
    const few = this.dice.below(4) === 0 ? all.length : this.dice.below(60);
    const clear = [...new Set(Array.from({ length: Math.min(few, all.length) }, () => all[this.dice.below(all.length)]))];
    const gone = this.dice.below(6) === 0 ? all.filter((leaf) => leaf >= CHUNK * this.dice.below(30)) : [];
    const cleared = [...new Set([...clear, ...gone])];
    for (const leaf of cleared) this.set.delete(leaf);
    return { set, clear: cleared };
  }
}

/** Nodes are read by position, those without rows too. */
function assertReads(tree: mmr.BitTree, { chunkNodes }: Rows, { chunkCount }: mmr.Bitmap): void {
  const keys = Array.from({ length: mmr.sizeOf(chunkCount) }, (_, position) => {
    const key = new Uint8Array(8);
    writeU64(key, 0, position);
    return key;
  });
  assert.deepEqual(tree.reader().getMany(keys), chunkNodes.getMany(keys));
}

/** How often the store is read. */
function counted(nodes: NodeReader, reads: { count: number }): NodeReader {
  return {
    get: (key) => {
      reads.count++;
      return nodes.get(key);
    },
    getMany: (keys) => {
      reads.count++;
      return nodes.getMany(keys);
    },
  };
}

describe('the bitmap in memory', () => {
  for (const rowsKept of [0, 10, 1_000_000]) {
    test(`is the plain one after every block, with ${rowsKept} rows kept`, () => {
      const dice = new Dice();
      const model = new Model(dice);
      const plain = rows();
      const mine = rows();
      let bitmap = mmr.EMPTY_BITMAP;
      const tree = new mmr.BitTree(bitmap, mine);
      for (let n = 0; n < 60; n++) {
        const { set, clear } = model.block();
        // The plain one takes a change of each leaf once a call.
        const both = new Set(clear.filter((leaf) => set.includes(leaf)));
        bitmap = mmr.changeBits(plain, plain, bitmap, {
          set: set.filter((leaf) => !both.has(leaf)),
          clear: clear.filter((leaf) => !both.has(leaf)),
        });
        if (dice.below(2) === 0) tree.prepare([...set, ...clear]);
        for (const leaf of set) tree.set(leaf);
        for (const leaf of clear) tree.clear(leaf);
        assert.deepEqual(tree.hash(), bitmap);
        assert.equal(toHex(bitmap.root), bitmapRoot(model.set));
        if (dice.below(3) > 0) continue;
        tree.flush(mine);
        tree.forget(rowsKept);
        assert.deepEqual(dumpRows(mine), dumpStored(plain));
        assertReads(new mmr.BitTree(bitmap, mine), plain, bitmap);
      }
    });
  }

  test('goes back to where it was, row by row', () => {
    const dice = new Dice();
    const model = new Model(dice);
    const store = rows();
    const tree = new mmr.BitTree(mmr.EMPTY_BITMAP, store);
    for (let round = 0; round < 25; round++) {
      const first = model.block();
      for (const leaf of first.set) tree.set(leaf);
      for (const leaf of first.clear) tree.clear(leaf);
      tree.flush(store);
      const before = dumpRows(store);
      const leaves = Math.max(-1, ...model.set, ...first.set) + 1 + dice.below(2000);
      const old = [...model.set].filter(() => dice.below(3) === 0);
      for (const leaf of old) tree.clear(leaf);
      const fresh = Array.from({ length: dice.below(3000) }, (_, i) => leaves + i);
      for (const leaf of fresh) tree.set(leaf);
      const root = tree.hash();
      tree.flush(store);
      // From the store alone, as after a restart.
      const again = new mmr.BitTree(root, store);
      assert.equal(again.truncate(leaves), fresh.length);
      for (const leaf of old) again.set(leaf);
      assert.equal(toHex(again.hash().root), bitmapRoot(model.set));
      const overlays = { chunks: new NodeOverlay(store.chunks), chunkNodes: new NodeOverlay(store.chunkNodes) };
      again.flush(overlays);
      const undone = rows();
      for (const name of ['chunks', 'chunkNodes'] as const) {
        writeAll(store[name].entries(), undone[name]);
        writeAll(overlays[name].writes(), undone[name]);
      }
      assert.deepEqual(dumpRows(undone), before);
      tree.truncate(leaves);
      for (const leaf of old) tree.set(leaf);
      tree.flush(store);
      assert.deepEqual(dumpRows(store), before);
    }
  });

  test('refuses a bit that is set already, and one that is not', () => {
    const store = rows();
    const tree = new mmr.BitTree(mmr.EMPTY_BITMAP, store);
    tree.set(5);
    assert.ok(tree.isSet(5));
    assert.ok(!tree.isSet(6));
    assert.throws(() => tree.set(5), { code: 'OUTPUT_DUPLICATE' });
    assert.throws(() => tree.clear(6), { code: 'INPUT_MISSING' });
    assert.throws(() => tree.clear(CHUNK * 9), { code: 'INPUT_MISSING' });
  });

  test('reads a store three times for a group of blocks, and not at all for what it has seen', () => {
    const store = rows();
    const first = new mmr.BitTree(mmr.EMPTY_BITMAP, store);
    for (let leaf = 0; leaf < 40 * CHUNK; leaf += 7) first.set(leaf);
    first.flush(store);
    const reads = { count: 0 };
    const watched = { chunks: counted(store.chunks, reads), chunkNodes: counted(store.chunkNodes, reads) };
    const tree = new mmr.BitTree(first.hash(), watched);
    const leaves = [7, 7 * 1000, 7 * 2000, 7 * 5000];
    tree.prepare(leaves);
    // The chunks that change, those around them, and the nodes above.
    assert.equal(reads.count, 3);
    for (const leaf of leaves) {
      tree.clear(leaf);
      tree.hash();
    }
    tree.flush(store);
    assert.equal(reads.count, 3);
    for (const leaf of leaves) tree.set(leaf);
    assert.deepEqual(tree.hash(), first.hash());
    assert.equal(reads.count, 3);
  });
});
