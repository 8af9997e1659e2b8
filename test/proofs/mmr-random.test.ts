/**
 * Mountain ranges under random blocks: roots as built from scratch, every leaf
 * provable at every size, spent and unspent told apart, compaction that changes
 * no root, and the way back to any block, byte for byte.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MemoryNodes, mmr, NodeOverlay, writeAll } from '../../src/proofs/index.ts';
import { toHex, writeU64 } from '../../src/util/bytes.ts';
import { bitmapRoot, mergedRoot, mmrRoot } from './reference.ts';
import { Dice, dumpNodes, dumpSpaces, memorySpaces } from './support.ts';

const OK = { ok: true };
const LEAVES = 70;

const keyOf = (position: number): Uint8Array => {
  const key = new Uint8Array(8);
  writeU64(key, 0, position);
  return key;
};

describe('a mountain range', () => {
  const dice = new Dice();
  const contents = Array.from({ length: LEAVES }, () => dice.bytes(32));

  test('every leaf of every size is provable, and nothing else is', () => {
    const nodes = new MemoryNodes();
    let range = mmr.EMPTY_RANGE;
    for (let leaves = 0; leaves <= LEAVES; leaves++) {
      const root = mmr.rangeRoot(range);
      assert.equal(toHex(root), mmrRoot(contents.slice(0, leaves)));
      for (let leafIndex = 0; leafIndex < leaves; leafIndex++) {
        const proof = mmr.proveLeaf(nodes, range.size, leafIndex);
        assert.deepEqual(mmr.verifyLeaf(root, leafIndex, contents[leafIndex], proof), OK);
        assert.deepEqual(mmr.decodeProof(mmr.encodeProof(proof), leafIndex), proof);
        const other = (leafIndex + 1) % leaves;
        assert.equal(mmr.verifyLeaf(root, leafIndex, contents[leafIndex + 1] ?? dice.bytes(32), proof).ok, false);
        assert.equal(mmr.verifyLeaf(root, other, contents[leafIndex], { ...proof, leafIndex: other }).ok, other === leafIndex);
      }
      for (const leafIndex of [leaves, leaves + 1, -1, 0.5]) {
        assert.throws(() => mmr.proveLeaf(nodes, range.size, leafIndex), { code: 'USAGE' });
      }
      if (leaves < LEAVES) range = mmr.append(range, [contents[leaves]], nodes);
    }
  });

  test('appending in groups, and going back to any size', () => {
    const nodes = new MemoryNodes();
    const dumps: string[][] = [];
    let range = mmr.EMPTY_RANGE;
    for (const content of contents) {
      dumps.push(dumpNodes(nodes));
      range = mmr.append(range, [content], nodes);
    }
    const atOnce = new MemoryNodes();
    assert.deepEqual(mmr.append(mmr.EMPTY_RANGE, contents, atOnce), range);
    assert.deepEqual(dumpNodes(atOnce), dumpNodes(nodes));
    for (let leaves = LEAVES - 1; leaves >= 0; leaves -= 1 + dice.below(4)) {
      range = mmr.rewind(nodes, nodes, range, mmr.sizeOf(leaves));
      assert.deepEqual(dumpNodes(nodes), dumps[leaves]);
      assert.equal(toHex(mmr.rangeRoot(range)), mmrRoot(contents.slice(0, leaves)));
    }
    assert.throws(() => mmr.readRange(atOnce, 2), { code: 'USAGE' });
    assert.throws(() => mmr.readRange(nodes, mmr.sizeOf(LEAVES)), { code: 'STORE_DAMAGED' });
  });

  test('positions far beyond 32 bits', () => {
    for (const leaves of [2 ** 31, 2 ** 32 + 5, 2 ** 40 - 1, 2 ** 51 + 2 ** 33 + 3]) {
      const size = mmr.sizeOf(leaves);
      assert.ok(mmr.isSize(size));
      assert.equal(mmr.leavesIn(size), leaves);
      assert.equal(mmr.placeOf(mmr.leafPosition(leaves)).height, 0);
      const peaks = mmr.peaksOf(size);
      assert.equal(peaks.at(-1), size - 1);
      assert.equal(peaks.length, BigInt(leaves).toString(2).replaceAll('0', '').length);
      for (const peak of peaks) assert.ok(mmr.familyOf(peak).sibling >= size || mmr.familyOf(peak).parent >= size);
    }
  });
});

describe('the bitmap', () => {
  test('its rows and root follow from the set bits alone', (t) => {
    const dice = new Dice();
    t.diagnostic(`seed ${dice.seed}`);
    const spaces = memorySpaces();
    const set = new Set<number>();
    let bitmap = mmr.EMPTY_BITMAP;
    const borders = [0, 1, 1023, 1024, 1025, 2047, 2048, 4095, 4096, 9000, 70_000];
    for (let step = 0; step < 120; step++) {
      const chosen = [
        ...new Set(Array.from({ length: 1 + dice.below(6) }, () => (dice.chance(2) ? dice.pick(borders) : dice.below(12_000)))),
      ];
      const clear = step > 100 ? [...set].slice(0, 30) : chosen.filter((leaf) => set.has(leaf));
      const add = step > 100 ? [] : chosen.filter((leaf) => !set.has(leaf));
      bitmap = mmr.changeBits(spaces, spaces, bitmap, { set: add, clear });
      for (const leaf of add) set.add(leaf);
      for (const leaf of clear) set.delete(leaf);
      assert.equal(toHex(bitmap.root), bitmapRoot(set));
      assert.deepEqual(
        mmr.unspentLeaves(spaces.chunks, bitmap),
        [...set].sort((a, b) => a - b),
      );
      if (step % 10 === 0) {
        const scratch = memorySpaces();
        mmr.changeBits(scratch, scratch, mmr.EMPTY_BITMAP, { set: [...set], clear: [] });
        assert.deepEqual(dumpSpaces(spaces), dumpSpaces(scratch));
      }
    }
    bitmap = mmr.changeBits(spaces, spaces, bitmap, { set: [], clear: [...set] });
    assert.deepEqual(bitmap, mmr.EMPTY_BITMAP);
    assert.deepEqual(dumpSpaces(spaces), dumpSpaces(memorySpaces()));
  });

  test('a bit that is so already is refused, and nothing is written', () => {
    const spaces = memorySpaces();
    const bitmap = mmr.changeBits(spaces, spaces, mmr.EMPTY_BITMAP, { set: [5], clear: [] });
    const dump = dumpSpaces(spaces);
    assert.throws(() => mmr.changeBits(spaces, spaces, bitmap, { set: [9, 5], clear: [] }), { code: 'OUTPUT_DUPLICATE' });
    assert.throws(() => mmr.changeBits(spaces, spaces, bitmap, { set: [9], clear: [4] }), { code: 'INPUT_MISSING' });
    assert.deepEqual(dumpSpaces(spaces), dump);
  });
});

/** A chain of blocks over the range, with everything that is known about it on the side. */
class Chain {
  readonly spaces = memorySpaces();
  mmr = mmr.EMPTY_UTXO_MMR;
  readonly contents: Uint8Array[] = [];
  readonly unspent = new Set<number>();
  readonly records: mmr.BlockRecord[] = [];
  /** Per block, before it. */
  readonly before: { dump: string; contents: number; unspent: readonly number[]; mmr: mmr.UtxoMmr }[] = [];
  private readonly dice: Dice;

