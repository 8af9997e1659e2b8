/**
 * Proofs of the CSMT that must not be accepted: thousands of true ones changed
 * in one place, true ones used for a false claim, and the forgeries that a
 * verifier with one check less accepts.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { blake2b256 } from '../../src/crypto/hash.ts';
import { branchValue, partOf, rootOf } from '../../src/proofs/csmt/hash.ts';
import { type Bits, bitsToText, csmt, MemoryNodes, type Verdict } from '../../src/proofs/index.ts';
import { concatBytes, toHex } from '../../src/util/bytes.ts';
import { forge, textOf } from './forge.ts';
import { bits, Dice, PROOFS } from './support.ts';

const OK = { ok: true };

interface Tree {
  readonly nodes: MemoryNodes;
  readonly root: Uint8Array;
  readonly entries: readonly csmt.Leaf[];
  readonly absent: readonly Bits[];
  readonly prefixes: readonly Bits[];
}

function treeOf(entries: readonly csmt.Leaf[], absent: readonly Bits[], prefixes: readonly Bits[]): Tree {
  const nodes = new MemoryNodes();
  csmt.update(nodes, nodes, entries);
  const present = new Set(entries.map(({ key }) => bitsToText(key)));
  return { nodes, root: csmt.root(nodes)!, entries, absent: absent.filter((key) => !present.has(bitsToText(key))), prefixes };
}

function smallTree(dice: Dice, length: number, share: number): Tree {
  const texts = Array.from({ length: 2 ** length }, (_, i) => i.toString(2).padStart(length, '0'));
  const chosen = texts.filter((text, i) => i === 5 || (text !== '0'.repeat(length) && dice.chance(share)));
  const prefixes = [...new Set(texts.flatMap((text) => [text.slice(0, 1 + dice.below(length)), text.slice(0, 2)]))];
  return treeOf(
    chosen.map((text) => ({ key: bits(text), value: dice.bytes(32) })),
    texts.map(bits),
    prefixes.map(bits),
  );
}

function utxoTree(dice: Dice, owners: number, outputs: number): Tree {
  const ids = Array.from({ length: owners }, () => dice.bytes(32));
  const entry = (): csmt.Leaf => ({
    key: csmt.utxoKey(dice.pick(ids), { txId: dice.bytes(32), index: dice.below(300) }),
    value: dice.bytes(32),
  });
  const others = Array.from({ length: outputs }, () => entry().key);
  const strangers = Array.from({ length: owners }, () => csmt.ownerPrefix(dice.bytes(32)));
  return treeOf(Array.from({ length: outputs }, entry), others, [...ids.map(csmt.ownerPrefix), ...strangers]);
}

function trees(dice: Dice): Tree[] {
  return [smallTree(dice, 3, 8), smallTree(dice, 6, 2), smallTree(dice, 8, 3), utxoTree(dice, 30, 200), utxoTree(dice, 3, 120)];
}

/** Refused, and without an exception. */
function assertRefused(verdict: Verdict, what: () => string): void {
  if (verdict.ok) assert.fail(`accepted: ${what()}`);
}

