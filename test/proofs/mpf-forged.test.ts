/**
 * Proofs of the forestry that must not be accepted: thousands of true ones
 * changed in one place, true ones used for a false claim, and steps that only
 * look like another kind of step.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { blake2b256 } from '../../src/crypto/hash.ts';
import { bitsOf, MemoryNodes, mpf, type Verdict } from '../../src/proofs/index.ts';
import { EMPTY_PARTS, leafHash } from '../../src/proofs/mpf/hash.ts';
import { concatBytes, toHex, utf8 } from '../../src/util/bytes.ts';
import { forge, textOf } from './forge.ts';
import { Dice, PROOFS } from './support.ts';

const OK = { ok: true };

function assertRefused(verdict: Verdict, what: () => string): void {
  if (verdict.ok) assert.fail(`accepted: ${what()}`);
}

interface Trie {
  readonly nodes: MemoryNodes;
  readonly root: Uint8Array;
  readonly entries: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[];
  readonly absent: readonly Uint8Array[];
}

function trieOf(dice: Dice, size: number): Trie {
  const nodes = new MemoryNodes();
  const entries = Array.from({ length: size }, () => ({ key: dice.bytes(8), value: dice.bytes(8) }));
  mpf.update(nodes, nodes, entries);
  return { nodes, root: mpf.root(nodes), entries, absent: Array.from({ length: size + 5 }, () => dice.bytes(9)) };
}

describe('forged proofs of the forestry', () => {
  test(`${PROOFS.forestry} proofs, and as many changed in one place`, (t) => {
    const dice = new Dice();
    t.diagnostic(`seed ${dice.seed}`);
    let count = 0;
    while (count < PROOFS.forestry) {
      for (const size of [1, 2, 3, 10, 40, 300]) {
        const { nodes, root, entries, absent } = trieOf(dice, size);
        const present = entries.map(({ key }) => mpf.prove(nodes, key).proof);
        entries.forEach(({ key, value }, i) => {
          assert.deepEqual(mpf.verifyPresence(root, key, value, present[i]), OK);
          const forged = forge(present[i], present[(i + 1) % present.length], dice);
          // A trie of one entry has an empty proof: there is nothing to change.
          if (textOf(forged) === textOf(present[i])) return;
          assertRefused(mpf.verifyPresence(root, key, value, forged), () => textOf([present[i], forged]));
          assertRefused(mpf.verifyAbsence(root, key, forged), () => textOf([present[i], forged]));
          count++;
        });
        const missing = absent.map((key) => mpf.prove(nodes, key).proof);
        absent.forEach((key, i) => {
          assert.deepEqual(mpf.verifyAbsence(root, key, missing[i]), OK);
          const forged = forge(missing[i], missing[(i + 1) % missing.length], dice);
          if (textOf(forged) === textOf(missing[i])) return;
          assertRefused(mpf.verifyAbsence(root, key, forged), () => textOf([missing[i], forged]));
          assertRefused(mpf.verifyPresence(root, key, utf8('x'), forged), () => textOf([missing[i], forged]));
          count++;
        });
      }
    }
    t.diagnostic(`${count} proofs and as many forged`);
    assert.ok(count >= PROOFS.forestry);
  });

  test('true proofs do not carry false claims', (t) => {
    const dice = new Dice();
    t.diagnostic(`seed ${dice.seed}`);
    for (const size of [1, 2, 20, 200]) {
      const { nodes, root, entries, absent } = trieOf(dice, size);
      const pool = [...entries.map(({ key }) => key), ...absent].map((key) => mpf.prove(nodes, key).proof);
      for (let i = 0; i < 400; i++) {
        const { key, value } = dice.pick(entries);
        const proof = dice.pick(pool);
        assertRefused(mpf.verifyAbsence(root, key, proof), () => textOf([toHex(key), proof]));
        assertRefused(mpf.rootAfterInsert(root, key, value, proof), () => textOf([toHex(key), proof]));
        assertRefused(mpf.verifyPresence(root, dice.pick(absent), value, proof), () => textOf(proof));
        const own = mpf.prove(nodes, key).proof;
        assertRefused(mpf.verifyPresence(root, key, Uint8Array.of(...value, 0), own), () => textOf(own));
        assertRefused(mpf.verifyPresence(dice.bytes(32), key, value, own), () => textOf(own));
        assertRefused(mpf.verifyPresence(root.slice(1), key, value, own), () => textOf(own));
      }
    }
  });

  test('the way of a neighbour is its own: last forks and leaves on our path, changed by hand', () => {
    const dice = new Dice();
    const { nodes, root, entries } = trieOf(dice, 200);
    let tried = 0;
    for (const { key } of entries) {
      // The proof of absence that a key would have if it were not there ends in a neighbour; make that neighbour the key itself.
      const { proof } = mpf.prove(nodes, key);
      const path = toHex(blake2b256(key));
      let cursor = 0;
      proof.forEach((step, i) => {
        const next = cursor + step.skip;
        if (step.type === 'fork') {
          const forged = [...proof.slice(0, i), { ...step, neighbor: { ...step.neighbor, nibble: Number.parseInt(path[next], 16) } }];
          assertRefused(mpf.verifyAbsence(root, key, forged), () => textOf(forged));
          tried++;
        }
        const forged: mpf.Proof = [
          ...proof.slice(0, i),
          { type: 'leaf', skip: step.skip, neighbor: { key: blake2b256(key), value: dice.bytes(32) } },
        ];
        assertRefused(mpf.verifyAbsence(root, key, forged), () => textOf(forged));
        cursor = next + 1;
        tried++;
      });
    }
    assert.ok(tried > 200);
  });

  test('each check has its own answer', () => {
    const dice = new Dice();
    const key = utf8('key');
    const root = dice.bytes(32);
    const neighbor = { nibble: (blake2b256(key)[0] >> 4) ^ 1, prefix: new Uint8Array(0), root };
    const fork: mpf.Step = { type: 'fork', skip: 0, neighbor };
    const leaf: mpf.Step = { type: 'leaf', skip: 0, neighbor: { key: blake2b256(utf8('other')), value: root } };
    const branch: mpf.Step = { type: 'branch', skip: 0, neighbors: dice.bytes(128) };
    const answers: readonly (readonly [RegExp, mpf.Proof])[] = [
      [/skips too far/, [{ ...branch, skip: 64 }]],
      [/skips too far/, [{ ...branch, skip: -1 }]],
      [/skips too far/, [{ ...branch, skip: 0.5 }]],
      [
        /skips too far/,
        [
          { ...branch, skip: 30 },
          { ...branch, skip: 33 },
        ],
      ],
      [/not 128 bytes/, [{ ...branch, neighbors: dice.bytes(127) }]],
      [/not between 0 and 15/, [{ ...fork, neighbor: { ...neighbor, nibble: 16 } }]],
      [/not between 0 and 15/, [{ ...fork, neighbor: { ...neighbor, nibble: -1 } }]],
      [/not of nibbles/, [{ ...fork, neighbor: { ...neighbor, prefix: Uint8Array.of(3, 16) } }]],
      [/too long/, [{ ...fork, neighbor: { ...neighbor, prefix: new Uint8Array(63) } }]],
      [/root of a neighbor is not 32/, [{ ...fork, neighbor: { ...neighbor, root: root.slice(1) } }]],
      [/our own path/, [{ ...fork, neighbor: { ...neighbor, nibble: neighbor.nibble ^ 1 } }]],
      [/key of a neighbor is not 32/, [{ ...leaf, neighbor: { key: dice.bytes(33), value: root } }]],
      [/value of a neighbor is not 32/, [{ ...leaf, neighbor: { key: root, value: dice.bytes(31) } }]],
      [/does not leave our path/, [{ ...leaf, skip: 1 }]],
      [/does not leave our path/, [{ ...leaf, neighbor: { key: blake2b256(key), value: root } }]],
      [/another root/, [{ ...fork, neighbor: { ...neighbor, prefix: new Uint8Array(62) } }]],
    ];
    answers.forEach(([why, proof], i) => {
      for (const verdict of [mpf.verifyAbsence(root, key, proof), mpf.verifyPresence(root, key, key, proof)]) {
        assert.match(verdict.ok ? 'accepted' : verdict.why, why, `${i}`);
      }
    });
    for (const verdict of [mpf.verifyAbsence(root.slice(1), key, []), mpf.rootAfterInsert(root.slice(1), key, key, [])]) {
      assert.match(verdict.ok ? 'accepted' : verdict.why, /the root is not 32 bytes/);
    }
  });

  test('a branch step in the place of a leaf step, where it can be seen', () => {
    const dice = new Dice();
    let seen = 0;
    for (let i = 0; i < 200; i++) {
      const { nodes, root, entries } = trieOf(dice, 2);
      const [{ key, value }, other] = entries;
      const [step] = mpf.prove(nodes, key).proof;
      assert.equal(step.type, 'leaf');
      const [slot, beside] = [key, other.key]
        .map((name) => blake2b256(name)[step.skip >> 1] >> (step.skip % 2 === 0 ? 4 : 0))
        .map((n) => n & 15);
      if ((slot ^ beside) !== 1) continue;
      const alone = leafHash(bitsOf(blake2b256(other.key)), step.skip + 1, blake2b256(other.value));
      const neighbors = concatBytes(EMPTY_PARTS[3], EMPTY_PARTS[2], EMPTY_PARTS[1], alone);
      const forged: mpf.Proof = [{ type: 'branch', skip: step.skip, neighbors }];
      assert.deepEqual(mpf.verifyPresence(root, key, value, forged), { ok: false, why: 'a branch step with fewer than two neighbors' });
      assert.equal(mpf.rootAfterDelete(root, key, value, forged).ok, false);
      seen++;
    }
    assert.ok(seen > 0);
  });
});
