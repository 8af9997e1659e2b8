/**
 * The upper levels of a tree in memory change nothing but what is read: records
 * and roots are those of a tree without them, also when batches are lost, when
 * somebody else writes, and when records are too long to be remembered.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { blake2b256 } from '../../src/crypto/hash.ts';
import { bitsOf, csmt, MemoryNodes, NodeOverlay, type NodeReader, writeAll } from '../../src/proofs/index.ts';
import { branchPath } from '../../src/proofs/radix/record.ts';
import { UpperRecords } from '../../src/proofs/radix/upper.ts';
import { toHex } from '../../src/util/bytes.ts';
import { TEST_SEED } from '../support/harness.ts';

const rowsOf = (nodes: MemoryNodes): string[] => Array.from(nodes.entries(), ([key, value]) => `${toHex(key)} ${toHex(value!)}`).sort();

const NAMES = new Map(Array.from({ length: 3000 }, (_, i) => [toHex(blake2b256(Uint8Array.of(i >> 8, i & 0xff))), i]));

/** Keys that spread over the first bits, of one length: short ones have small records, long ones records that are not remembered. */
function randomChanges(random: Random, live: Set<number>, bytes: number): csmt.Change[] {
  const chosen = new Set(Array.from({ length: 1 + random.int(40) }, () => random.int(3000)));
  return [...chosen].map((name) => {
    const key = new Uint8Array(bytes);
    key.set(blake2b256(Uint8Array.of(name >> 8, name & 0xff)).subarray(0, Math.min(32, bytes)));
    const has = live.has(name);
    const value = has && random.chance(0.4) ? null : blake2b256(Uint8Array.of(random.int(256), 1));
    return { key: bitsOf(key), value, expect: has ? 'present' : 'absent' };
  });
}

function take(live: Set<number>, changes: readonly csmt.Change[]): void {
  for (const { key, value } of changes) {
    const name = NAMES.get(toHex(key.bytes.subarray(0, 32)))!;
    if (value === null) live.delete(name);
    else live.add(name);
  }
}

/** Counts what is asked of the store itself, and the keys of it that branch within so many bits. */
function counted(nodes: MemoryNodes, bits = 0): NodeReader & { asked: number; above: number } {
  const reader = {
    asked: 0,
    above: 0,
    get: (key: Uint8Array) => nodes.get(key),
    getMany(keys: readonly Uint8Array[]) {
      reader.asked += keys.length;
      reader.above += keys.filter((key) => branchPath(key).length < bits).length;
      return nodes.getMany(keys);
    },
  };
  return reader;
}

describe('the upper levels in memory', () => {
  for (const [name, bytes] of [
    ['short keys', 33],
    ['keys whose records are too long', 120],
  ] as const)
    it(`change nothing of the tree: ${name}`, () => {
      for (let run = 0; run < 6; run++) {
        const random = new Random(TEST_SEED + run, bytes);
        const [plain, stored] = [new MemoryNodes(), new MemoryNodes()];
        const upper = new UpperRecords();
        const live = new Set<number>();
        for (let step = 0; step < 40; step++) {
          const changes = randomChanges(random, live, bytes);
          if (random.chance(0.15)) {
            // A batch that is never written.
            const lost = new NodeOverlay(stored);
            const tree = upper.over(stored, lost);
            csmt.update(tree, tree, changes);
            continue;
          }
          const batch = new NodeOverlay(stored);
          const alone = random.chance(0.1);
          const tree = alone ? batch : upper.over(stored, batch);
          const { root } = csmt.update(tree, tree, changes);
          writeAll(batch.pendingWrites(), stored);
          assert.deepEqual(root, csmt.update(plain, plain, changes).root);
          assert.deepEqual(rowsOf(stored), rowsOf(plain), `run ${run}, step ${step}`);
          take(live, changes);
        }
        assert.ok(live.size > 300);
      }
    });

  it('are not asked of the store again', () => {
    const stored = new MemoryNodes();
    const upper = new UpperRecords();
    const random = new Random(TEST_SEED, 2);
    const live = new Set<number>();
    let asked = 0;
    for (let step = 0; step < 60; step++) {
      const changes = randomChanges(random, live, 33);
      const reader = counted(stored);
      const batch = new NodeOverlay(stored);
      const tree = upper.over(reader, batch);
      csmt.update(tree, tree, changes);
      writeAll(batch.pendingWrites(), stored);
      take(live, changes);
      if (step >= 40) asked += reader.asked;
    }
    // A thousand keys branch below sixteen bits a few times at most.
    assert.ok(asked < 60, `${asked} records read in twenty steps`);
  });

  it('are nineteen where the tree is dense', () => {
    const stored = new MemoryNodes();
    const upper = new UpperRecords();
    const counts: number[] = [];
    for (let step = 0; step < 3; step++) {
      // Eleven bits in common, and three thousand keys: branches have branches below them down to nineteen bits and more.
      const changes = Array.from({ length: 3000 }, (_, name): csmt.Change => {
        const key = blake2b256(Uint8Array.of(name >> 8, name & 0xff)).slice();
        key[0] = 0;
        key[1] &= 0x1f;
        return { key: bitsOf(key), value: blake2b256(Uint8Array.of(step, name & 0xff)), expect: step === 0 ? 'absent' : 'present' };
      });
      const batch = new NodeOverlay(stored);
      const reader = counted(stored, 19);
      const tree = upper.over(reader, batch);
      csmt.update(tree, tree, changes);
      writeAll(batch.pendingWrites(), stored);
      counts.push(reader.above);
      assert.ok(step === 0 || reader.asked > 1000, 'those below are read');
    }
    // All of a tree of one update are remembered, but for the few that have a leaf below them.
    assert.ok(counts[1] < 10 && counts[2] < 10, `${counts} of them were read`);
  });
});