describe('forged proofs of the CSMT', () => {
  test(`${PROOFS.csmt} proofs, and as many changed in one place`, (t) => {
    const dice = new Dice();
    t.diagnostic(`seed ${dice.seed}`);
    const counts = { proofs: 0, forged: 0, reordered: 0 };
    while (counts.proofs < PROOFS.csmt || counts.forged < PROOFS.csmt) for (const tree of trees(dice)) tryTree(tree, dice, counts);
    t.diagnostic(`${counts.proofs} proofs, ${counts.forged} forged, ${counts.reordered} with merges in another order that works too`);
    assert.ok(counts.reordered < counts.forged / 20);
    assert.ok(counts.proofs >= PROOFS.csmt && counts.forged >= PROOFS.csmt);
  });

  function tryTree(tree: Tree, dice: Dice, counts: { proofs: number; forged: number; reordered: number }): void {
    const { nodes, root, entries, absent, prefixes } = tree;
    const inclusions = entries.map(({ key }) => csmt.proveInclusion(nodes, key)!);
    entries.forEach(({ key, value }, i) => {
      assert.deepEqual(csmt.verifyNode(root, key, value, inclusions[i]), OK);
      const forged = forge(inclusions[i], dice.pick(inclusions), dice);
      assertRefused(csmt.verifyNode(root, key, value, forged), () => textOf([inclusions[i], forged]));
    });
    const exclusions = absent.map((key) => csmt.proveExclusion(nodes, key)!);
    absent.forEach((key, i) => {
      assert.deepEqual(csmt.verifyExclusion(root, key, exclusions[i]), OK);
      const forged = forge(exclusions[i], dice.pick(exclusions), dice);
      assertRefused(csmt.verifyExclusion(root, key, forged), () => textOf([exclusions[i], forged]));
    });
    const sets = prefixes.map((prefix) => csmt.proveCompleteness(nodes, prefix));
    prefixes.forEach((prefix, i) => {
      const { leaves, proof } = sets[i];
      assert.deepEqual(csmt.verifySubtree(root, prefix, leaves, proof), OK);
      const forged = forge(sets[i], dice.pick(sets), dice);
      const verdict = csmt.verifySubtree(root, prefix, forged.leaves, forged.proof);
      if (!verdict.ok) {
        counts.forged++;
        return;
      }
      // The same merges in another order build the same tree: the claim is as true as it was.
      assert.equal(textOf(forged.leaves), textOf(leaves));
      assert.deepEqual(mergesIn(forged.proof), mergesIn(proof));
      counts.reordered++;
    });
    counts.proofs += entries.length + absent.length + prefixes.length;
    counts.forged += entries.length + absent.length;
  }

  const mergesIn = (proof: csmt.CompletenessProof): string[] =>
    proof.type === 'empty' ? [] : proof.merges.map((pair) => pair.join()).sort();

  test('bytes changed in one bit: no proof at all, or a wrong one', (t) => {
    const dice = new Dice();
    t.diagnostic(`seed ${dice.seed}`);
    const { nodes, root, entries } = utxoTree(dice, 10, 60);
    let decoded = 0;
    for (const { key, value } of entries) {
      const bytes = csmt.encodeInclusion(csmt.proveInclusion(nodes, key)!);
      for (let i = 0; i < 25; i++) {
        const changed = bytes.slice();
        changed[dice.below(changed.length)] ^= 1 << dice.below(8);
        let proof: csmt.InclusionProof;
        try {
          proof = csmt.decodeInclusion(changed);
        } catch (error) {
          assert.equal((error as { code?: string }).code, 'USAGE');
          continue;
        }
        decoded++;
        assertRefused(csmt.verifyNode(root, key, value, proof), () => toHex(changed));
      }
    }
    assert.ok(decoded > 100, `${decoded} of the changed bytes were proofs`);
  });

  test('true proofs do not carry false claims', (t) => {
    const dice = new Dice();
    t.diagnostic(`seed ${dice.seed}`);
    for (const { nodes, root, entries, absent, prefixes } of trees(dice)) {
      const inclusions = entries.map(({ key }) => csmt.proveInclusion(nodes, key)!);
      for (let i = 0; i < 300; i++) {
        const [{ key, value }, stranger] = [dice.pick(entries), dice.pick(absent)];
        const proof = dice.pick(inclusions);
        // A present key is not absent, whoever is the witness.
        assertRefused(csmt.verifyExclusion(root, key, { type: 'witness', target: key, witness: proof }), () => textOf([key, proof]));
        // An absent key is not present, whatever value is claimed.
        assertRefused(csmt.verifyNode(root, stranger, proof.value, { ...proof, key: stranger }), () => textOf([stranger, proof]));
        assertRefused(csmt.verifyNode(root, key, dice.bytes(32), csmt.proveInclusion(nodes, key)!), () => textOf(key));
        const other = dice.pick(entries);
        if (other.key !== key)
          assertRefused(csmt.verifyNode(root, key, other.value, { ...csmt.proveInclusion(nodes, key)!, value: other.value }), () =>
            textOf(key),
          );
        assertRefused(csmt.verifyNode(dice.bytes(32), key, value, csmt.proveInclusion(nodes, key)!), () => textOf(key));
        assertRefused(csmt.verifyNode(null, key, value, csmt.proveInclusion(nodes, key)!), () => textOf(key));
        const absence = csmt.proveExclusion(nodes, stranger)!;
        assertRefused(csmt.verifyExclusion(null, stranger, absence), () => textOf(absence));
        assertRefused(csmt.verifyExclusion(root, stranger, { type: 'empty' }), () => textOf(stranger));
      }
      for (const prefix of prefixes) tryFalseSets(nodes, root, prefix, entries, dice);
    }
  });

  function tryFalseSets(nodes: MemoryNodes, root: Uint8Array, prefix: Bits, entries: readonly csmt.Leaf[], dice: Dice): void {
    const { leaves, proof } = csmt.proveCompleteness(nodes, prefix);
    const what = (): string => textOf([prefix, leaves, proof]);
    assertRefused(csmt.verifySubtree(null, prefix, leaves, proof), what);
    if (leaves.length === 0) {
      assertRefused(csmt.verifySubtree(root, prefix, [dice.pick(entries)], proof), what);
      return;
    }
    const at = dice.below(leaves.length);
    assertRefused(csmt.verifySubtree(root, prefix, leaves.toSpliced(at, 1), proof), what);
    assertRefused(csmt.verifySubtree(root, prefix, leaves.with(at, { ...leaves[at], value: dice.bytes(32) }), proof), what);
    assertRefused(csmt.verifySubtree(root, prefix, leaves.toSpliced(at, 0, leaves[at]), proof), what);
    assertRefused(csmt.verifySubtree(root, prefix, [], { type: 'empty', exclusion: { type: 'empty' } }), what);
    const exclusion: csmt.ExclusionProof = { type: 'witness', target: prefix, witness: csmt.proveInclusion(nodes, leaves[0].key)! };
    assertRefused(csmt.verifySubtree(root, prefix, [], { type: 'empty', exclusion }), what);
    if (leaves.length > 1) {
      assertRefused(csmt.verifySubtree(root, prefix, [leaves[1], leaves[0], ...leaves.slice(2)], proof), what);
      tryParts(nodes, root, prefix, leaves);
    }
  }

  /** The complete set of a longer prefix, offered as that of a shorter one. */
  function tryParts(nodes: MemoryNodes, root: Uint8Array, prefix: Bits, leaves: readonly csmt.Leaf[]): void {
    const [first] = leaves;
    for (let length = prefix.length + 1; length <= first.key.length; length += 1 + Math.floor(length / 40)) {
      const part = csmt.proveCompleteness(nodes, bits(bitsToText(first.key).slice(0, length)));
      if (part.leaves.length === leaves.length) continue;
      assertRefused(csmt.verifySubtree(root, prefix, part.leaves, part.proof), () => textOf([prefix, part]));
      return;
    }
  }
});