  constructor(dice: Dice) {
    this.dice = dice;
  }

  forward(outputs: number, spends: number): void {
    const { dice, contents, unspent } = this;
    this.before.push({ dump: dumpSpaces(this.spaces), contents: contents.length, unspent: [...unspent], mmr: this.mmr });
    const created = Array.from({ length: outputs }, () => dice.bytes(32));
    for (const content of created) {
      unspent.add(contents.length);
      contents.push(content);
    }
    const spent: number[] = [];
    for (let i = 0; i < spends && unspent.size > 0; i++) {
      const leaf = dice.pick([...unspent]);
      unspent.delete(leaf);
      spent.push(leaf);
    }
    // Through an overlay, as a group of blocks would be.
    const overlays = overlaysOn(this.spaces);
    const applied = mmr.applyBlock(overlays, overlays, this.mmr, { created, spent });
    flush(overlays, this.spaces);
    this.mmr = mmr.decodeState(mmr.encodeState(applied.mmr));
    assert.deepEqual(this.mmr, applied.mmr);
    this.records.push(applied.record);
    this.check();
  }

  back(): void {
    const { dump, contents, unspent, mmr: state } = this.before.pop()!;
    const record = mmr.decodeBlockRecord(mmr.encodeBlockRecord(this.records.at(-1)!));
    assert.deepEqual(record, this.records.pop());
    const compacted = this.mmr.cutoff > 0;
    this.mmr = mmr.rewindBlock(this.spaces, this.spaces, this.mmr, record);
    this.contents.length = contents;
    this.unspent.clear();
    for (const leaf of unspent) this.unspent.add(leaf);
    assert.deepEqual(this.mmr.range, state.range);
    assert.deepEqual(this.mmr.bitmap, state.bitmap);
    if (!compacted) assert.equal(dumpSpaces(this.spaces), dump);
    this.check();
  }

  check(): void {
    const { merged, pmmrRoot, bitmapRoot: bits } = mmr.rootsOf(this.mmr);
    assert.equal(toHex(pmmrRoot), mmrRoot(this.contents));
    assert.equal(toHex(bits), bitmapRoot(this.unspent));
    assert.equal(toHex(merged), mergedRoot(this.contents, this.unspent));
  }

