/**
 * The CSMT under random changes: whatever the order and the grouping, the root
 * is that of a tree built from scratch, the records are the same bytes, and the
 * inverse gives back what was. In a small space every key is tried: each is
 * provably there or provably not, and every prefix is provably complete.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Bits, bitsOf, bitsToText, csmt, MemoryNodes, type NodeReader, type NodeSink } from '../../src/proofs/index.ts';
import type { Change } from '../../src/proofs/radix/update.ts';
import { toHex } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { csmtRoot } from './reference.ts';
import { bits, Dice, dumpNodes } from './support.ts';

const KEY_BITS = 9;
const OK = { ok: true };

/** All texts of so many bits. */
function everyText(length: number): string[] {
  return Array.from({ length: 2 ** length }, (_, i) => (length === 0 ? '' : i.toString(2).padStart(length, '0')));
}

const hexOrNull = (root: Uint8Array | null): string | null => (root === null ? null : toHex(root));

/** Some keys put in or replaced, some taken out, some taken out that are not there. */
function randomChanges(dice: Dice, keys: readonly string[], model: ReadonlyMap<string, Uint8Array>): Change[] {
  const chosen = new Set(Array.from({ length: 1 + dice.below(30) }, () => dice.pick(keys)));
  const present = [...model.keys()];
  for (let i = 0; i < 10 && present.length > 0; i++) chosen.add(dice.pick(present));
  const changes = [...chosen].map((key) => ({ key: bits(key), value: dice.chance(2) ? null : dice.bytes(32) }));
  return changes.sort(() => dice.below(3) - 1);
}

function applyTo(model: ReadonlyMap<string, Uint8Array>, changes: readonly Change[]): Map<string, Uint8Array> {
  const after = new Map(model);
  for (const { key, value } of changes) {
    if (value === null) after.delete(bitsToText(key));
    else after.set(bitsToText(key), value);
  }
  return after;
}

function fromScratch(model: ReadonlyMap<string, Uint8Array>): MemoryNodes {
  const nodes = new MemoryNodes();
  csmt.update(
    nodes,
    nodes,
    [...model].map(([key, value]) => ({ key: bits(key), value })),
  );
  return nodes;
}

/** Applies a batch, checks everything about it, and checks the inverse. */
function checkedUpdate(nodes: MemoryNodes, model: ReadonlyMap<string, Uint8Array>, changes: readonly Change[]): Map<string, Uint8Array> {
  const before = dumpNodes(nodes);
  const { root, before: values } = csmt.update(nodes, nodes, changes);
  const after = applyTo(model, changes);
  assert.equal(hexOrNull(root), csmtRoot(after));
  assert.equal(hexOrNull(csmt.root(nodes)), csmtRoot(after));
  assert.deepEqual(
    values.map(hexOrNull),
    changes.map(({ key }) => hexOrNull(model.get(bitsToText(key)) ?? null)),
  );
  const dump = dumpNodes(nodes);
  assert.deepEqual(dump, dumpNodes(fromScratch(after)));
  csmt.update(
    nodes,
    nodes,
    changes.map(({ key }, i) => ({ key, value: values[i] })),
  );
  assert.deepEqual(dumpNodes(nodes), before);
  csmt.update(nodes, nodes, changes);
  assert.deepEqual(dumpNodes(nodes), dump);
  return after;
}

/** Keys like those of outputs: few owners, inputs of three lengths, long parts in common. */
function utxoKeys(dice: Dice): string[] {
  const owners = Array.from({ length: 6 }, () => dice.bytes(32));
  // Two owners that differ in their last bit only.
  owners.push(owners[0].map((byte, i) => (i === 31 ? byte ^ 1 : byte)));
  const txIds = Array.from({ length: 12 }, () => dice.bytes(32));
  return Array.from({ length: 200 }, () =>
    csmt.utxoKey(dice.pick(owners), { txId: dice.pick(txIds), index: dice.pick([0, 1, 23, 24, 255, 256, 70_000]) }),
  ).map(bitsToText);
}

