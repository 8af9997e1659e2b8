/**
 * The CSMT against the vectors of its specification: public fixtures, captures
 * of a live service, and every proof that must be rejected.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { blake2b256 } from '../../src/crypto/hash.ts';
import { type Bits, bitsOf, bitsToText, csmt, MemoryNodes, type Verdict } from '../../src/proofs/index.ts';
import { branchKey, decodeRecord, jumpOf, type TreeNode, valueBytes } from '../../src/proofs/radix/record.ts';
import { pathOf, readTop } from '../../src/proofs/radix/walk.ts';
import { fromHex, toHex, utf8 } from '../../src/util/bytes.ts';
import { serialize } from './reference.ts';
import { bits, needsVectors, readVectors } from './support.ts';

interface NodeDump {
  readonly at: string;
  readonly jump: string;
  readonly value: string;
}

interface ProofDump {
  readonly keyBits: string;
  readonly valueHash: string;
  readonly rootJump: string;
  readonly steps: readonly csmt.StepJson[];
}

interface Fixtures {
  readonly root: string;
  readonly insertions: readonly { insert: string; root: string; nodes: readonly NodeDump[] }[];
  readonly deletions: readonly { delete: string; root: string | null; nodes: readonly NodeDump[] }[];
  readonly proofs: readonly (ProofDump & { key: string; value: string; cbor: string; compactCbor: string; plutusCbor: string })[];
  readonly exclusions: readonly { targetKey: string; targetBits: string; witnessBits: string; divergesAt: number; cbor: string }[];
  readonly serialization: readonly { jump: string; value?: string; hex?: string; keyOnlyHex?: string }[];
  readonly mustReject: readonly {
    name: string;
    root: string;
    proof?: ProofDump;
    targetBits?: string;
    witnessBits?: string;
    proofCbor?: string;
    naiveAccepts: boolean;
  }[];
  readonly smallTree: {
    leaves: readonly { bits: string; value: string }[];
    root: string;
    nodes: readonly NodeDump[];
    completeness: { prefix: string; leaves: string[]; mergeOps: [number, number][]; steps: csmt.StepJson[] };
  };
}

interface Preprod {
  readonly inclusion: readonly { name: string; txId: string; txIx: number; root: string; txOut: string; proof: string }[];
  readonly completeness: readonly {
    name: string;
    root: string;
    addressHex: string;
    prefixHex: string;
    entries: readonly { txId: string; txIx: number; txOut: string }[];
    completenessProof: string;
  }[];
}

const VALUES: Readonly<Record<string, string>> = { hello: 'world', foo: 'bar', test: 'data' };
const hashOf = (text: string): Uint8Array => csmt.leafValue(utf8(text));

/** Every node with its absolute position, as the specification lists them. */
function nodesOf(nodes: MemoryNodes): NodeDump[] {
  const found: NodeDump[] = [];
  const visit = (node: TreeNode, at: Bits): void => {
    found.push({ at: bitsToText(at), jump: bitsToText(jumpOf(node)), value: toHex(valueBytes(node)) });
    if (node.leaf) return;
    const end = pathOf(at, at.length, node);
    const { kids } = decodeRecord(nodes.get(branchKey(end.bytes, end.length))!, 1);
    kids.forEach((kid, slot) => {
      visit(kid!, bits(bitsToText(end) + slot));
    });
  };
  const top = readTop(nodes, 1);
  if (top !== undefined) visit(top, bits(''));
  return found.sort((a, b) => (a.at < b.at ? -1 : 1));
}

function treeOf(entries: readonly (readonly [Bits, Uint8Array])[]): MemoryNodes {
  const nodes = new MemoryNodes();
  csmt.update(
    nodes,
    nodes,
    entries.map(([key, value]) => ({ key, value })),
  );
  return nodes;
}

const stepsOf = (steps: readonly csmt.StepJson[]): csmt.InclusionProof['steps'] =>
  csmt.inclusionFromJson({ key: '', value: '00'.repeat(32), rootJump: '', steps }).steps;

const proofOf = (dump: ProofDump): csmt.InclusionProof =>
  csmt.inclusionFromJson({ key: dump.keyBits, value: dump.valueHash, rootJump: dump.rootJump, steps: dump.steps });