  /** Every leaf: unspent or spent, provably, and never the other. */
  checkProofs(leaves: readonly number[]): void {
    const { merged } = mmr.rootsOf(this.mmr);
    for (const leaf of leaves) {
      const content = this.contents[leaf];
      const proof = mmr.proveUtxo(this.spaces, this.mmr, leaf);
      const status = this.unspent.has(leaf) ? 'unspent' : 'spent';
      assert.deepEqual(mmr.verifyUtxo(merged, content, proof), { ok: true, status });
      assert.equal(mmr.verifyUnspent(merged, content, proof).ok, status === 'unspent');
      assert.equal(mmr.verifySpent(merged, content, proof).ok, status === 'spent');
      assert.deepEqual(mmr.utxoProofFromJson(JSON.parse(JSON.stringify(mmr.utxoProofToJson(proof)))), proof);
    }
  }
}

const SPACES = ['nodes', 'pruned', 'chunks', 'chunkNodes'] as const;

function overlaysOn(spaces: mmr.UtxoSpaces<MemoryNodes>): mmr.UtxoSpaces<NodeOverlay> {
  const { nodes, pruned, chunks, chunkNodes } = spaces;
  return {
    nodes: new NodeOverlay(nodes),
    pruned: new NodeOverlay(pruned),
    chunks: new NodeOverlay(chunks),
    chunkNodes: new NodeOverlay(chunkNodes),
  };
}

/** Writes, takes back with the overlay's own inverse, and writes again. */
function flush(overlays: mmr.UtxoSpaces<NodeOverlay>, spaces: mmr.UtxoSpaces<MemoryNodes>): void {
  for (const name of SPACES) {
    const before = dumpNodes(spaces[name]);
    const [writes, inverse] = [overlays[name].writes(), overlays[name].inverse()];
    writeAll(writes, spaces[name]);
    const after = dumpNodes(spaces[name]);
    writeAll(inverse, spaces[name]);
    assert.deepEqual(dumpNodes(spaces[name]), before);
    writeAll(writes, spaces[name]);
    assert.deepEqual(dumpNodes(spaces[name]), after);
  }
}

