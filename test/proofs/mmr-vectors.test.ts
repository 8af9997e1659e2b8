/**
 * Mountain ranges against the vectors of their specification: positions, roots,
 * proofs, the prune list, the bitmap, five blocks with spends and the ways back,
 * and the variant without positions.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeTxIn, MemoryNodes, mmr } from '../../src/proofs/index.ts';
import { fromHex, toHex, writeU64 } from '../../src/util/bytes.ts';
import { dumpNodes, dumpSpaces, memorySpaces, needsVectors, readVectors } from './support.ts';

interface Grin {
  readonly elements: readonly { leaves: number; leafPos: number; leafHex: string; size: number; peaks: number[]; root: string }[];
  readonly nodes: readonly { pos: number; height: number; hash: string }[];
  readonly elevenLeaves: {
    root: string;
    size: number;
    peaks: readonly { pos: number; hash: string }[];
    proofs: readonly { leafIndex: number; pos: number; leafHex: string; path: string[]; serialized: string }[];
  };
  readonly positions: readonly {
    pos: number;
    height: number;
    peakMap: string;
    isLeaf: boolean;
    parent: number;
    sibling: number;
    isLeft: boolean;
  }[];
  readonly sizes: readonly { leaves: number; size: number; peaks: number[] }[];
  readonly pruneList: readonly {
    append: number[];
    roots: number[];
    pruned?: number[];
    shift?: number[];
    leafShift?: number[];
    kept?: number[];
  }[];
  readonly bitmapAccumulator: readonly { setIndices: number[]; root: string }[];
  readonly mergedRoot: { mmrSize: number; pmmrRoot: string; unspentLeafIndices: number[]; bitmapRoot: string; merged: string };
}

interface Plain {
  readonly leaves: readonly string[];
  readonly nodes: readonly string[];
  readonly roots: readonly { leaves: number; size: number; peaks: number[]; root: string }[];
}

interface RewindTarget {
  readonly size: number;
  readonly pmmrRoot: string;
  readonly unspentLeafIndices: readonly number[];
  readonly bitmapRoot: string;
  readonly merged: string;
}

interface Utxo {
  readonly leafExample: { txIn: string; txOut: string; content: string; nodeHash: string };
  readonly blocks: readonly (RewindTarget & {
    height: number;
    created: readonly { ref: string; txOut: string; leafIndex: number; pos: number }[];
    spent: readonly { ref: string; leafIndex: number }[];
    prevSize: number;
    peaks: readonly string[];
  })[];
  readonly rewind: readonly { to: number; expect: RewindTarget }[];
}

const u64 = (value: number): Uint8Array => {
  const out = new Uint8Array(8);
  writeU64(out, 0, value);
  return out;
};
const hexes = (hashes: readonly Uint8Array[]): string[] => hashes.map((hash) => toHex(hash));

describe('MMR vectors', () => {
  const has = needsVectors.skip === false;
  const grin = has ? readVectors<Grin>('mmr-grin.json') : (undefined as never);
  const utxo = has ? readVectors<Utxo>('mmr-utxo.json') : (undefined as never);

  test('positions and sizes', needsVectors, () => {
    for (const { pos, height, peakMap, isLeaf, parent, sibling, isLeft } of grin.positions) {
      assert.deepEqual(mmr.placeOf(pos), { height, leavesBefore: Number(peakMap) });
      assert.equal(mmr.placeOf(pos).height === 0, isLeaf);
      assert.deepEqual(mmr.familyOf(pos), { parent, sibling, right: !isLeft });
    }
    for (const { leaves, size, peaks } of grin.sizes) {
      assert.equal(mmr.sizeOf(leaves), size);
      assert.equal(mmr.leavesIn(size), leaves);
      assert.deepEqual(mmr.peaksOf(size), peaks);
    }
    const sizes = new Set(Array.from({ length: 60 }, (_, leaves) => mmr.sizeOf(leaves)));
    for (let size = 0; size < 110; size++) assert.equal(mmr.isSize(size), sizes.has(size), `${size}`);
  });

  test('roots leaf by leaf, and every node', needsVectors, () => {
    const nodes = new MemoryNodes();
    let range = mmr.EMPTY_RANGE;
    for (const { leaves, leafPos, leafHex, size, peaks, root } of grin.elements) {
      assert.equal(mmr.leafPosition(leaves - 1), leafPos);
      range = mmr.append(range, [fromHex(leafHex)], nodes);
      assert.equal(range.size, size);
      assert.deepEqual(mmr.peaksOf(size), peaks);
      assert.equal(toHex(mmr.rangeRoot(range)), root);
    }
    for (const { pos, height, hash } of grin.nodes) {
      assert.equal(mmr.placeOf(pos).height, height);
      assert.equal(toHex(nodes.get(u64(pos))!), hash);
    }
    assert.equal(toHex(mmr.rangeRoot(mmr.EMPTY_RANGE)), '00'.repeat(32));
  });

  test('eleven leaves: peaks and every proof', needsVectors, () => {
    const { root, size, peaks, proofs } = grin.elevenLeaves;
    const nodes = new MemoryNodes();
    const range = mmr.append(
      mmr.EMPTY_RANGE,
      proofs.map(({ leafHex }) => fromHex(leafHex)),
      nodes,
    );
    assert.equal(range.size, size);
    assert.deepEqual(
      mmr.peaksOf(size),
      peaks.map(({ pos }) => pos),
    );
    assert.deepEqual(
      hexes(range.peaks),
      peaks.map(({ hash }) => hash),
    );
    assert.deepEqual(mmr.readRange(nodes, size), range);
    assert.equal(toHex(mmr.rangeRoot(range)), root);
    for (const { leafIndex, pos, leafHex, path, serialized } of proofs) {
      assert.equal(mmr.leafPosition(leafIndex), pos);
      const proof = mmr.proveLeaf(nodes, size, leafIndex);
      assert.deepEqual(hexes(proof.path), path);
      assert.equal(toHex(mmr.encodeProof(proof)), serialized);
      assert.deepEqual(mmr.decodeProof(fromHex(serialized), leafIndex), proof);
      assert.deepEqual(mmr.proofFromJson(JSON.parse(JSON.stringify(mmr.proofToJson(proof)))), proof);
      assert.deepEqual(mmr.verifyLeaf(fromHex(root), leafIndex, fromHex(leafHex), proof), { ok: true });
    }
  });

  test('the variant without positions', needsVectors, () => {
    const plain = readVectors<Plain>('mmr-plain.json');
    const nodes = new MemoryNodes();
    let range = mmr.EMPTY_RANGE;
    const contents = plain.leaves.map((_, i) => Uint8Array.of(i, 0, 0, 0));
    for (const { leaves, size, peaks, root } of plain.roots) {
      range = mmr.append(range, [contents[leaves - 1]], nodes, mmr.PLAIN);
      assert.equal(range.size, size);
      assert.deepEqual(mmr.peaksOf(size), peaks);
      assert.equal(toHex(mmr.rangeRoot(range, mmr.PLAIN)), root);
      for (let leafIndex = 0; leafIndex < leaves; leafIndex++) {
        const proof = mmr.proveLeaf(nodes, size, leafIndex, mmr.PLAIN);
        assert.deepEqual(mmr.verifyLeaf(fromHex(root), leafIndex, contents[leafIndex], proof, mmr.PLAIN), { ok: true });
      }
    }
    plain.nodes.forEach((hash, pos) => {
      assert.equal(toHex(nodes.get(u64(pos))!), hash);
    });
  });

  test('the prune list', needsVectors, () => {
    for (const { append, roots, pruned, shift, leafShift, kept } of grin.pruneList) {
      const spaces = memorySpaces();
      const { size } = mmr.append(
        mmr.EMPTY_RANGE,
        Array.from({ length: 11 }, (_, i) => Uint8Array.of(i)),
        spaces.nodes,
      );
      for (const position of append) mmr.pruneLeaves(spaces, spaces, size, [position]);
      const oneByOne = dumpNodes(spaces.pruned);
      assert.deepEqual(
        oneByOne,
        roots.map((root) => `${toHex(u64(root))} `),
      );
      const all = Array.from({ length: size }, (_, position) => position);
      if (pruned !== undefined)
        assert.deepEqual(
          all.filter((position) => mmr.isPruned(spaces.pruned, position, size)),
          pruned,
        );
      if (kept !== undefined)
        assert.deepEqual(
          all.filter((position) => spaces.nodes.get(u64(position)) !== undefined),
          kept,
        );
      // A flat file would shift by what is gone before a position; it follows from the roots alone.
      const shifts = (position: number, each: (height: number) => number): number =>
        roots.filter((root) => root <= position).reduce((sum, root) => sum + each(mmr.placeOf(root).height), 0);
      shift?.forEach((by, position) => {
        assert.equal(
          shifts(position, (height) => 2 * (2 ** height - 1)),
          by,
        );
      });
      leafShift?.forEach((by, position) => {
        assert.equal(
          shifts(position, (height) => (height > 0 ? 2 ** height : 0)),
          by,
        );
      });
      const together = memorySpaces();
      mmr.append(
        mmr.EMPTY_RANGE,
        Array.from({ length: 11 }, (_, i) => Uint8Array.of(i)),
        together.nodes,
      );
      mmr.pruneLeaves(together, together, size, append);
      assert.deepEqual(dumpNodes(together.pruned), oneByOne);
      assert.deepEqual(dumpNodes(together.nodes), dumpNodes(spaces.nodes));
    }
  });

  test('the bitmap', needsVectors, () => {
    for (const { setIndices, root } of grin.bitmapAccumulator) {
      const spaces = memorySpaces();
      const bitmap = mmr.changeBits(spaces, spaces, mmr.EMPTY_BITMAP, { set: setIndices, clear: [] });
      assert.equal(toHex(bitmap.root), root, `${setIndices}`);
      assert.deepEqual(mmr.unspentLeaves(spaces.chunks, bitmap), setIndices);
    }
  });

  test('the merged root', needsVectors, () => {
    const { mmrSize, pmmrRoot, unspentLeafIndices, bitmapRoot, merged } = grin.mergedRoot;
    const spaces = memorySpaces();
    const bitmap = mmr.changeBits(spaces, spaces, mmr.EMPTY_BITMAP, { set: unspentLeafIndices, clear: [] });
    assert.equal(toHex(bitmap.root), bitmapRoot);
    assert.equal(toHex(mmr.mergedRoot(mmrSize, fromHex(pmmrRoot), bitmap.root)), merged);
  });

  test('the content of a leaf', needsVectors, () => {
    const { txIn, txOut, content, nodeHash } = utxo.leafExample;
    const txId = fromHex(txIn.slice(6, 70));
    assert.equal(toHex(encodeTxIn(txId, 0)), txIn);
    assert.equal(toHex(mmr.leafContent(txId, 0, fromHex(txOut))), content);
    assert.equal(toHex(mmr.INDEXED.leaf(0, fromHex(content))), nodeHash);
  });

  test('five blocks with spends, and the way back to each', needsVectors, () => {
    const spaces = memorySpaces();
    let state = mmr.EMPTY_UTXO_MMR;
    const records: mmr.BlockRecord[] = [];
    const dumps: string[] = [];
    const assertAt = (target: RewindTarget): void => {
      const { pmmrRoot, bitmapRoot, merged } = mmr.rootsOf(state);
      assert.deepEqual(
        {
          size: state.range.size,
          unspentLeafIndices: mmr.unspentLeaves(spaces.chunks, state.bitmap),
          ...roots({ pmmrRoot, bitmapRoot, merged }),
        },
        { size: target.size, unspentLeafIndices: target.unspentLeafIndices, ...rootsOfTarget(target) },
      );
    };
    for (const block of utxo.blocks) {
      dumps.push(dumpSpaces(spaces));
      const created = block.created.map(({ ref, txOut }) => {
        const [txId, index] = ref.split('#');
        return mmr.leafContent(fromHex(txId), Number(index), fromHex(txOut));
      });
      const applied = mmr.applyBlock(spaces, spaces, state, { created, spent: block.spent.map(({ leafIndex }) => leafIndex) });
      state = applied.mmr;
      assertAt(block);
      const { prevSize, size, peaks, pmmrRoot, bitmapRoot } = applied.record;
      assert.deepEqual([prevSize, size, hexes(peaks)], [block.prevSize, block.size, block.peaks]);
      assert.deepEqual([toHex(pmmrRoot), toHex(bitmapRoot)], [block.pmmrRoot, block.bitmapRoot]);
      records.push(applied.record);
    }
    for (const { to, expect } of [...utxo.rewind].sort((a, b) => b.to - a.to)) {
      while (records.length > to) {
        state = mmr.rewindBlock(spaces, spaces, state, records.pop()!);
        assert.deepEqual(dumpSpaces(spaces), dumps.pop());
      }
      assertAt(expect);
    }
  });
});

function roots({ pmmrRoot, bitmapRoot, merged }: mmr.UtxoRoots): object {
  return { pmmrRoot: toHex(pmmrRoot), bitmapRoot: toHex(bitmapRoot), merged: toHex(merged) };
}

function rootsOfTarget({ pmmrRoot, bitmapRoot, merged }: RewindTarget): object {
  return { pmmrRoot, bitmapRoot, merged };
}
