/**
 * The forestry against the vectors of its specification: the public trie of
 * fruits node by node, single proofs, a sequence of 80 operations, and every
 * proof that must be rejected.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { blake2b256 } from '../../src/crypto/hash.ts';
import { MemoryNodes, mpf } from '../../src/proofs/index.ts';
import { EMPTY_PARTS, nodeHash } from '../../src/proofs/mpf/hash.ts';
import { branchKey, decodeRecord, jumpOf, type TreeNode, valueBytes } from '../../src/proofs/radix/record.ts';
import { readTop } from '../../src/proofs/radix/walk.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { mpfRoot } from './reference.ts';
import { bits, needsVectors, readVectors } from './support.ts';

interface Pair {
  readonly keyHex: string;
  readonly valueHex: string;
}

interface Fruits {
  readonly root: string;
  readonly nodes: readonly {
    at: string;
    kind: 'branch' | 'leaf';
    prefix?: string;
    suffix?: string;
    hash: string;
    childrenRoot?: string;
    children?: readonly string[];
  }[];
  readonly entries: readonly (Pair & {
    path: string;
    valueDigest: string;
    proof: readonly mpf.StepJson[];
    proofCbor: string;
    rootWithout: string;
  })[];
  readonly nullHashes: { n1: string; n2: string; n4: string; n8: string };
}

interface Edge {
  readonly tries: readonly { name: string; pairs: readonly Pair[]; root: string }[];
  readonly proofs: readonly (Pair & {
    name: string;
    proof: readonly mpf.StepJson[];
    proofCbor?: string;
    rootExcluding?: string;
    rootIncluding: string;
  })[];
  readonly nonMembership: readonly {
    keyHex: string;
    proof: readonly mpf.StepJson[];
    proofCbor: string;
    root: string;
    rootAfterInsertValue78: string;
  }[];
  readonly update: {
    keyHex: string;
    oldValueHex: string;
    newValueHex: string;
    proof: readonly mpf.StepJson[];
    oldRoot: string;
    newRoot: string;
  };
  readonly collapse: {
    pairs: readonly Pair[];
    deleteKeyHex: string;
    rootBefore: string;
    proof: readonly mpf.StepJson[];
    rootAfter: string;
    wrongRootIfNotMerged: string;
  };
  readonly mustReject: readonly { name: string; keyHex: string; root: string; proof: readonly mpf.StepJson[] }[];
  readonly v200Faults: {
    insertOfPresentKey: Pair & { pairs: readonly Pair[]; root: string; proof: readonly mpf.StepJson[]; rootAfterUnderV200: string };
    deleteWithTerminalForkSkip: {
      pairs: readonly Pair[];
      root: string;
      deleteKeyHex: string;
      proof: readonly mpf.StepJson[];
      rootAfter: string;
      rootAfterUnderV200: string;
    };
  };
}

interface Sequence {
  readonly operations: readonly {
    op: 'insert' | 'delete' | 'update';
    keyHex: string;
    oldValueHex?: string;
    newValueHex?: string;
    rootBefore: string;
    rootAfter: string;
    proofCbor: string;
    size: number;
  }[];
  readonly finalEntries: readonly Pair[];
}

interface Cage {
  readonly tokenWithFacts: {
    root: string;
    facts: readonly { key: string; value: string }[];
    factProof: Pair & { mpfProofCbor: string };
  };
}

function trieOf(pairs: readonly Pair[]): MemoryNodes {
  const nodes = new MemoryNodes();
  for (const { keyHex, valueHex } of pairs) mpf.insertKey(nodes, nodes, fromHex(keyHex), fromHex(valueHex));
  return nodes;
}

/** Every node by the nibbles above it. */
function nodesOf(nodes: MemoryNodes): Map<string, TreeNode> {
  const found = new Map<string, TreeNode>();
  const visit = (node: TreeNode, at: string): void => {
    found.set(at, node);
    if (node.leaf) return;
    const end = at + nibblesOf(node);
    const path = bits([...end].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0')).join(''));
    decodeRecord(nodes.get(branchKey(path.bytes, path.length))!, 4).kids.forEach((kid, slot) => {
      if (kid !== undefined) visit(kid, end + slot.toString(16));
    });
  };
  const top = readTop(nodes, 4);
  if (top !== undefined) visit(top, '');
  return found;
}

const nibblesOf = (node: TreeNode): string => toHex(jumpOf(node).bytes).slice(0, node.jumpBits / 4);
const okRoot = (root: string): object => ({ ok: true, root: fromHex(root) });

describe('MPF vectors', () => {
  const has = needsVectors.skip === false;
  const fruits = has ? readVectors<Fruits>('mpf-fruits.json') : (undefined as never);
  const edge = has ? readVectors<Edge>('mpf-edge.json') : (undefined as never);
  const sequence = has ? readVectors<Sequence>('mpf-sequence.json') : (undefined as never);

  test('the trie of fruits: root, every node, empty parts', needsVectors, () => {
    const nodes = trieOf(fruits.entries);
    assert.equal(toHex(mpf.root(nodes)), fruits.root);
    const { n1, n2, n4, n8 } = fruits.nullHashes;
    assert.deepEqual(
      EMPTY_PARTS.slice(0, 4).map((hash) => toHex(hash)),
      [n1, n2, n4, n8],
    );
    const found = nodesOf(nodes);
    assert.equal(found.size, fruits.nodes.length);
    for (const { at, kind, prefix, suffix, hash, childrenRoot } of fruits.nodes) {
      const node = found.get(at)!;
      assert.equal(node.leaf, kind === 'leaf');
      assert.equal(toHex(nodeHash(node)), hash);
      assert.equal(nibblesOf(node), prefix ?? suffix);
      if (childrenRoot !== undefined) assert.equal(toHex(valueBytes(node)), childrenRoot);
    }
  });

  test('the fruits: every proof, there and back in both encodings', needsVectors, () => {
    const nodes = trieOf(fruits.entries);
    const root = mpf.root(nodes);
    for (const { keyHex, valueHex, path, valueDigest, proof, proofCbor, rootWithout } of fruits.entries) {
      const [key, value] = [fromHex(keyHex), fromHex(valueHex)];
      assert.equal(toHex(blake2b256(key)), path);
      assert.equal(toHex(mpf.valueHash(nodes, key)!), valueDigest);
      const made = mpf.prove(nodes, key);
      assert.equal(made.present, true);
      assert.deepEqual(mpf.toJson(made.proof), proof);
      assert.equal(toHex(mpf.encode(made.proof)), proofCbor);
      assert.deepEqual(mpf.decode(fromHex(proofCbor)), mpf.fromJson(proof));
      assert.deepEqual(mpf.verifyPresence(root, key, value, made.proof), { ok: true });
      assert.equal(mpf.verifyAbsence(root, key, made.proof).ok, false);
      assert.deepEqual(mpf.rootAfterDelete(root, key, value, made.proof), okRoot(rootWithout));
      const without = new MemoryNodes();
      mpf.update(
        without,
        without,
        fruits.entries
          .filter((entry) => entry.keyHex !== keyHex)
          .map((entry) => ({ key: fromHex(entry.keyHex), value: fromHex(entry.valueHex) })),
      );
      assert.equal(toHex(mpf.root(without)), rootWithout);
      const absent = mpf.prove(without, key);
      assert.deepEqual(absent, { present: false, proof: made.proof });
      assert.deepEqual(mpf.verifyAbsence(fromHex(rootWithout), key, absent.proof), { ok: true });
    }
  });

  test('small tries', needsVectors, () => {
    for (const { name, pairs, root } of edge.tries) {
      assert.equal(toHex(mpf.root(trieOf(pairs))), root, name);
      assert.equal(mpfRoot(new Map(pairs.map(({ keyHex, valueHex }) => [keyHex, fromHex(valueHex)]))), root, name);
    }
  });

  test('single proofs', needsVectors, () => {
    for (const { name, keyHex, valueHex, proof, proofCbor, rootExcluding, rootIncluding } of edge.proofs) {
      const steps = mpf.fromJson(proof);
      if (proofCbor !== undefined) assert.equal(toHex(mpf.encode(steps)), proofCbor, name);
      assert.deepEqual(mpf.decode(mpf.encode(steps)), steps, name);
      assert.deepEqual(mpf.decode(mpf.encode(steps, 'redeemer')), steps, name);
      const [key, value] = [fromHex(keyHex), fromHex(valueHex)];
      assert.deepEqual(mpf.verifyPresence(fromHex(rootIncluding), key, value, steps), { ok: true }, name);
      if (rootExcluding === undefined) continue;
      assert.deepEqual(mpf.verifyAbsence(fromHex(rootExcluding), key, steps), { ok: true }, name);
      assert.deepEqual(mpf.rootAfterInsert(fromHex(rootExcluding), key, value, steps), okRoot(rootIncluding), name);
      assert.deepEqual(mpf.rootAfterDelete(fromHex(rootIncluding), key, value, steps), okRoot(rootExcluding), name);
    }
  });

  test('absent keys of the fruits', needsVectors, () => {
    const nodes = trieOf(fruits.entries);
    for (const { keyHex, proof, proofCbor, root, rootAfterInsertValue78 } of edge.nonMembership) {
      const made = mpf.prove(nodes, fromHex(keyHex));
      assert.equal(made.present, false);
      assert.deepEqual(mpf.toJson(made.proof), proof);
      assert.equal(toHex(mpf.encode(made.proof)), proofCbor);
      assert.deepEqual(mpf.verifyAbsence(fromHex(root), fromHex(keyHex), made.proof), { ok: true });
      assert.deepEqual(
        mpf.rootAfterInsert(fromHex(root), fromHex(keyHex), Uint8Array.of(0x78), made.proof),
        okRoot(rootAfterInsertValue78),
      );
    }
  });

  test('update of a value with the same proof', needsVectors, () => {
    const { keyHex, oldValueHex, newValueHex, proof, oldRoot, newRoot } = edge.update;
    const [key, before, after] = [keyHex, oldValueHex, newValueHex].map((hex) => fromHex(hex));
    assert.deepEqual(mpf.rootAfterUpdate(fromHex(oldRoot), key, before, after, mpf.fromJson(proof)), okRoot(newRoot));
    const nodes = trieOf(fruits.entries);
    assert.equal(toHex(mpf.updateKey(nodes, nodes, key, after)), newRoot);
  });

  test('a branch that is left alone is merged upwards', needsVectors, () => {
    const { pairs, deleteKeyHex, rootBefore, proof, rootAfter, wrongRootIfNotMerged } = edge.collapse;
    const nodes = trieOf(pairs);
    assert.equal(toHex(mpf.root(nodes)), rootBefore);
    const key = fromHex(deleteKeyHex);
    assert.deepEqual(mpf.toJson(mpf.prove(nodes, key).proof), proof);
    assert.equal(toHex(mpf.deleteKey(nodes, nodes, key)), rootAfter);
    assert.notEqual(rootAfter, wrongRootIfNotMerged);
  });

  test('a sequence of operations: roots, proofs, and the trie at the end', needsVectors, () => {
    const nodes = new MemoryNodes();
    for (const { op, keyHex, oldValueHex, newValueHex, rootBefore, rootAfter, proofCbor } of sequence.operations) {
      const key = fromHex(keyHex);
      assert.equal(toHex(mpf.root(nodes)), rootBefore);
      const { present, proof } = mpf.prove(nodes, key);
      assert.equal(present, op !== 'insert');
      assert.equal(toHex(mpf.encode(proof)), proofCbor);
      const [before, after] = [oldValueHex ?? '', newValueHex ?? ''].map((hex) => fromHex(hex));
      const root = fromHex(rootBefore);
      if (op === 'insert') {
        assert.deepEqual(mpf.rootAfterInsert(root, key, after, proof), okRoot(rootAfter));
        mpf.insertKey(nodes, nodes, key, after);
      } else if (op === 'update') {
        assert.deepEqual(mpf.rootAfterUpdate(root, key, before, after, proof), okRoot(rootAfter));
        mpf.updateKey(nodes, nodes, key, after);
      } else {
        assert.deepEqual(mpf.rootAfterDelete(root, key, before, proof), okRoot(rootAfter));
        mpf.deleteKey(nodes, nodes, key);
      }
      assert.equal(toHex(mpf.root(nodes)), rootAfter);
    }
    const entries = new Map(sequence.finalEntries.map(({ keyHex, valueHex }) => [keyHex, fromHex(valueHex)]));
    assert.equal(mpfRoot(entries), toHex(mpf.root(nodes)));
  });

  test('facts of a live token', needsVectors, () => {
    const { tokenWithFacts } = readVectors<Cage>('cage-preprod.json');
    const nodes = trieOf(tokenWithFacts.facts.map(({ key, value }) => ({ keyHex: key, valueHex: value })));
    assert.equal(toHex(mpf.root(nodes)), tokenWithFacts.root);
    const { keyHex, valueHex, mpfProofCbor } = tokenWithFacts.factProof;
    const proof = mpf.decode(fromHex(mpfProofCbor));
    assert.deepEqual(mpf.verifyPresence(fromHex(tokenWithFacts.root), fromHex(keyHex), fromHex(valueHex), proof), { ok: true });
  });

  test('must be rejected: each of them', needsVectors, () => {
    assert.equal(edge.mustReject.length, 2);
    for (const { name, keyHex, root, proof } of edge.mustReject) {
      const verdict = mpf.verifyAbsence(fromHex(root), fromHex(keyHex), mpf.fromJson(proof));
      assert.equal(verdict.ok, false, name);
      // Refused for what is wrong with it, not by luck: the fold itself leads to the root.
      assert.match(verdict.ok ? '' : verdict.why, /neighbor/);
    }
  });

  test('what version 2.0.0 on chain makes of it is recognised, and not accepted', needsVectors, () => {
    const { insertOfPresentKey: insert, deleteWithTerminalForkSkip: remove } = edge.v200Faults;
    assert.equal(toHex(mpf.root(trieOf(insert.pairs))), insert.root);
    const [key, value] = [fromHex(insert.keyHex), fromHex(insert.valueHex)];
    const forged = mpf.fromJson(insert.proof);
    assert.deepEqual(mpf.rootUnderV200(key, null, forged), okRoot(insert.root));
    assert.deepEqual(mpf.rootUnderV200(key, value, forged), okRoot(insert.rootAfterUnderV200));
    assert.equal(mpf.rootAfterInsert(fromHex(insert.root), key, value, forged).ok, false);

    const nodes = trieOf(remove.pairs);
    assert.equal(toHex(mpf.root(nodes)), remove.root);
    const gone = fromHex(remove.deleteKeyHex);
    const { proof } = mpf.prove(nodes, gone);
    assert.deepEqual(mpf.toJson(proof), remove.proof);
    assert.deepEqual(mpf.rootUnderV200(gone, null, proof), okRoot(remove.rootAfterUnderV200));
    assert.equal(toHex(mpf.deleteKey(nodes, nodes, gone)), remove.rootAfter);
  });
});
