/**
 * The tree over the unspent set, on random chains with forks of both families:
 * after every block and every rollback it is the tree built from nothing over
 * the producer's set, its records are the same however blocks were grouped, and
 * it proves what is there, what is not, and that this is all.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { selectProjections } from '../../src/projections/registry.ts';
import { csmt } from '../../src/proofs/index.ts';
import { Fold } from '../../src/state/fold.ts';
import { toHex } from '../../src/util/bytes.ts';
import { PlainChain } from '../support/bitcoin-chain.ts';
import { memoryBitcoin, rocksBitcoin } from '../support/bitcoin-rig.ts';
import {
  assertCode,
  assertSameRows,
  Devnet,
  devnetOptions,
  dump,
  type Flavour,
  KEEP_ALL,
  memoryRig,
  rocksRig,
  TEST_SEED,
} from '../support/harness.ts';
import {
  assertTree,
  bitcoinWorld,
  cardanoWorld,
  rootFromScratch,
  storedRoot,
  type World,
  type WorldOutput,
} from '../support/tree-world.ts';
import { WatchedEngine } from '../support/watched-engine.ts';

const OUTPUTS_MAX = 10_000;
const conway = (seed: number, flavour: Flavour = 'conway') => new Devnet(devnetOptions(seed, flavour));
const plain = (seed: number) => new PlainChain(seed, { wide: 0.003 });

const memoryWorlds: readonly (readonly [string, (seed: number) => World])[] = [
  ['Cardano', (seed) => cardanoWorld(memoryRig(conway(seed)))],
  ['Cardano through all eras', (seed) => cardanoWorld(memoryRig(conway(seed, 'ancient')))],
  ['Bitcoin', (seed) => bitcoinWorld(memoryBitcoin(plain(seed)))],
];
const rocksWorlds: readonly (readonly [string, (seed: number) => Promise<World>])[] = [
  ['Cardano', async (seed) => cardanoWorld(await rocksRig(conway(seed, 'ancient')))],
  ['Bitcoin', async (seed) => bitcoinWorld(await rocksBitcoin(plain(seed)))],
];

/** Forward or back by a few blocks, in groups or one by one. */
function turn(world: World, random: Random): void {
  if (world.length() === 0 || random.chance(0.7)) world.forward(1 + random.int(6), [1 + random.int(6)]);
  else world.back(Math.min(world.length(), random.chance(0.05) ? 1000 : random.int(8)));
}

async function walk(world: World, seed: number, turns: number): Promise<void> {
  const random = new Random(seed, 5);
  try {
    assertTree(world, 'before the first block');
    for (let i = 0; i < turns; i++) {
      turn(world, random);
      assertTree(world, `turn ${i}`);
    }
    world.back(world.length());
    assert.equal(storedRoot(world), null, 'at the origin');
    assert.deepEqual(dump(world.engine()).get('csmt'), []);
  } finally {
    await world.close();
  }
}

describe('the tree of the unspent set', () => {
  for (const [name, open] of memoryWorlds)
    it(`is the one built from nothing after every step: ${name}, in memory`, async () => {
      for (let run = 0; run < 10; run++) await walk(open(TEST_SEED + run), TEST_SEED + run, 25);
    });

  for (const [name, open] of rocksWorlds)
    it(`is the one built from nothing after every step: ${name}, on RocksDB`, async () => walk(await open(TEST_SEED), TEST_SEED, 20));

  for (const [name, open] of memoryWorlds)
    it(`has the same records however blocks were grouped, and through rollbacks: ${name}`, async () => {
      const worlds = [open(7), open(7), open(7)];
      const [single, grouped, wandering] = worlds;
      single.forward(60, [1]);
      grouped.forward(60, [23, 4]);
      wandering.forward(60, [9]);
      const random = new Random(9, 5);
      for (let i = 0; i < 8; i++) {
        const place = 20 + random.int(39);
        wandering.fold().rollback(wandering.point(place));
        wandering.again(place + 1, [1 + random.int(40), 1]);
      }
      const rows = (world: World) => dump(world.engine()).get('csmt')!;
      assert.equal(rows(single).length, single.outputs().size, 'one record a branch, and the top');
      assertSameRows(rows(grouped), rows(single), 'grouped');
      assertSameRows(rows(wandering), rows(single), 'through rollbacks');
      for (const world of worlds) await world.close();
    });

  it('is not lost when a commit fails', () => {
    for (const fail of [1, 3]) {
      const rig = memoryRig(conway(3), { wrap: (inner) => new WatchedEngine(inner) });
      const world = cardanoWorld(rig);
      world.forward(20, [1]);
      const blocks = rig.devnet.mine(fail);
      const watched = rig.engine as WatchedEngine;
      watched.failure = new Error('the disk is full');
      assert.throws(() => rig.fold.apply(blocks), /the disk is full/);
      rig.apply(blocks);
      assertTree(world);
      world.forward(5, [1]);
      assertTree(world);
    }
  });

  it('is not read again where it is remembered, and is where another wrote', () => {
    const rig = memoryRig(conway(3), { wrap: (inner) => new WatchedEngine(inner) });
    const world = cardanoWorld(rig);
    const watched = rig.engine as WatchedEngine;
    const read = () => watched.gets.filter(({ column, key }) => column === 'csmt' && key.length <= 6 && key !== 'ff').length;
    world.forward(20, [1]);
    watched.forget();
    world.forward(5, [1]);
    assert.equal(read(), 0, 'the upper levels are in memory');
    // Somebody else moves the store; what is remembered is of another tree then.
    new Fold(rig.engine, rig.devnet.ledger, selectProjections(KEEP_ALL, rig.devnet.ledger), rig.options).rollback(world.point(10));
    rig.devnet.chain.rollback(world.length() - 11);
    rig.fold = rig.newFold();
    watched.forget();
    world.forward(8, [2]);
    assertTree(world);
    assert.ok(read() > 0, 'it was read anew');
  });

  it('says that it is damaged when it is not the tree of the set, and changes nothing', () => {
    const rig = memoryRig(conway(4));
    const world = cardanoWorld(rig);
    world.forward(30, [4]);
    const blocks = rig.devnet.mine(10).filter(({ txs }) => txs.length > 0);
    const top = rig.engine.get('csmt', csmt.TOP_KEY)!;
    const damage = rig.engine.batch();
    damage.del('csmt', csmt.TOP_KEY);
    damage.commit();
    const before = dump(rig.engine);
    assertCode(() => rig.fold.apply(rig.devnet.blocks(30)), 'STORE_DAMAGED');
    assert.deepEqual(dump(rig.engine), before);
    assert.ok(blocks.length > 0);
    const repair = rig.engine.batch();
    repair.put('csmt', csmt.TOP_KEY, top);
    repair.commit();
    rig.apply(rig.devnet.blocks(30));
    assertTree(world);
  });
});