/** How a node stands in what its parent hashes. */
function reference(key: Bits, from: number, value: Uint8Array): Uint8Array {
  const jump = bits(bitsToText(key).slice(from));
  return concatBytes(Uint8Array.of(jump.length >> 8, jump.length & 0xff), jump.bytes, Uint8Array.of(0, 32), value);
}

describe('forgeries with a name', () => {
  const dice = new Dice();
  const value = (): Uint8Array => dice.bytes(32);

  test('a part of a subtree is not all of it: a check that earlier descriptions leave out', () => {
    const { nodes, root, entries } = treeOf(
      [bits('1000'), bits('1001'), bits('1011'), bits('0111')].map((key) => ({ key, value: value() })),
      [],
      [],
    );
    const part = csmt.proveCompleteness(nodes, bits('100'));
    assert.equal(part.leaves.length, 2);
    // Every other check passes: the keys have the prefix, the merges are right, the steps lead to the root.
    const verdict = csmt.verifySubtree(root, bits('10'), part.leaves, part.proof);
    assert.deepEqual(verdict, { ok: false, why: 'the leaves are a part of the subtree only' });
    const one = csmt.proveCompleteness(nodes, bits('1011'));
    assert.deepEqual(csmt.verifySubtree(root, bits('10'), one.leaves, one.proof), verdict);
    assert.deepEqual(csmt.verifySubtree(root, bits(''), one.leaves, one.proof), verdict);
    assert.deepEqual(csmt.verifySubtree(root, bits('10'), entries.slice(0, 3), csmt.proveCompleteness(nodes, bits('10')).proof), OK);
  });

  test('a branch offered as a leaf is not an output', () => {
    const owner = dice.bytes(32);
    const entries = [0, 1].map((index) => ({ txId: dice.bytes(32), index, txOut: Uint8Array.of(0x82, ...dice.bytes(60)) }));
    const { nodes, root } = treeOf(
      entries.map((entry) => csmt.utxoLeaf(owner, entry)),
      [],
      [],
    );
    const [left, right] = csmt.entries(nodes).map(([key, leaf]) => ({ key, value: leaf }));
    const shared = [...bitsToText(left.key)].findIndex((bit, i) => bit !== bitsToText(right.key)[i]);
    const branch = branchValue(
      partOf(left.key, shared + 1, left.key.length, left.value),
      partOf(right.key, shared + 1, right.key.length, right.value),
    );
    const key = bits(bitsToText(left.key).slice(0, shared));
    assert.deepEqual(rootOf(partOf(key, 0, key.length, branch)), root);
    // The hash alone cannot tell; the bytes it is the hash of can, so a verifier of entries asks for them.
    const proof = { key, value: branch, rootJump: key, steps: [] };
    assert.equal(csmt.verifyNode(root, key, branch, proof).ok, true);
    const hashed = concatBytes(...[left, right].map(({ key: whole, value: of }) => reference(whole, shared + 1, of)));
    assert.deepEqual(blake2b256(hashed), branch, 'these are the bytes of the branch');
    const verdicts = [
      csmt.verifyInclusion(root, key, hashed, proof),
      csmt.verifyCompleteness(root, key, [{ key, content: hashed }], { type: 'witness', merges: [], steps: [] }),
    ];
    for (const verdict of verdicts) assert.match(verdict.ok ? '' : verdict.why, /could be taken for a branch/);
    for (const entry of entries) {
      const whole = csmt.utxoKey(owner, entry);
      assert.deepEqual(csmt.verifyInclusion(root, whole, entry.txOut, csmt.proveInclusion(nodes, whole)!), OK);
    }
    for (const entry of entries) assert.equal(csmt.verifyUtxo(root, owner, entry, proof).ok, false);
    assert.equal(
      csmt.verifyOwner(root, owner, [], { type: 'empty', exclusion: { type: 'witness', target: csmt.ownerPrefix(owner), witness: proof } })
        .ok,
      false,
    );
  });

  test('a claim about outputs that cannot be one is refused, not thrown', () => {
    const owner = dice.bytes(32);
    const entries = [0, 1].map((index) => ({ txId: dice.bytes(32), index, txOut: Uint8Array.of(0x82, ...dice.bytes(80)) }));
    const { nodes, root } = treeOf(
      entries.map((entry) => csmt.utxoLeaf(owner, entry)),
      [],
      [],
    );
    const [entry] = entries;
    const proof = csmt.proveInclusion(nodes, csmt.utxoKey(owner, entry))!;
    const set = csmt.proveCompleteness(nodes, csmt.ownerPrefix(owner)).proof;
    const gone = { txId: dice.bytes(32), index: 3 };
    const absence = csmt.proveExclusion(nodes, csmt.utxoKey(owner, gone))!;
    assert.deepEqual(csmt.verifyUtxo(root, owner, entry, proof), OK);
    assert.deepEqual(csmt.verifyNoUtxo(root, owner, gone, absence), OK);
    assert.deepEqual(csmt.verifyOwner(root, owner, entries, set), OK);
    const spoiled = [
      { ...entry, txOut: Uint8Array.of(0, 0, ...dice.bytes(80)) },
      { ...entry, txId: entry.txId.slice(1) },
      { ...entry, index: -1 },
      { ...entry, index: 2 ** 32 },
      { ...entry, index: 0.5 },
    ];
    for (const bad of spoiled) {
      assert.equal(csmt.verifyUtxo(root, owner, bad, proof).ok, false);
      assert.equal(csmt.verifyOwner(root, owner, [bad, entries[1]], set).ok, false);
    }
    for (const bad of spoiled.slice(1)) assert.equal(csmt.verifyNoUtxo(root, owner, bad, absence).ok, false);
    assert.equal(csmt.verifyUtxo(root, owner.slice(1), entry, proof).ok, false);
    assert.equal(csmt.verifyOwner(root, owner.slice(1), entries, set).ok, false);
    assert.equal(csmt.verifyNoUtxo(root, owner, entry, absence).ok, false);
  });

  test('content that could be read as a branch is refused as content', () => {
    const reference = concatBytes(Uint8Array.of(0, 0, 0, 32), dice.bytes(32));
    assert.throws(() => csmt.leafValue(concatBytes(reference, reference)), { code: 'USAGE' });
    assert.throws(() => csmt.leafValue(Uint8Array.of(4, 0, ...dice.bytes(80))), { code: 'USAGE' });
    for (const content of [Uint8Array.of(4, 1, ...dice.bytes(80)), Uint8Array.of(0x82, ...dice.bytes(90)), reference, new Uint8Array(0)]) {
      assert.deepEqual(csmt.leafValue(content), blake2b256(content));
    }
  });

  test('each check has its own answer', () => {
    const texts = ['1000', '1001', '1011', '0111'];
    const { nodes, root, entries } = treeOf(
      texts.map((text) => ({ key: bits(text), value: value() })),
      [],
      [],
    );
    const [{ key, value: own }] = entries;
    const proof = csmt.proveInclusion(nodes, key)!;
    const padded = { bytes: Uint8Array.of(0x8f), length: 4 };
    const [first, ...rest] = proof.steps;
    const idle = { ...first, consumed: 0 };
    const absence = csmt.proveExclusion(nodes, bits('0000'))!;
    const { leaves, proof: set } = csmt.proveCompleteness(nodes, bits('10'));
    assert.ok(set.type === 'witness');
    const withMerges = (...merges: [number, number][]): csmt.CompletenessProof => ({ ...set, merges });
    const complete = (given: readonly csmt.Leaf[], given2: csmt.CompletenessProof): Verdict =>
      csmt.verifySubtree(root, bits('10'), given, given2);
    const prefixes = ['10', '1000', '1001'].map((text) => ({ key: bits(text), value: own }));
    const answers: readonly (readonly [RegExp, Verdict])[] = [
      [/the key is not a string/, csmt.verifyNode(root, padded, own, proof)],
      [/the value is not 32 bytes/, csmt.verifyNode(root, key, own.slice(1), { ...proof, value: own.slice(1) })],
      [/of another key/, csmt.verifyNode(root, entries[1].key, own, proof)],
      [/of another value/, csmt.verifyNode(root, key, entries[1].value, proof)],
      [/of another target/, csmt.verifyExclusion(root, bits('0001'), absence)],
      [/the root is not 32 bytes/, csmt.verifyNode(root.slice(1), key, own, proof)],
      [/the tree is empty/, csmt.verifyNode(null, key, own, proof)],
      [/consumes no bit/, csmt.verifyNode(root, key, own, { ...proof, steps: [idle, first, ...rest] })],
      [/consumes no bit/, csmt.verifyNode(root, key, own, { ...proof, steps: [{ ...first, consumed: 0.5 }, ...rest] })],
      [/more bits than the key has/, csmt.verifyNode(root, key, own, { ...proof, steps: [{ ...first, consumed: 9 }, ...rest] })],
      [/do not add up/, csmt.verifyNode(root, key, own, { ...proof, rootJump: bits('1') })],
      [/the target is not a string/, csmt.verifyExclusion(root, padded, absence)],
      [/the prefix is not a string/, csmt.verifySubtree(root, padded, leaves, set)],
      [/there are no leaves/, complete([], set)],
      [/the tree is empty/, csmt.verifySubtree(null, bits('10'), leaves, set)],
      [/not one merge for every leaf/, complete(leaves, withMerges([0, 1], [0, 2], [0, 2]))],
      [/not one merge for every leaf/, complete(leaves, withMerges([0, 1]))],
      [/not there any more/, complete(leaves, withMerges([0, 1], [0, 1]))],
      [/not there any more/, complete(leaves, withMerges([0, 1], [0, 7]))],
      [/not there any more/, complete(leaves, withMerges([0, 1], [2, 2]))],
      [/wrong order/, complete(leaves, withMerges([1, 0], [0, 2]))],
      [/wrong order/, complete(leaves, withMerges([0, 1], [2, 0]))],
      [/do not part/, complete(prefixes, withMerges([1, 2], [0, 1]))],
      [/not in ascending order/, complete([leaves[1], leaves[0], leaves[2]], withMerges([1, 0], [1, 2]))],
      [/not in ascending order/, complete([leaves[0], leaves[0], leaves[2]], withMerges([0, 1], [0, 2]))],
      [/does not have the prefix/, complete([entries[3], ...leaves.slice(1)], set)],
      [/do not part/, complete(leaves, withMerges([1, 2], [0, 1]))],
    ];
    answers.forEach(([why, verdict], i) => {
      assert.match(verdict.ok ? 'accepted' : verdict.why, why, `${i}`);
    });
  });

  test('keys of absurd length', () => {
    const leaf = { key: bits('0'.repeat(1025)), value: value() };
    const proof = { ...leaf, rootJump: leaf.key, steps: [] };
    assert.equal(csmt.verifyNode(dice.bytes(32), leaf.key, leaf.value, proof).ok, false);
    const sibling = { jump: bits('0'.repeat(1024)), value: value() };
    const deep = { key: bits('01'), value: value(), rootJump: bits('0'), steps: [{ consumed: 1, sibling }] };
    assert.match((csmt.verifyNode(dice.bytes(32), deep.key, deep.value, deep) as { why: string }).why, /sibling ends below 1024/);
  });
});
