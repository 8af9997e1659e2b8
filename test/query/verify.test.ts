/**
 * verify() must find what a fault has done: every kind of damage is injected
 * into a good store, and has to be named with its column.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Batch } from '../../src/engine/engine.ts';
import { KEY_KINDS } from '../../src/ledgers/ledger.ts';
import { type Verification, verifyStore } from '../../src/query/verify.ts';
import { readHead, writeHead } from '../../src/state/head.ts';
import { pruneStep } from '../../src/state/pruned.ts';
import { Devnet, devnetOptions, memoryRig, type Rig, rocksRig } from '../support/harness.ts';

function verify(rig: Rig): Verification {
  return verifyStore(rig.engine, rig.devnet.ledger, { indexes: KEY_KINDS, utxo: rig.options.utxo });
}

function grown(flavour: 'conway' | 'ancient' = 'conway'): Rig {
  const rig = memoryRig(new Devnet(devnetOptions(6, flavour)));
  rig.forward(60, [8]);
  return rig;
}

function write({ engine }: Rig, body: (batch: Batch) => void): void {
  const batch = engine.batch();
  body(batch);
  batch.commit();
}

/** The row in the middle of a column. */
function middle({ engine }: Rig, column: string): [Uint8Array, Uint8Array] {
  const rows = [...engine.scan(column)].filter(([key]) => column !== 'chain' || key[0] !== 0xff);
  const [key, value] = rows[rows.length >> 1];
  return [key, value];
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = bytes.slice();
  copy[at] ^= 1;
  return copy;
}

/** What is done to a row of a column, and which column the fault is reported in. */
type Damage = readonly [what: string, column: string, reported: string, (batch: Batch, key: Uint8Array, value: Uint8Array) => void];

const rowDamage: readonly Damage[] = [
  ['a block names another previous hash', 'chain', 'chain', (batch, key, value) => batch.put('chain', key, flipped(value, 40))],
  ['a block has another hash', 'chain', 'chain', (batch, key, value) => batch.put('chain', key, flipped(value, 3))],
  ['a block is missing', 'chain', 'chain', (batch, key) => batch.del('chain', key)],
  ['a block has a slot in the future', 'chain', 'chain', (batch, key, value) => batch.put('chain', key, flipped(value, 65))],
  ['a hash leads nowhere', 'chain_hash', 'chain_hash', (batch, key) => batch.del('chain_hash', key)],
  ['a hash leads to another block', 'chain_hash', 'chain_hash', (batch, key, value) => batch.put('chain_hash', key, flipped(value, 7))],
  ['an output is gone', 'utxo_unspent', 'utxo_address', (batch, key) => batch.del('utxo_unspent', key)],
  ['an output is both unspent and spent', 'utxo_unspent', 'utxo_spent', (batch, key, value) => batch.put('utxo_spent', key, value)],
  ['a header has another value', 'utxo_unspent', 'utxo_unspent', (batch, key, value) => batch.put('utxo_unspent', key, flipped(value, 24))],
  ['a header has another slot', 'utxo_unspent', 'utxo_address', (batch, key, value) => batch.put('utxo_unspent', key, flipped(value, 12))],
  [
    'a header has another tx index',
    'utxo_unspent',
    'utxo_address',
    (batch, key, value) => batch.put('utxo_unspent', key, flipped(value, 16)),
  ],
  [
    'a header has another address hash',
    'utxo_unspent',
    'utxo_unspent',
    (batch, key, value) => batch.put('utxo_unspent', key, flipped(value, 30)),
  ],
  [
    'a header has other kinds of key',
    'utxo_unspent',
    'utxo_unspent',
    (batch, key, value) =>
      batch.put(
        'utxo_unspent',
        key,
        value.map((byte, i) => (i === 0 ? byte ^ 0x80 : byte)),
      ),
  ],
  [
    'an output does not decode',
    'utxo_unspent',
    'utxo_unspent',
    (batch, key, value) => batch.put('utxo_unspent', key, value.subarray(0, value.length - 1)),
  ],
  ...KEY_KINDS.flatMap((kind): Damage[] => {
    const column = `utxo_${kind}`;
    return [
      [`a row of ${column} is gone`, column, column, (batch, key) => batch.del(column, key)],
      [`${column} has a row of nothing`, column, column, (batch, key) => batch.put(column, flipped(key, 39), new Uint8Array(32))],
      [`${column} has an output twice`, column, column, (batch, key, value) => batch.put(column, flipped(key, 35), value)],
      [`a row of ${column} names another transaction`, column, column, (batch, key, value) => batch.put(column, key, flipped(value, 5))],
    ];
  }),
];

describe('verify', () => {
  it('finds nothing wrong with a good store', async () => {
    for (const flavour of ['conway', 'ancient'] as const) {
      const rig = grown(flavour);
      const { blocks, utxos, value, faults, faultCount, indexRows } = verify(rig);
      assert.deepEqual(faults, []);
      assert.deepEqual(
        { blocks, utxos, value, faultCount },
        { blocks: 60, utxos: rig.devnet.chain.count, value: rig.devnet.chain.value, faultCount: 0 },
      );
      assert.deepEqual(Object.keys(indexRows), ['utxo_address', 'utxo_payment', 'utxo_stake']);
      rig.fold.rollback(rig.devnet.chain.blocks[20]);
      assert.equal(verify(rig).faultCount, 0);
      pruneStep(rig.engine, rig.projections, rig.fold.head!.height, { pruneDepth: 5, rollbackWindow: 8 }, 100);
      assert.equal(verify(rig).faultCount, 0);
    }
    const empty = memoryRig(new Devnet(devnetOptions(6, 'conway')));
    assert.equal(verify(empty).faultCount, 0);
    const rocks = await rocksRig(new Devnet(devnetOptions(6, 'ancient')));
    try {
      rocks.forward(60, [8]);
      assert.equal(verify(rocks).faultCount, 0);
    } finally {
      await rocks.close();
    }
  });

  for (const [what, column, reported, damage] of rowDamage) {
    it(`finds that ${what}`, () => {
      const rig = grown();
      const [key, value] = middle(rig, column);
      write(rig, (batch) => damage(batch, key, value));
      const { faults, faultCount } = verify(rig);
      assert.ok(faultCount > 0);
      assert.ok(
        faults.some((fault) => fault.column === reported),
        JSON.stringify(faults),
      );
    });
  }

  it('finds totals that are not those of the set', () => {
    for (const change of [{ utxos: 1 }, { value: 1n }]) {
      const rig = grown();
      const head = readHead(rig.engine)!;
      write(rig, (batch) => writeHead(batch, { ...head, ...change }));
      assert.deepEqual(
        verify(rig).faults.map((fault) => fault.column),
        ['meta'],
      );
    }
  });

  it('finds a head that is not the last block', () => {
    const rig = grown();
    write(rig, (batch) => writeHead(batch, { ...readHead(rig.engine)!, hash: new Uint8Array(32) }));
    assert.deepEqual(
      verify(rig).faults.map((fault) => fault.what),
      ['the head is not the last block'],
    );
  });

  it('counts all faults and keeps the first', () => {
    const rig = grown();
    const keys = [...rig.engine.scan('utxo_address')].map(([key]) => key);
    write(rig, (batch) => {
      for (const key of keys) batch.del('utxo_address', key);
    });
    const { faults, faultCount } = verify(rig);
    assert.equal(faultCount, keys.length + 1);
    assert.equal(faults.length, 20);
  });
});
