/**
 * Proofs of mountain ranges that must not be accepted: thousands of true ones
 * changed in one place, and true ones used for a false claim: another leaf,
 * another size, spent for unspent.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MemoryNodes, mmr, type Verdict } from '../../src/proofs/index.ts';
import { forge, textOf } from './forge.ts';
import { Dice, memorySpaces, PROOFS } from './support.ts';

const OK = { ok: true };
/** Leaves of ranges over outputs: around the edges of chunks, too. */
const SIZES = [1, 7, 300, 1024, 1025, 3000, 5000];

function assertRefused(verdict: Verdict, what: () => string): void {
  if (verdict.ok) assert.fail(`accepted: ${what()}`);
}

describe('forged proofs of a mountain range', () => {
  test(`${PROOFS.range} proofs, and as many changed in one place`, (t) => {
    const dice = new Dice();
    t.diagnostic(`seed ${dice.seed}`);
    let count = 0;
    for (let leaves = 1; count < PROOFS.range; leaves = 1 + dice.below(200)) {
      const nodes = new MemoryNodes();
      const contents = Array.from({ length: leaves }, () => dice.bytes(32));
      const range = mmr.append(mmr.EMPTY_RANGE, contents, nodes);
      const root = mmr.rangeRoot(range);
      const proofs = contents.map((_, leafIndex) => mmr.proveLeaf(nodes, range.size, leafIndex));
      proofs.forEach((proof, leafIndex) => {
        assert.deepEqual(mmr.verifyLeaf(root, leafIndex, contents[leafIndex], proof), OK);
        const forged = forge(proof, proofs[(leafIndex + 1) % leaves], dice);
        assertRefused(mmr.verifyLeaf(root, leafIndex, contents[leafIndex], forged), () => textOf([proof, forged]));
        // The same with the index the forgery names: then it is about another leaf.
        if (forged.leafIndex !== leafIndex)
          assertRefused(mmr.verifyLeaf(root, forged.leafIndex, contents[leafIndex], forged), () => textOf([proof, forged]));
        assertRefused(mmr.verifyLeaf(root, leafIndex, dice.bytes(32), proof), () => textOf(proof));
        count++;
      });
    }
    t.diagnostic(`${count} proofs and as many forged`);
    assert.ok(count >= PROOFS.range);
  });

  test('a proof holds for its size alone', () => {
    const dice = new Dice();
    const nodes = new MemoryNodes();
    const contents = Array.from({ length: 40 }, () => dice.bytes(32));
    mmr.append(mmr.EMPTY_RANGE, contents, nodes);
    const roots = contents.map((_, i) => mmr.rangeRoot(mmr.readRange(nodes, mmr.sizeOf(i + 1))));
    for (let leaves = 1; leaves <= 40; leaves++) {
      for (let leafIndex = 0; leafIndex < leaves; leafIndex++) {
        const proof = mmr.proveLeaf(nodes, mmr.sizeOf(leaves), leafIndex);
        roots.forEach((root, i) => {
          assert.equal(mmr.verifyLeaf(root, leafIndex, contents[leafIndex], proof).ok, i + 1 === leaves);
          const resized = { ...proof, mmrSize: mmr.sizeOf(i + 1) };
          if (i + 1 !== leaves)
            assertRefused(mmr.verifyLeaf(roots[leaves - 1], leafIndex, contents[leafIndex], resized), () => textOf(resized));
        });
      }
    }
  });
});

