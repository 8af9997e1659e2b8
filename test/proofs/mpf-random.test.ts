/**
 * The forestry under random changes: roots as built from scratch, the same
 * records after the inverse, a proof for every key. Keys are placed by their
 * hash, so long common prefixes do not come up by chance; a second part places
 * entries by hand, below the hashing of keys, to reach every shape.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bitsOf, MemoryNodes, mpf } from '../../src/proofs/index.ts';
import { fold } from '../../src/proofs/mpf/fold.ts';
import { nodeHash } from '../../src/proofs/mpf/hash.ts';
import { provePath } from '../../src/proofs/mpf/proof.ts';
import { MPF_RULE } from '../../src/proofs/mpf/slots.ts';
import { updateTree } from '../../src/proofs/radix/update.ts';
import { readTop } from '../../src/proofs/radix/walk.ts';
import { verdictOf } from '../../src/proofs/verdict.ts';
import { fromHex, toHex, utf8 } from '../../src/util/bytes.ts';
import { mpfRoot, mpfRootOfPaths } from './reference.ts';
import { Dice, dumpNodes } from './support.ts';

const OK = { ok: true };

type Model = Map<string, Uint8Array>;

function changesOf(dice: Dice, model: Model, names: readonly string[]): mpf.Change[] {
  const chosen = new Set(Array.from({ length: 1 + dice.below(12) }, () => dice.pick(names)));
  return [...chosen].map((key) => ({
    key: fromHex(key),
    value: model.has(key) && dice.chance(2) ? null : dice.bytes(dice.below(40)),
  }));
}

function applied(model: Model, changes: readonly mpf.Change[]): Model {
  const after = new Map(model);
  for (const { key, value } of changes) {
    if (value === null) after.delete(toHex(key));
    else after.set(toHex(key), value);
  }
  return after;
}

describe('MPF, random changes', () => {
  test('roots, records and inverses; a proof for every key, that carries a change too', (t) => {
    const dice = new Dice();
    t.diagnostic(`seed ${dice.seed}`);
    const names = Array.from({ length: 300 }, (_, i) => toHex(i === 0 ? new Uint8Array(0) : utf8(`key ${i}`)));
    const nodes = new MemoryNodes();
    let model: Model = new Map();
    for (let batch = 0; batch < 60; batch++) {
      const before = dumpNodes(nodes);
      const changes = changesOf(dice, model, names);
      const inverse = changes.map(({ key }) => ({ key, value: model.get(toHex(key)) ?? null }));
      const root = mpf.update(nodes, nodes, changes);
      const after = applied(model, changes);
      assert.equal(toHex(root), mpfRoot(after));
      const dump = dumpNodes(nodes);
      mpf.update(nodes, nodes, inverse);
      assert.deepEqual(dumpNodes(nodes), before);
      mpf.update(nodes, nodes, changes);
      assert.deepEqual(dumpNodes(nodes), dump);
      model = after;
      for (let i = 0; i < 5; i++) checkProof(nodes, root, model, dice.pick(names), dice.bytes(5));
    }
    mpf.update(
      nodes,
      nodes,
      [...model.keys()].map((key) => ({ key: fromHex(key), value: null, expect: 'present' })),
    );
    assert.equal(nodes.size, 0);
  });

  test('an insert of what is there, an update or delete of what is not', () => {
    const nodes = new MemoryNodes();
    const [key, value] = [utf8('a'), utf8('b')];
    mpf.insertKey(nodes, nodes, key, value);
    const dump = dumpNodes(nodes);
    assert.throws(() => mpf.insertKey(nodes, nodes, key, value), { code: 'USAGE' });
    assert.throws(() => mpf.updateKey(nodes, nodes, utf8('c'), value), { code: 'NOT_FOUND' });
    assert.throws(() => mpf.deleteKey(nodes, nodes, utf8('c')), { code: 'NOT_FOUND' });
    assert.deepEqual(dumpNodes(nodes), dump);
    const root = mpf.root(nodes);
    assert.deepEqual(mpf.updateKey(nodes, nodes, key, value), root);
    mpf.updateKey(nodes, nodes, key, utf8('other'));
    assert.notDeepEqual(mpf.root(nodes), root);
    mpf.updateKey(nodes, nodes, key, value);
    assert.deepEqual(mpf.root(nodes), root);
    assert.deepEqual(mpf.deleteKey(nodes, nodes, key), mpf.NULL_HASH);
  });
});

function checkProof(nodes: MemoryNodes, root: Uint8Array, model: Model, name: string, other: Uint8Array): void {
  const key = fromHex(name);
  const value = model.get(name);
  const { present, proof } = mpf.prove(nodes, key);
  assert.equal(present, value !== undefined);
  assert.deepEqual(mpf.decode(mpf.encode(proof)), proof);
  assert.deepEqual(mpf.fromJson(JSON.parse(JSON.stringify(mpf.toJson(proof)))), proof);
  if (value === undefined) {
    assert.deepEqual(mpf.verifyAbsence(root, key, proof), OK);
    assert.equal(mpf.verifyPresence(root, key, other, proof).ok, false);
    const after = mpf.rootAfterInsert(root, key, other, proof);
    assert.ok(after.ok);
    assert.equal(toHex(after.root), mpfRoot(new Map([...model, [name, other]])));
  } else {
    assert.deepEqual(mpf.verifyPresence(root, key, value, proof), OK);
    assert.equal(mpf.verifyAbsence(root, key, proof).ok, false);
    assert.equal(mpf.verifyPresence(root, key, Uint8Array.of(...value, 1), proof).ok, false);
    const updated = mpf.rootAfterUpdate(root, key, value, other, proof);
    assert.equal(updated.ok && toHex(updated.root), mpfRoot(new Map([...model, [name, other]])));
    const deleted = mpf.rootAfterDelete(root, key, value, proof);
    assert.equal(deleted.ok && toHex(deleted.root), mpfRoot(new Map([...model].filter(([entry]) => entry !== name))));
  }
}

/** A path that has a random part in common with one of the others. */
function pathNear(dice: Dice, paths: readonly string[]): string {
  const fresh = toHex(dice.bytes(32));
  if (paths.length === 0) return fresh;
  const shared = dice.pick([0, 1, 2, 3, 7, 31, 32, 33, 61, 62, 63]);
  return dice.pick(paths).slice(0, shared) + fresh.slice(shared);
}