describe('the range over outputs', () => {
  test('random blocks and forks: roots, proofs, and the same rows on the way back', (t) => {
    const dice = new Dice();
    t.diagnostic(`seed ${dice.seed}`);
    const chain = new Chain(dice);
    for (let turn = 0; turn < 25; turn++) {
      for (let i = dice.below(6); i >= 0; i--) chain.forward(dice.below(20), dice.below(22));
      chain.checkProofs(chain.contents.map((_, leaf) => leaf).filter(() => dice.chance(8)));
      for (let i = dice.below(5); i > 0 && chain.records.length > 0; i--) chain.back();
    }
    chain.checkProofs(chain.contents.map((_, leaf) => leaf));
    while (chain.records.length > 0) chain.back();
    assert.deepEqual(chain.mmr, mmr.EMPTY_UTXO_MMR);
    assert.equal(dumpSpaces(chain.spaces), dumpSpaces(memorySpaces()));
  });

  test('compaction frees spent leaves, changes no root, and sets the horizon', (t) => {
    const dice = new Dice();
    t.diagnostic(`seed ${dice.seed}`);
    const chain = new Chain(dice);
    const gone = new Set<number>();
    for (let turn = 0; turn < 12; turn++) {
      for (let i = 0; i < 7; i++) chain.forward(5 + dice.below(10), 3 + dice.below(10));
      if (dice.chance(2)) for (let i = 0; i < 2; i++) chain.back();
      // All but the newest four blocks are settled.
      const settled = chain.records.length - 4;
      const cutoff = chain.records[settled].prevSize;
      const spent = chain.records
        .slice(0, settled)
        .flatMap((record) => record.spent)
        .filter((leaf) => mmr.leafPosition(leaf) < cutoff);
      const before = chain.spaces.nodes.size;
      const roots = mmr.rootsOf(chain.mmr);
      const { mmr: after, freed } = mmr.compact(chain.spaces, chain.spaces, chain.mmr, cutoff, spent);
      chain.mmr = after;
      assert.equal(before - chain.spaces.nodes.size, freed);
      assert.deepEqual(mmr.rootsOf(chain.mmr), roots);
      for (const leaf of spent) gone.add(leaf);
      checkPruned(chain, gone);
      chain.checkProofs([...chain.unspent]);
      for (let leaves = mmr.leavesIn(cutoff); leaves <= chain.contents.length; leaves++)
        mmr.readRange(chain.spaces.nodes, mmr.sizeOf(leaves));
      for (let i = 0; i < 4; i++) chain.back();
      const dump = dumpSpaces(chain.spaces);
      const older = chain.records.at(-1)!;
      if (older.prevSize < cutoff) {
        assert.throws(() => mmr.rewindBlock(chain.spaces, chain.spaces, chain.mmr, older), { code: 'HORIZON' });
        assert.equal(dumpSpaces(chain.spaces), dump);
      }
    }
    assert.ok(chain.spaces.nodes.size < mmr.sizeOf(chain.contents.length), 'something was freed');
  });

  test('what may not be compacted', () => {
    const chain = new Chain(new Dice());
    chain.forward(10, 0);
    chain.forward(10, 8);
    const [leaf] = [...chain.unspent];
    const spent = chain.records[1].spent[0];
    const { spaces } = chain;
    const dump = dumpSpaces(spaces);
    const { size } = chain.mmr.range;
    for (const [cutoff, leaves] of [
      [size, [leaf]],
      [size + 1, []],
      [size - 2, []],
      [0, [spent]],
    ] as const) {
      assert.throws(() => mmr.compact(spaces, spaces, chain.mmr, cutoff, leaves), { code: 'USAGE' });
    }
    assert.equal(dumpSpaces(spaces), dump);
  });

  test('a leaf whose chunk is at the end and empty is provably spent; so is everything when nothing is left', () => {
    const chain = new Chain(new Dice());
    chain.forward(2500, 0);
    const spend = (leaves: number[]): void => {
      chain.mmr = mmr.applyBlock(chain.spaces, chain.spaces, chain.mmr, { created: [], spent: leaves }).mmr;
      for (const leaf of leaves) chain.unspent.delete(leaf);
    };
    spend(Array.from({ length: 2500 - 1024 }, (_, i) => 1024 + i));
    assert.equal(chain.mmr.bitmap.chunkCount, 1);
    chain.checkProofs([0, 1023, 1024, 1025, 2047, 2048, 2499]);
    spend(Array.from({ length: 1024 }, (_, i) => i));
    assert.equal(chain.mmr.bitmap.chunkCount, 0);
    chain.checkProofs([0, 1023, 1024, 2499]);
  });

  test('a record of another block, or of other spends, is refused', () => {
    const chain = new Chain(new Dice());
    chain.forward(10, 2);
    chain.forward(10, 2);
    const [first, second] = chain.records;
    const { spaces } = chain;
    assert.throws(() => mmr.rewindBlock(spaces, memorySpaces(), chain.mmr, first), { code: 'USAGE' });
    const other = { ...second, mergedBefore: first.mergedBefore };
    assert.throws(() => mmr.rewindBlock(spaces, memorySpaces(), chain.mmr, other), { code: 'STORE_DAMAGED' });
    const spent = chain.contents.map((_, leaf) => leaf).filter((leaf) => !chain.unspent.has(leaf));
    assert.throws(() => mmr.applyBlock(spaces, memorySpaces(), chain.mmr, { created: [], spent: [spent[0]] }), { code: 'INPUT_MISSING' });
    assert.throws(() => mmr.applyBlock(spaces, memorySpaces(), chain.mmr, { created: [], spent: [999] }), { code: 'INPUT_MISSING' });
    const state = mmr.encodeState(chain.mmr);
    const record = mmr.encodeBlockRecord(second);
    for (const change of [(bytes: Uint8Array) => bytes.slice(0, -1), (bytes: Uint8Array) => Uint8Array.of(...bytes, 0)]) {
      assert.throws(() => mmr.decodeState(change(state)), { code: 'STORE_DAMAGED' });
      assert.throws(() => mmr.decodeBlockRecord(change(record)), { code: 'STORE_DAMAGED' });
    }
    assert.throws(() => mmr.decodeState(Uint8Array.of(2, ...state.slice(1))), { code: 'STORE_DAMAGED' });
  });
});

/** Entries never nest, cover exactly the leaves that went, and only hashes below them are missing. */
function checkPruned(chain: Chain, gone: ReadonlySet<number>): void {
  const { size } = chain.mmr.range;
  for (let leaf = 0; leaf < chain.contents.length; leaf++) {
    assert.equal(mmr.isPruned(chain.spaces.pruned, mmr.leafPosition(leaf), size), gone.has(leaf), `leaf ${leaf}`);
  }
  for (let position = 0; position < size; position++) {
    const kept = chain.spaces.nodes.get(keyOf(position)) !== undefined;
    const isRoot = chain.spaces.pruned.get(keyOf(position)) !== undefined;
    assert.equal(kept, isRoot || !mmr.isPruned(chain.spaces.pruned, position, size), `position ${position}`);
  }
  for (const leaf of gone) {
    if (chain.spaces.nodes.get(keyOf(mmr.leafPosition(leaf))) !== undefined) continue;
    assert.throws(() => mmr.proveUtxo(chain.spaces, chain.mmr, leaf), { code: 'PRUNED' });
  }
}