describe('forged proofs of unspent outputs', () => {
  test('each check has its own answer', () => {
    const dice = new Dice();
    const spaces = memorySpaces();
    const created = Array.from({ length: 3000 }, () => dice.bytes(32));
    const spent = created.map((_, leaf) => leaf).filter((leaf) => leaf >= 2048);
    const { mmr: state } = mmr.applyBlock(spaces, spaces, mmr.EMPTY_UTXO_MMR, { created, spent });
    const { merged, pmmrRoot, bitmapRoot } = mmr.rootsOf(state);
    const [content] = created;
    const proof = mmr.proveUtxo(spaces, state, 0);
    const bits = proof.bits!;
    const last = mmr.proveUtxo(spaces, state, 2999);
    const { leaf } = proof;
    const answers: readonly (readonly [RegExp, Verdict])[] = [
      [/no mountain range has that size/, mmr.verifyLeaf(pmmrRoot, 0, content, { ...leaf, mmrSize: leaf.mmrSize + 2 })],
      [/no mountain range has that size/, mmr.verifyLeaf(pmmrRoot, 0, content, { ...leaf, mmrSize: 2 })],
      [/no mountain range has that size/, mmr.verifyLeaf(pmmrRoot, 0, content, { ...leaf, mmrSize: -1 })],
      [/not in the range/, mmr.verifyLeaf(pmmrRoot, 3000, content, { ...leaf, leafIndex: 3000 })],
      [/not in the range/, mmr.verifyLeaf(pmmrRoot, -1, content, { ...leaf, leafIndex: -1 })],
      [/not in the range/, mmr.verifyLeaf(pmmrRoot, 0.5, content, { ...leaf, leafIndex: 0.5 })],
      [/of another leaf/, mmr.verifyLeaf(pmmrRoot, 1, content, leaf)],
      [/the wrong length/, mmr.verifyLeaf(pmmrRoot, 0, content, { ...leaf, path: leaf.path.slice(1) })],
      [/a hash of the path is not 32/, mmr.verifyLeaf(pmmrRoot, 0, content, { ...leaf, path: leaf.path.with(0, dice.bytes(33)) })],
      [/the root is not 32/, mmr.verifyLeaf(pmmrRoot.slice(1), 0, content, leaf)],
      [/another root/, mmr.verifyLeaf(merged, 0, content, leaf)],
      [/the root is not 32/, mmr.verifyUtxo(merged.slice(1), content, proof)],
      [/content of the leaf is not 32/, mmr.verifyUtxo(merged, content.slice(1), proof)],
      [/another root/, mmr.verifyUtxo(pmmrRoot, content, proof)],
      [/another root/, mmr.verifyUtxo(bitmapRoot, content, proof)],
      [/a chunk is not 128 bytes/, mmr.verifyUtxo(merged, content, { leaf, bits: { ...bits, chunk: dice.bytes(127) } })],
      // True chunks with true proofs, of other leaves than ours.
      [/of other leaves/, mmr.verifyUtxo(merged, content, { leaf, bits: last.bits })],
      [/not the last one/, mmr.verifyUtxo(merged, created[2999], { leaf: last.leaf, bits })],
      [/the output is spent/, mmr.verifyUnspent(merged, created[2999], last)],
      [/the output is unspent/, mmr.verifySpent(merged, content, proof)],
    ];
    answers.forEach(([why, verdict], i) => {
      assert.match(verdict.ok ? 'accepted' : verdict.why, why, `${i}`);
    });
  });

  test('a bitmap with an empty chunk at its end is none of ours', () => {
    const dice = new Dice();
    const content = dice.bytes(32);
    const nodes = new MemoryNodes();
    const range = mmr.append(mmr.EMPTY_RANGE, [content], nodes);
    const chunk = new Uint8Array(128);
    const bitmap = mmr.append(mmr.EMPTY_RANGE, [chunk], new MemoryNodes());
    const merged = mmr.mergedRoot(range.size, mmr.rangeRoot(range), mmr.rangeRoot(bitmap));
    const empty: mmr.MmrProof = { mmrSize: 1, leafIndex: 0, path: [] };
    const verdict = mmr.verifySpent(merged, content, { leaf: mmr.proveLeaf(nodes, 1, 0), bits: { chunk, proof: empty } });
    assert.deepEqual(verdict, { ok: false, why: 'the last chunk has no bit' });
  });

  test(`${PROOFS.unspent} proofs, and as many changed in one place`, (t) => {
    const dice = new Dice();
    t.diagnostic(`seed ${dice.seed}`);
    let count = 0;
    for (const leaves of SIZES) {
      const spaces = memorySpaces();
      const created = Array.from({ length: leaves }, () => dice.bytes(32));
      const spent = created.map((_, leaf) => leaf).filter(() => dice.chance(2));
      const { mmr: state } = mmr.applyBlock(spaces, spaces, mmr.EMPTY_UTXO_MMR, { created, spent });
      const { merged, pmmrRoot } = mmr.rootsOf(state);
      const isSpent = new Set(spent);
      const proofs = new Map<number, mmr.UtxoProof>();
      for (let i = 0; i < PROOFS.unspent / SIZES.length; i++) {
        const leaf = dice.below(leaves);
        const proof = proofs.get(leaf) ?? mmr.proveUtxo(spaces, state, leaf);
        proofs.set(leaf, proof);
        const other = proofs.get(dice.pick([...proofs.keys()]))!;
        const status = isSpent.has(leaf) ? 'spent' : 'unspent';
        assert.deepEqual(mmr.verifyUtxo(merged, created[leaf], proof), { ok: true, status });
        const forged = forge(proof, other, dice);
        assertRefused(mmr.verifyUtxo(merged, created[leaf], forged), () => textOf([proof, forged]));
        // A chunk of its own, but of other leaves.
        const swapped = { leaf: proof.leaf, bits: other.bits };
        const verdict = mmr.verifyUtxo(merged, created[leaf], swapped);
        assert.ok(!verdict.ok || verdict.status === status);
        if (proof.bits !== null)
          assertRefused(mmr.verifyUtxo(merged, created[leaf], { leaf: proof.leaf, bits: null }), () => textOf(proof));
        assertRefused(mmr.verifyUtxo(pmmrRoot, created[leaf], proof), () => textOf(proof));
        assertRefused(mmr.verifyUtxo(merged, dice.bytes(32), proof), () => textOf(proof));
        count++;
      }
    }
    t.diagnostic(`${count} proofs and as many forged`);
    assert.ok(count >= PROOFS.unspent);
  });
});