/** All that can be proven of a world: what is there, what was and is not, what never was. */
function assertProofs(world: World, gone: ReadonlyMap<string, WorldOutput>): number {
  const live = world.outputs();
  const root = rootFromScratch(live);
  const trusted = root === null ? null : Uint8Array.from(Buffer.from(root, 'hex'));
  const owners = new Map<string, WorldOutput[]>();
  for (const output of [...gone.values(), ...live.values()]) owners.set(toHex(output.owner), []);
  for (const output of live.values()) owners.get(toHex(output.owner))!.push(output);
  return world.read((query) => {
    const tree = query.csmt(world.leaf);
    for (const output of live.values()) {
      const proof = tree.inclusion(output.owner, output);
      assert.ok(proof !== null);
      assert.deepEqual(csmt.verifyUtxo(trusted, output.owner, output, proof), { ok: true });
      assert.equal(tree.absence(output.owner, output), null);
    }
    let absent = 0;
    for (const [name, output] of gone) {
      if (live.has(name)) continue;
      const proof = tree.absence(output.owner, output);
      assert.ok(proof !== null);
      assert.deepEqual(csmt.verifyNoUtxo(trusted, output.owner, output, proof), { ok: true });
      assert.equal(tree.inclusion(output.owner, output), null);
      absent++;
    }
    const strangers = [...live.values(), ...gone.values()].slice(0, 20).map(({ txId, index }) => ({ txId, index: index + 1000 }));
    for (const [i, stranger] of strangers.entries()) {
      const owner = [...live.values()][i]?.owner ?? new Uint8Array(32);
      const proof = tree.absence(owner, stranger);
      assert.ok(proof !== null && csmt.verifyNoUtxo(trusted, owner, stranger, proof).ok);
    }
    for (const [hex, outputs] of owners) {
      const owner = Uint8Array.from(Buffer.from(hex, 'hex'));
      const { leaves, proof } = tree.complete(owner, OUTPUTS_MAX);
      assert.equal(leaves.length, outputs.length);
      assert.deepEqual(csmt.verifyOwner(trusted, owner, outputs, proof), { ok: true });
      if (outputs.length > 1) {
        assert.equal(csmt.verifyOwner(trusted, owner, outputs.slice(1), proof).ok, false, 'not with one left out');
        assertCode(() => tree.complete(owner, outputs.length - 1), 'LIMIT');
      }
    }
    return absent;
  });
}

describe('proofs from the tree', () => {
  for (const [name, open] of memoryWorlds)
    it(`show every live output, and that spent ones and strangers are not there: ${name}`, async () => {
      const world = open(TEST_SEED + 3);
      const random = new Random(TEST_SEED, 6);
      const known = new Map<string, WorldOutput>();
      let absent = 0;
      assertProofs(world, known);
      for (let i = 0; i < 12; i++) {
        for (const [key, output] of world.outputs()) known.set(key, output);
        turn(world, random);
        absent += assertProofs(world, known);
      }
      assert.ok(absent > 100, `${absent} that are gone`);
      await world.close();
    });

  it('are not given out from a damaged store', () => {
    const world = bitcoinWorld(memoryBitcoin(plain(5)));
    world.forward(30, [30]);
    const [output] = [...world.outputs().values()].slice(10);
    const rows = [...world.engine().scan('csmt')];
    let refused = 0;
    for (const [key, value] of rows.filter(([each]) => each.length <= 3)) {
      const batch = world.engine().batch();
      // The last byte of a hash.
      batch.put('csmt', key, value.with(value.length - 1, value[value.length - 1] ^ 1));
      batch.commit();
      world.read((query) => {
        const tree = query.csmt(world.leaf);
        for (const ask of [() => tree.inclusion(output.owner, output), () => tree.complete(output.owner, OUTPUTS_MAX)]) {
          try {
            ask();
          } catch {
            assertCode(ask, 'STORE_DAMAGED');
            refused++;
          }
        }
      });
      const repair = world.engine().batch();
      repair.put('csmt', key, value);
      repair.commit();
    }
    assert.ok(refused > 4, `${refused} refused`);
  });
});