describe('CSMT, random changes', () => {
  for (const kind of ['a small space', 'keys of outputs'] as const) {
    test(`${kind}: roots, records and inverses`, (t) => {
      const dice = new Dice();
      t.diagnostic(`seed ${dice.seed}`);
      for (let round = 0; round < 6; round++) {
        const keys = kind === 'a small space' ? everyText(3 + round) : [...new Set(utxoKeys(dice))];
        const nodes = new MemoryNodes();
        let model = new Map<string, Uint8Array>();
        for (let batch = 0; batch < 25; batch++) model = checkedUpdate(nodes, model, randomChanges(dice, keys, model));
        csmt.update(
          nodes,
          nodes,
          [...model.keys()].map((key) => ({ key: bits(key), value: null, expect: 'present' })),
        );
        assert.equal(nodes.size, 0);
        assert.equal(csmt.root(nodes), null);
      }
    });
  }

  test('one by one, in groups and at once end in the same records', () => {
    const dice = new Dice();
    const keys = [...new Set(utxoKeys(dice))];
    const changes = keys.map((key) => ({ key: bits(key), value: dice.bytes(32) }));
    const dumps = [1, 7, changes.length].map((size) => {
      const nodes = new MemoryNodes();
      for (let i = 0; i < changes.length; i += size) csmt.update(nodes, nodes, changes.slice(i, i + size));
      return dumpNodes(nodes);
    });
    assert.deepEqual(dumps[1], dumps[0]);
    assert.deepEqual(dumps[2], dumps[0]);
    const nodes = fromScratch(new Map(changes.map(({ key, value }) => [bitsToText(key), value])));
    assert.deepEqual(
      csmt.entries(nodes).map(([key]) => bitsToText(key)),
      [...keys].sort(),
    );
  });

  test('every key of a small space is there or not, every prefix is complete', (t) => {
    const dice = new Dice();
    t.diagnostic(`seed ${dice.seed}`);
    for (const share of [1, 2, 3, 20, 200]) {
      const keys = everyText(KEY_BITS);
      const model = new Map(keys.filter(() => dice.chance(share)).map((key) => [key, dice.bytes(32)]));
      const nodes = fromScratch(model);
      const root = csmt.root(nodes);
      for (const text of keys) checkKey(nodes, root, bits(text), model.get(text));
      for (let length = 0; length <= KEY_BITS; length++) {
        for (const prefix of everyText(length)) checkPrefix(nodes, root, prefix, model);
      }
    }
  });
});

function checkKey(nodes: MemoryNodes, root: Uint8Array | null, key: Bits, value: Uint8Array | undefined): void {
  const inclusion = csmt.proveInclusion(nodes, key);
  const exclusion = csmt.proveExclusion(nodes, key);
  assert.equal(inclusion === null, value === undefined);
  assert.equal(exclusion === null, value !== undefined);
  assert.deepEqual(csmt.get(nodes, key), value ?? null);
  if (inclusion !== null) assert.deepEqual(csmt.verifyNode(root, key, value!, inclusion), OK);
  if (exclusion !== null) assert.deepEqual(csmt.verifyExclusion(root, key, exclusion), OK);
}

function checkPrefix(nodes: MemoryNodes, root: Uint8Array | null, prefix: string, model: ReadonlyMap<string, Uint8Array>): void {
  const { leaves, proof } = csmt.proveCompleteness(nodes, bits(prefix));
  const expected = [...model].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1));
  assert.deepEqual(
    leaves.map(({ key, value }) => [bitsToText(key), toHex(value)]),
    expected.map(([key, value]) => [key, toHex(value)]),
  );
  assert.deepEqual(csmt.verifySubtree(root, bits(prefix), leaves, proof), OK);
  assert.deepEqual(csmt.decodeCompleteness(csmt.encodeCompleteness(proof)), proof);
  assert.deepEqual(csmt.completenessFromJson(JSON.parse(JSON.stringify(csmt.completenessToJson(proof)))), proof);
  if (leaves.length > 1) {
    assert.throws(() => csmt.proveCompleteness(nodes, bits(prefix), leaves.length - 1), { code: 'LIMIT' });
    assert.equal(csmt.verifySubtree(root, bits(prefix), leaves.slice(1), proof).ok, false);
  }
}

