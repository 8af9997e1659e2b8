/**
 * verify() must find what a fault has done: every kind of damage is injected
 * into a good store, and has to be named with its column.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Batch } from '../../src/engine/engine.ts';
import { BalanceCheck } from '../../src/projections/balance/check.ts';
import { outputOffset } from '../../src/projections/coin.ts';
import { INDEX_KINDS } from '../../src/projections/index/by-key.ts';
import { wholeValue } from '../../src/projections/packed.ts';
import { readHead, writeHead } from '../../src/state/head.ts';
import { pruneStep } from '../../src/state/pruned.ts';
import { type Verification, verifyStore } from '../../src/store/verify/verify.ts';
import { concatBytes, equalBytes } from '../../src/util/bytes.ts';
import { VERIFY_BALANCE_OUTPUTS } from '../../src/util/limits.ts';
import { ledger } from '../support/coins.ts';
import { Devnet, devnetOptions, KEEP_ALL, memoryRig, type Rig, rocksRig, VERIFY_ALL } from '../support/harness.ts';
import { keep } from '../support/keep.ts';

const BASE = keep();

function verify(rig: Rig): Verification {
  return verifyStore(rig.engine, rig.devnet.ledger, VERIFY_ALL);
}

function grown(flavour: 'conway' | 'ancient' = 'conway'): Rig {
  const rig = memoryRig(new Devnet(devnetOptions(6, flavour), { dressed: true }));
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
    'a header has another place of a key',
    'utxo_unspent',
    'utxo_unspent',
    (batch, key, value) => batch.put('utxo_unspent', key, flipped(value, 26)),
  ],
  [
    'a row keeps the key of its owner',
    'utxo_unspent',
    'utxo_unspent',
    (batch, key, value) => batch.put('utxo_unspent', key, wholeValue(value, 0, ledger)),
  ],
  [
    'an output has another owner',
    'utxo_unspent',
    'utxo_address',
    (batch, key, value) => batch.put('utxo_unspent', key, flipped(value, outputOffset(value, 0) + 20)),
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
  ...INDEX_KINDS.flatMap((kind): Damage[] => {
    const column = `utxo_${kind}`;
    return [
      [`a row of ${column} is gone`, column, column, (batch, key) => batch.del(column, key)],
      [`${column} has a row of nothing`, column, column, (batch, key, value) => batch.put(column, flipped(key, 39), value)],
      [`${column} has an output twice`, column, column, (batch, key, value) => batch.put(column, flipped(key, 35), value)],
      [`a row of ${column} names a transaction`, column, column, (batch, key) => batch.put(column, key, new Uint8Array(32))],
    ];
  }),
  ['a place is gone', 'utxo_place', 'utxo_place', (batch, key) => batch.del('utxo_place', key)],
  ['a place has another transaction', 'utxo_place', 'utxo_place', (batch, key, value) => batch.put('utxo_place', key, flipped(value, 5))],
  ['there is a place of nothing', 'utxo_place', 'utxo_place', (batch, key, value) => batch.put('utxo_place', flipped(key, 11), value)],
  ...['balance_address', 'balance_stake'].flatMap((column): Damage[] => [
    [`a balance of ${column} is gone`, column, column, (batch, key) => batch.del(column, key)],
    [`${column} has a balance of nothing`, column, column, (batch, key, value) => batch.put(column, flipped(key, 9), value)],
    [`a balance of ${column} is another`, column, column, (batch, key, value) => batch.put(column, key, flipped(value, value.length - 1))],
    [
      `a balance of ${column} begins with zeros`,
      column,
      column,
      (batch, key, value) => batch.put(column, key, concatBytes(new Uint8Array(1), value)),
    ],
  ]),
  ...['datum', 'script'].flatMap((column): Damage[] => [
    [`a ${column} has other bytes`, column, column, (batch, key, value) => batch.put(column, key, flipped(value, value.length - 1))],
    [`a ${column} has bytes that are none`, column, column, (batch, key, value) => batch.put(column, key, value.subarray(0, 47))],
    [`a ${column} has another hash`, column, column, (batch, key, value) => batch.put(column, flipped(key, 20), value)],
    [`a ${column} was seen at another height`, column, column, (batch, key, value) => batch.put(column, key, flipped(value, 3))],
    [`a ${column} was seen at another slot`, column, column, (batch, key, value) => batch.put(column, key, flipped(value, 11))],
    [`a ${column} was seen in no transaction of ours`, column, column, (batch, key, value) => batch.put(column, key, flipped(value, 12))],
  ]),
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
      const checked = [
        'utxo_place',
        ...INDEX_KINDS.map((kind) => `utxo_${kind}`),
        'balance_address',
        'balance_stake',
        'datum',
        'script',
        'setHash',
        'csmt',
      ];
      for (const column of checked) assert.ok(column in indexRows, column);
      assert.equal(Object.keys(indexRows).length, KEEP_ALL.length - BASE.length + 1, 'what is not the chain or the set itself has a check');
      assert.ok(Object.values(indexRows).every((count) => count > 0));
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

  for (const column of ['datum', 'script'] as const) {
    it(`finds that the ${column} of an unspent output is gone, or is said to have been seen later`, () => {
      const rig = grown();
      const { traits } = rig.devnet.ledger;
      const carried = [...rig.engine.scan('utxo_unspent')].flatMap(([, stored]) => {
        const at = outputOffset(stored, 0);
        const item =
          column === 'datum' ? traits!.inlineDatum(stored, at, stored.length) : traits!.referenceScript(stored, at, stored.length);
        return item === null ? [] : [item.hash];
      });
      const later = [...rig.engine.scan(column)].find(([hash]) => !carried.some((own) => equalBytes(own, hash)))!;
      for (const damage of [
        (batch: Batch) => batch.del(column, carried[0]),
        (batch: Batch) => batch.put(column, carried[0], concatBytes(later[1].subarray(0, 48), Uint8Array.of(1))),
      ]) {
        const damaged = grown();
        write(damaged, damage);
        assert.ok(verify(damaged).faults.some((fault) => fault.column === column));
      }
    });
  }

  it('sums a large set in parts, with the same result', () => {
    const rig = grown();
    const [key] = middle(rig, 'balance_address');
    const faultsIn = (utxos: number) => {
      const faults: string[] = [];
      const world = { reader: rig.engine, ledger: rig.devnet.ledger, base: null, missingInputs: 0, unreadable: new Set<string>() };
      const fault = (_column: string, at: Uint8Array, what: string) => faults.push(`${Buffer.from(at).toString('hex')} ${what}`);
      const rows = new BalanceCheck({ ...world, utxos, fault, undos: () => [], progress() {} }, 'address').finish();
      return { rows, faults };
    };
    const rows = [...rig.engine.scan('balance_address')].length;
    for (const parts of [1, 2, 7]) assert.deepEqual(faultsIn(parts * VERIFY_BALANCE_OUTPUTS), { rows, faults: [] });
    write(rig, (batch) => batch.del('balance_address', key));
    const whole = faultsIn(1);
    assert.equal(whole.faults.length, 1);
    for (const parts of [2, 7]) assert.deepEqual(faultsIn(parts * VERIFY_BALANCE_OUTPUTS), whole);
  });

  it('finds an output that says nothing sensible of its assets, and goes on', () => {
    const rig = grown();
    const [key, stored] = [...rig.engine.scan('utxo_unspent')].find(([, value]) => {
      let held = 0;
      rig.devnet.ledger.traits!.assets(value, outputOffset(value, 0), value.length, () => held++);
      return held > 0;
    })!;
    let policy: Uint8Array | null = null;
    rig.devnet.ledger.traits!.assets(stored, outputOffset(stored, 0), stored.length, (found) => {
      policy ??= found;
    });
    // The head of a string of 28 bytes becomes one of text: still CBOR, no policy any more.
    const at = Buffer.from(stored).indexOf(Buffer.concat([Uint8Array.of(0x58, 28), policy!]));
    write(rig, (batch) =>
      batch.put(
        'utxo_unspent',
        key,
        stored.map((byte, i) => (i === at ? 0x78 : byte)),
      ),
    );
    const { faults } = verify(rig);
    assert.ok(faults.some((fault) => fault.column === 'utxo_unspent' && /does not decode/.test(fault.what)));
    for (const column of ['utxo_policy', 'utxo_asset', 'balance_address'])
      assert.ok(
        faults.some((fault) => fault.column === column),
        column,
      );
  });

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