describe('MPF, entries placed by hand', () => {
  test('every shape: roots, records, proofs of presence and absence', (t) => {
    const dice = new Dice();
    t.diagnostic(`seed ${dice.seed}`);
    const kinds = new Set<string>();
    for (let round = 0; round < 30; round++) {
      const model: Model = new Map();
      const nodes = new MemoryNodes();
      for (let i = 0; i < 25; i++) {
        const gone = model.size > 4 && dice.chance(3) ? dice.pick([...model.keys()]) : null;
        const path = gone ?? pathNear(dice, [...model.keys()]);
        const value = gone === null ? dice.bytes(32) : null;
        if (value === null) model.delete(path);
        else model.set(path, value);
        updateTree(MPF_RULE, nodes, nodes, [{ key: bitsOf(fromHex(path)), value }]);
        const top = readTop(nodes, 4);
        assert.equal(toHex(top === undefined ? mpf.NULL_HASH : nodeHash(top)), mpfRootOfPaths(model));
      }
      const scratch = new MemoryNodes();
      updateTree(
        MPF_RULE,
        scratch,
        scratch,
        [...model].map(([path, value]) => ({ key: bitsOf(fromHex(path)), value })),
      );
      assert.deepEqual(dumpNodes(nodes), dumpNodes(scratch));
      checkPaths(nodes, model, dice, kinds);
    }
    // Last and inner steps of every kind, with and without skipped nibbles.
    for (const kind of ['branch', 'fork', 'leaf']) {
      for (const place of ['last', 'inner'])
        for (const skip of ['skip', 'none']) assert.ok(kinds.has(`${kind} ${place} ${skip}`), `${kind} ${place} ${skip}`);
    }
  });
});

function checkPaths(nodes: MemoryNodes, model: Model, dice: Dice, kinds: Set<string>): void {
  const root = mpfRootOfPaths(model);
  const paths = [...model.keys(), ...Array.from({ length: 30 }, () => pathNear(dice, [...model.keys()]))];
  for (const text of paths) {
    const path = bitsOf(fromHex(text));
    const value = model.get(text) ?? null;
    const { present, proof } = provePath(nodes, path);
    assert.equal(present, value !== null);
    const folded = verdictOf(() => ({ root: fold(path, value, proof) }));
    assert.ok(folded.ok);
    assert.equal(toHex(folded.root), root);
    const other = verdictOf(() => ({ root: fold(path, value === null ? dice.bytes(32) : null, proof) }));
    assert.ok(other.ok && toHex(other.root) !== root);
    proof.forEach(({ type, skip }, i) => {
      kinds.add(`${type} ${i === proof.length - 1 ? 'last' : 'inner'} ${skip > 0 ? 'skip' : 'none'}`);
    });
  }
}