describe('CSMT, how it reads and writes', () => {
  const dice = new Dice();
  const entries = Array.from({ length: 3000 }, () => ({ key: bitsOf(dice.bytes(32)), value: dice.bytes(32) }));
  const nodes = new MemoryNodes();
  csmt.update(nodes, nodes, entries);

  test('an update reads level by level, each record once, and writes each record once', () => {
    const read = new Set<string>();
    let calls = 0;
    const reader: NodeReader = {
      get(key) {
        calls++;
        return nodes.get(key);
      },
      getMany(keys) {
        calls++;
        for (const key of keys) {
          assert.ok(!read.has(toHex(key)), 'read twice');
          read.add(toHex(key));
        }
        return nodes.getMany(keys);
      },
    };
    const written = new Set<string>();
    const note = (key: Uint8Array): void => {
      assert.ok(!written.has(toHex(key)), 'written twice');
      written.add(toHex(key));
    };
    const changes = [
      ...entries.slice(0, 300).map(({ key }) => ({ key, value: null })),
      ...Array.from({ length: 300 }, () => ({ key: bitsOf(dice.bytes(32)), value: dice.bytes(32) })),
    ];
    csmt.update(reader, { put: note, del: note }, changes);
    // About log2(3000) levels for most, and a few more for the unlucky.
    assert.ok(calls <= 40, `${calls} reads`);
    assert.ok(read.size < 600 * 12, `${read.size} records read`);
    assert.ok(written.size > 600, `${written.size} records written`);
  });

  test('what changes nothing writes nothing', () => {
    const sink: NodeSink = { put: () => assert.fail('a put'), del: () => assert.fail('a del') };
    csmt.update(nodes, sink, []);
    csmt.update(nodes, sink, entries.slice(0, 50));
    csmt.update(
      nodes,
      sink,
      Array.from({ length: 50 }, () => ({ key: bitsOf(dice.bytes(32)), value: null })),
    );
    csmt.update(new MemoryNodes(), sink, [{ key: bits('01'), value: null }]);
  });

  test('what is refused writes nothing', () => {
    const sink: NodeSink = { put: () => assert.fail('a put'), del: () => assert.fail('a del') };
    const [{ key, value }] = entries;
    const fresh = { key: bitsOf(dice.bytes(32)), value };
    const refused = (changes: readonly Change[], code: 'USAGE' | 'NOT_FOUND'): void =>
      assert.throws(
        () => csmt.update(nodes, sink, changes),
        (error) => isUnspentError(error, code),
      );
    refused([fresh, { ...fresh, value: null }], 'USAGE');
    refused([fresh, { key, value, expect: 'absent' }], 'USAGE');
    refused([fresh, { key: bitsOf(dice.bytes(32)), value: null, expect: 'present' }], 'NOT_FOUND');
    refused([fresh, { key: bits(bitsToText(key).slice(0, 200)), value }], 'USAGE');
    refused([fresh, { key: bits(`${bitsToText(key)}1`), value }], 'USAGE');
    refused([fresh, { key: bits(`${bitsToText(fresh.key)}1`), value }], 'USAGE');
    refused([fresh, { key: bits(''), value }], 'USAGE');
    refused([{ ...fresh, value: new Uint8Array(31) }], 'USAGE');
    refused([{ ...fresh, key: bits('0'.repeat(1025)) }], 'USAGE');
    refused([{ ...fresh, key: { bytes: Uint8Array.of(0xff), length: 3 } }], 'USAGE');
  });

  test('longer keys may take the place of a key that begins them', () => {
    const small = fromScratch(
      new Map([
        ['01', dice.bytes(32)],
        ['1', dice.bytes(32)],
      ]),
    );
    const value = dice.bytes(32);
    const { root } = csmt.update(small, small, [
      { key: bits('01'), value: null },
      { key: bits('010'), value },
      { key: bits('0111'), value },
    ]);
    assert.equal(
      toHex(root!),
      csmtRoot(
        new Map([
          ['010', value],
          ['0111', value],
          ['1', csmt.get(small, bits('1'))!],
        ]),
      ),
    );
  });

  test('neither present nor absent: a key that begins an entry, or goes on behind one', () => {
    const small = fromScratch(new Map([['0101', dice.bytes(32)]]));
    for (const text of ['01', '', '01011']) assert.throws(() => csmt.proveExclusion(small, bits(text)), { code: 'USAGE' });
    assert.equal(csmt.proveInclusion(small, bits('01')), null);
  });

  test('a record that is missing or damaged is said to be so', () => {
    const [key] = [...nodes.entries()].map(([name]) => name).filter((name) => name.length === 3);
    const broken = (value: Uint8Array | undefined): NodeReader => {
      const get = (name: Uint8Array): Uint8Array | undefined => (toHex(name) === toHex(key) ? value : nodes.get(name));
      return { get, getMany: (keys) => keys.map(get) };
    };
    const whole = nodes.get(key)!;
    const bad = [undefined, whole.slice(1), whole.slice(0, -1), whole.slice(0, 40), new Uint8Array(0), Uint8Array.of(...whole, 0)];
    for (const value of bad) {
      assert.throws(() => csmt.entries(broken(value)), { code: 'STORE_DAMAGED' });
    }
  });
});
