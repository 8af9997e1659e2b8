/**
 * The roots of quarters that records of the forestry keep. What is stored depends
 * on the entries alone, children of a quarter that did not change are not hashed
 * again, and whoever checks records finds quarters that are not right.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bitsOf, MemoryNodes } from '../../src/proofs/index.ts';
import { fold } from '../../src/proofs/mpf/fold.ts';
import { nodeHash } from '../../src/proofs/mpf/hash.ts';
import { provePath } from '../../src/proofs/mpf/proof.ts';
import { readRecord } from '../../src/proofs/mpf/record.ts';
import { MPF_RULE } from '../../src/proofs/mpf/slots.ts';
import { branchKey, decodeRecord } from '../../src/proofs/radix/record.ts';
import { updateTree } from '../../src/proofs/radix/update.ts';
import { readTop } from '../../src/proofs/radix/walk.ts';
import { equalBytes, toHex } from '../../src/util/bytes.ts';
import { mpfRootOfPaths } from './reference.ts';
import { dumpNodes } from './support.ts';

const KEY = branchKey(new Uint8Array(32), 0);

/** An entry in a slot of the branch at the very top. */
const pathOf = (slot: number): Uint8Array => new Uint8Array(32).fill((slot << 4) | (slot ^ 5));
const hashOf = (slot: number): Uint8Array => new Uint8Array(32).fill(slot + 1);

function put(nodes: MemoryNodes, slots: readonly number[], value: (slot: number) => Uint8Array | null = hashOf): void {
  updateTree(
    MPF_RULE,
    nodes,
    nodes,
    slots.map((slot) => ({ key: bitsOf(pathOf(slot)), value: value(slot) })),
  );
}

function trieOf(slots: readonly number[]): MemoryNodes {
  const nodes = new MemoryNodes();
  put(nodes, slots);
  return nodes;
}

const rootOf = (nodes: MemoryNodes): string => toHex(nodeHash(readTop(nodes, 4)!));
const rootOfEntries = (slots: readonly number[]): string =>
  mpfRootOfPaths(new Map(slots.map((slot) => [toHex(pathOf(slot)), hashOf(slot)])));
const hasParts = (nodes: MemoryNodes): boolean => decodeRecord(nodes.get(KEY)!, 4).parts !== null;

/** One bit of the root of a quarter is another. */
function spoilQuarter(nodes: MemoryNodes, quarter: number): Uint8Array {
  const record = nodes.get(KEY)!;
  const at = record.length - 32 * (4 - quarter);
  const spoiled = record.with(at, record[at] ^ 1);
  nodes.put(KEY, spoiled);
  return spoiled;
}

const ALL = Array.from({ length: 16 }, (_, slot) => slot);

describe('quarters in records of the forestry', () => {
  it('are there from eight children on, however they came', () => {
    const order = [3, 12, 0, 7, 15, 8, 4, 11, 1, 14, 2, 13, 5, 10, 6, 9];
    const grown = new MemoryNodes();
    for (let count = 1; count <= 16; count++) {
      put(grown, [order[count - 1]]);
      const slots = order.slice(0, count);
      assert.deepEqual(dumpNodes(grown), dumpNodes(trieOf(slots)));
      assert.equal(rootOf(grown), rootOfEntries(slots));
      if (count > 1) assert.equal(hasParts(grown), count >= 8, `${count} children`);
    }
    for (let count = 15; count >= 2; count--) {
      put(grown, [order[count]], () => null);
      assert.deepEqual(dumpNodes(grown), dumpNodes(trieOf(order.slice(0, count))));
    }
  });

  it('stand for children that did not change', () => {
    const nodes = trieOf(ALL);
    spoilQuarter(nodes, 2);
    put(nodes, [1], () => hashOf(99));
    assert.notEqual(rootOf(nodes), mpfRootOfPaths(new Map(ALL.map((slot) => [toHex(pathOf(slot)), hashOf(slot === 1 ? 99 : slot)]))));
    // A change in the quarter itself hashes it anew.
    put(nodes, [1]);
    put(nodes, [8], () => hashOf(77));
    put(nodes, [8]);
    assert.equal(rootOf(nodes), rootOfEntries(ALL));
    assert.deepEqual(dumpNodes(nodes), dumpNodes(trieOf(ALL)));
  });

  it('give the proofs that their children give', () => {
    for (const slots of [ALL, ALL.filter((slot) => slot % 3 !== 1), [0, 1, 2, 3, 4, 5, 6, 7], [1, 6, 8, 9, 15]]) {
      const nodes = trieOf(slots);
      for (const slot of ALL) {
        const path = bitsOf(pathOf(slot));
        const { present, proof } = provePath(nodes, path);
        assert.equal(present, slots.includes(slot));
        assert.equal(toHex(fold(path, present ? hashOf(slot) : null, proof)), rootOfEntries(slots));
      }
    }
  });

  it('are found when they are not right, and need not be there', () => {
    const nodes = trieOf(ALL);
    const record = nodes.get(KEY)!;
    const { value } = readRecord(KEY, record);
    for (let quarter = 0; quarter < 4; quarter++) {
      assert.throws(() => readRecord(KEY, spoilQuarter(trieOf(ALL), quarter)), { code: 'STORE_DAMAGED', message: /parts of a value/ });
    }
    assert.throws(() => readRecord(KEY, record.subarray(0, -1)), { code: 'STORE_DAMAGED', message: /bad parts/ });
    const few = trieOf([1, 2, 3]).get(KEY)!;
    const parts = record.subarray(-129);
    assert.throws(() => readRecord(KEY, Uint8Array.of(...few, ...parts)), { code: 'STORE_DAMAGED', message: /parts of a value/ });
    const bare = record.slice(0, -129);
    assert.ok(equalBytes(readRecord(KEY, bare).value!, value!));
    nodes.put(KEY, bare);
    put(nodes, [4], () => hashOf(50));
    put(nodes, [4]);
    assert.deepEqual(dumpNodes(nodes), dumpNodes(trieOf(ALL)));
  });
});