describe('CSMT vectors', () => {
  const vectors = needsVectors.skip === false ? readVectors<Fixtures>('csmt-fixtures.json') : (undefined as never);
  const preprod = needsVectors.skip === false ? readVectors<Preprod>('csmt-utxo-preprod.json') : (undefined as never);
  const threeKeys = (): MemoryNodes => treeOf(Object.entries(VALUES).map(([key, value]) => [bitsOf(utf8(key)), hashOf(value)]));

  test('serialization', needsVectors, () => {
    for (const { jump, value, hex, keyOnlyHex } of vectors.serialization) {
      if (value !== undefined) assert.equal(toHex(serialize({ jump, value: fromHex(value) })), hex);
      else assert.equal(toHex(serialize({ jump, value: new Uint8Array(0) })).slice(0, -4), keyOnlyHex);
    }
  });

  test('insertions and deletions: roots and every node', needsVectors, () => {
    const nodes = new MemoryNodes();
    for (const { insert, root, nodes: expected } of vectors.insertions) {
      const after = csmt.update(nodes, nodes, [{ key: bitsOf(utf8(insert)), value: hashOf(VALUES[insert]), expect: 'absent' }]);
      assert.equal(toHex(after.root!), root);
      assert.deepEqual(nodesOf(nodes), expected);
    }
    for (const { delete: key, root, nodes: expected } of vectors.deletions) {
      const after = csmt.update(nodes, nodes, [{ key: bitsOf(utf8(key)), value: null, expect: 'present' }]);
      assert.equal(after.root === null ? null : toHex(after.root), root);
      assert.deepEqual(nodesOf(nodes), expected);
    }
    assert.equal(nodes.size, 0);
  });

  test('inclusion proofs in every encoding', needsVectors, () => {
    const nodes = threeKeys();
    const root = csmt.root(nodes);
    assert.equal(toHex(root!), vectors.root);
    for (const dump of vectors.proofs) {
      const key = bitsOf(utf8(dump.key));
      const leaf = { key, value: hashOf(dump.value) };
      const proof = csmt.proveInclusion(nodes, key)!;
      assert.deepEqual(proof, proofOf(dump));
      assert.equal(toHex(csmt.encodeInclusion(proof)), dump.cbor);
      assert.equal(toHex(csmt.encodeCompact(proof)), dump.compactCbor);
      assert.equal(toHex(csmt.encodePlutus(proof)), dump.plutusCbor);
      const read = [
        csmt.decodeInclusion(fromHex(dump.cbor)),
        csmt.decodeCompact(fromHex(dump.compactCbor), leaf),
        csmt.decodePlutus(fromHex(dump.plutusCbor), leaf),
        csmt.inclusionFromJson(JSON.parse(JSON.stringify(csmt.inclusionToJson(proof)))),
      ];
      for (const again of read) {
        assert.deepEqual(again, proof);
        assert.deepEqual(csmt.verifyNode(root, key, leaf.value, again), { ok: true });
      }
    }
  });

  test('the oldest encoding, with the root inside, is read; the root in it is compared', needsVectors, () => {
    const [dump] = vectors.proofs;
    const proof = { ...proofOf(dump), statedRoot: fromHex(vectors.root) };
    const bytes = csmt.encodeInclusion(proof);
    assert.equal(bytes[0], 0x85);
    const again = csmt.decodeInclusion(bytes);
    assert.deepEqual(again, proof);
    assert.deepEqual(csmt.verifyNode(fromHex(vectors.root), proof.key, proof.value, again), { ok: true });
    const other = { ...again, statedRoot: new Uint8Array(32) };
    assert.equal(csmt.verifyNode(fromHex(vectors.root), proof.key, proof.value, other).ok, false);
  });

  test('exclusion proofs', needsVectors, () => {
    const nodes = threeKeys();
    const root = csmt.root(nodes);
    for (const { targetKey, targetBits, witnessBits, divergesAt, cbor } of vectors.exclusions) {
      const target = bitsOf(utf8(targetKey));
      assert.equal(bitsToText(target), targetBits);
      assert.equal(
        [...targetBits].findIndex((bit, i) => bit !== witnessBits[i]),
        divergesAt,
      );
      const proof = csmt.proveExclusion(nodes, target)!;
      assert.equal(toHex(csmt.encodeExclusion(proof)), cbor);
      assert.equal(proof.type === 'witness' && bitsToText(proof.witness.key), witnessBits);
      assert.deepEqual(csmt.decodeExclusion(fromHex(cbor)), proof);
      assert.deepEqual(csmt.exclusionFromJson(csmt.exclusionToJson(proof)), proof);
      assert.deepEqual(csmt.verifyExclusion(root, target, proof), { ok: true });
    }
  });

  test('the small tree and its complete prefix', needsVectors, () => {
    const { leaves, root, nodes: expected, completeness } = vectors.smallTree;
    const nodes = treeOf(leaves.map((leaf) => [bits(leaf.bits), hashOf(leaf.value)]));
    assert.equal(toHex(csmt.root(nodes)!), root);
    assert.deepEqual(nodesOf(nodes), expected);
    const prefix = bits(completeness.prefix);
    const set = csmt.proveCompleteness(nodes, prefix);
    assert.deepEqual(
      set.leaves.map(({ key }) => bitsToText(key)),
      completeness.leaves,
    );
    assert.deepEqual(set.proof, { type: 'witness', merges: completeness.mergeOps, steps: stepsOf(completeness.steps) });
    assert.deepEqual(csmt.verifySubtree(csmt.root(nodes), prefix, set.leaves, set.proof), { ok: true });
  });

  test('must be rejected: each of them', needsVectors, () => {
    assert.equal(vectors.mustReject.length, 4);
    for (const { name, root, proof, targetBits, witnessBits, proofCbor } of vectors.mustReject) {
      const trusted = fromHex(root);
      if (proof !== undefined) {
        const forged = proofOf(proof);
        assert.equal(csmt.verifyNode(trusted, forged.key, forged.value, forged).ok, false, name);
      } else if (proofCbor !== undefined) {
        assert.equal(csmt.verifyExclusion(trusted, bits('0011'), csmt.decodeExclusion(fromHex(proofCbor))).ok, false, name);
      } else {
        assert.ok(targetBits !== undefined && witnessBits !== undefined);
        assert.equal(offeredAtBranch(root, bits(targetBits), bits(witnessBits)).ok, false, name);
      }
    }
  });

  /** The tree these forgeries are of. Its root branches after one bit, where the target leaves the witness: below it may be anything. */
  function offeredAtBranch(root: string, target: Bits, witness: Bits): Verdict {
    const nodes = treeOf(['0000', '0001', '0111'].map((key) => [bits(key), hashOf(key)]));
    assert.equal(toHex(csmt.root(nodes)!), root);
    assert.deepEqual(csmt.verifyExclusion(fromHex(root), target, csmt.proveExclusion(nodes, target)!), { ok: true });
    return csmt.verifyExclusion(fromHex(root), target, { type: 'witness', target, witness: csmt.proveInclusion(nodes, witness)! });
  }

  test('live captures: inclusion', needsVectors, () => {
    for (const { name, txId, txIx, root, txOut, proof } of preprod.inclusion) {
      const decoded = csmt.decodeInclusion(fromHex(proof));
      assert.equal(toHex(csmt.encodeInclusion(decoded)), proof, name);
      const entry = { txId: fromHex(txId), index: txIx, txOut: fromHex(txOut) };
      const owner = csmt.ownerOfAddress(addressOf(entry.txOut));
      assert.deepEqual(csmt.verifyUtxo(fromHex(root), owner, entry, decoded), { ok: true }, name);
      const other = { ...entry, index: txIx + 1 };
      assert.equal(csmt.verifyUtxo(fromHex(root), owner, other, decoded).ok, false, name);
      const cut = { ...entry, txOut: entry.txOut.slice(0, -1) };
      assert.equal(csmt.verifyUtxo(fromHex(root), owner, cut, decoded).ok, false, name);
    }
  });

  test('live captures: completeness', needsVectors, () => {
    for (const { name, root, addressHex, prefixHex, entries, completenessProof } of preprod.completeness) {
      const owner = csmt.ownerOfAddress(fromHex(addressHex));
      assert.equal(toHex(owner), prefixHex);
      const proof = csmt.decodeCompleteness(fromHex(completenessProof));
      assert.equal(toHex(csmt.encodeCompleteness(proof)), completenessProof, name);
      const all = entries.map(({ txId, txIx, txOut }) => ({ txId: fromHex(txId), index: txIx, txOut: fromHex(txOut) }));
      assert.deepEqual(csmt.verifyOwner(fromHex(root), owner, all, proof), { ok: true }, name);
      assert.deepEqual(csmt.verifyOwner(fromHex(root), owner, [...all].reverse(), proof), { ok: true }, name);
      assert.equal(csmt.verifyOwner(fromHex(root), owner, all.slice(1), proof).ok, false, name);
      assert.equal(csmt.verifyOwner(fromHex(root), owner, [...all, all[0]], proof).ok, false, name);
    }
  });

  test('one leaf: its root is the hash of the whole key', needsVectors, () => {
    const value = blake2b256(utf8('a'));
    const nodes = treeOf([[bits('0110'), value]]);
    assert.equal(toHex(csmt.root(nodes)!), toHex(blake2b256(serialize({ jump: '0110', value }))));
    assert.equal(toHex(csmt.root(nodes)!), vectors.mustReject[0].root);
  });
});

/** The address of an output in the array or the map form; both have it first, below 256 bytes. */
function addressOf(txOut: Uint8Array): Uint8Array {
  const at = txOut[0] >= 0xa0 ? 2 : 1;
  assert.equal(txOut[at], 0x58);
  return txOut.subarray(at + 2, at + 2 + txOut[at + 1]);
}
