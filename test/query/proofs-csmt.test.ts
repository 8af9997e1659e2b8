/**
 * The tree of the unspent set as it was after earlier blocks: roots and proofs
 * are those of that time, on both families, however the chain went on since;
 * what is remembered is used and bounded; what cannot be answered says why.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import type { Batch } from '../../src/engine/engine.ts';
import type { Point } from '../../src/ledgers/ledger.ts';
import { csmt } from '../../src/proofs/index.ts';
import { Overlays } from '../../src/query/overlay.ts';
import { PastTrees } from '../../src/query/past-tree.ts';
import { Query } from '../../src/query/query.ts';
import { writeFillStart } from '../../src/state/fill.ts';
import { pruneStep } from '../../src/state/pruned.ts';
import { type Fault, verifyStore } from '../../src/store/verify/verify.ts';
import { toHex } from '../../src/util/bytes.ts';
import { PlainChain } from '../support/bitcoin-chain.ts';
import { memoryBitcoin, VERIFY_ALL_BITCOIN } from '../support/bitcoin-rig.ts';
import { assertCode, Devnet, devnetOptions, KEEP_ALL, memoryRig, rocksRig, TEST_SEED, VERIFY_ALL } from '../support/harness.ts';
import { leaveOut } from '../support/keep.ts';
import { assertTree, bitcoinWorld, cardanoWorld, storedRoot, type World, type WorldOutput } from '../support/tree-world.ts';

const OUTPUTS_MAX = 10_000;

/** What was true after a block. */
interface Moment {
  readonly point: Point;
  readonly root: string | null;
  readonly outputs: ReadonlyMap<string, WorldOutput>;
}

const worlds: readonly (readonly [string, (seed: number) => World | Promise<World>])[] = [
  ['Cardano', (seed) => cardanoWorld(memoryRig(new Devnet(devnetOptions(seed, 'ancient')), { selfContained: true }))],
  ['Cardano on RocksDB', async (seed) => cardanoWorld(await rocksRig(new Devnet(devnetOptions(seed, 'conway'))))],
  ['Bitcoin', (seed) => bitcoinWorld(memoryBitcoin(new PlainChain(seed, { wide: 0.003 })))],
];

function grow(world: World, moments: Moment[], blocks: number): void {
  for (let i = 0; i < blocks; i++) {
    world.forward(1, [1]);
    moments.push({ point: world.point(world.length() - 1), root: assertTree(world), outputs: world.outputs() });
  }
}

function assertPast(world: World, { point, root, outputs }: Moment, others: Iterable<WorldOutput>): void {
  const trusted = root === null ? null : Uint8Array.from(Buffer.from(root, 'hex'));
  world.read((query) => {
    const tree = query.csmt(world.leaf, point);
    const stored = tree.root();
    assert.equal(stored === null ? null : toHex(stored), root, `${world.name} at ${point.height}`);
    for (const output of [...outputs.values()].slice(0, 15)) {
      const proof = tree.inclusion(output.owner, output);
      assert.ok(proof !== null && csmt.verifyUtxo(trusted, output.owner, output, proof).ok);
      const mine = [...outputs.values()].filter(({ owner }) => toHex(owner) === toHex(output.owner));
      assert.deepEqual(csmt.verifyOwner(trusted, output.owner, mine, tree.complete(output.owner, OUTPUTS_MAX).proof), { ok: true });
    }
    for (const other of others) {
      if (outputs.has(`${toHex(other.txId)}#${other.index}`)) continue;
      const proof = tree.absence(other.owner, other);
      assert.ok(proof !== null && csmt.verifyNoUtxo(trusted, other.owner, other, proof).ok);
    }
  });
}

describe('the tree as it was', () => {
  for (const [name, open] of worlds)
    it(`has the root and the proofs of its time: ${name}`, async () => {
      const world = await open(TEST_SEED);
      const random = new Random(TEST_SEED, 8);
      const moments: Moment[] = [];
      grow(world, moments, 35);
      for (let round = 0; round < 6; round++) {
        for (let i = 0; i < 6; i++) {
          const moment = moments[random.int(moments.length)];
          assertPast(world, moment, [...world.outputs().values()].slice(-10));
        }
        if (round % 2 === 1) {
          // Another branch: what was remembered of the old one must not be used.
          const depth = 1 + random.int(10);
          world.back(depth);
          moments.length -= depth;
        }
        grow(world, moments, 1 + random.int(4));
      }
      assert.equal(storedRoot(world, null), null, 'before the first block');
      for (const moment of moments) assert.equal(storedRoot(world, moment.point), moment.root);
      await world.close();
    });

  it('is made once for a point, and moved on when the chain grows', () => {
    const rig = memoryRig(new Devnet(devnetOptions(3, 'conway')));
    const world = cardanoWorld(rig);
    const moments: Moment[] = [];
    grow(world, moments, 20);
    const { trees } = rig.overlays;
    for (let i = 0; i < 3; i++) assertPast(world, moments[10], []);
    assert.deepEqual([trees.built, trees.extended], [1, 0]);
    for (let i = 1; i <= 3; i++) {
      grow(world, moments, 2);
      assertPast(world, moments[10], []);
      assert.deepEqual([trees.built, trees.extended], [1, i]);
    }
    world.back(3);
    assertPast(world, moments[10], []);
    assert.deepEqual([trees.built, trees.extended], [2, 3], 'the tip it was made for is gone');
  });

  it('is refused where too much came and went since, and nothing is remembered of it', () => {
    const rig = memoryRig(new Devnet(devnetOptions(3, 'conway')));
    rig.forward(40, [5]);
    const columns = rig.engine.columns.map(({ name }) => name);
    const overlays = new Overlays(undefined, new PastTrees(30));
    const query = new Query(rig.engine.snapshot(columns), columns, rig.devnet.ledger, overlays);
    const { leaf } = rig.devnet.ledger;
    assertCode(() => query.csmt(leaf!, rig.devnet.chain.blocks[5]), 'LIMIT');
    assert.equal(overlays.trees.built, 0);
    query.csmt(leaf!, rig.devnet.chain.blocks[38]).root();
    assert.equal(overlays.trees.built, 1);
    query.release();
  });

  it('says why there is none', () => {
    const without = memoryRig(new Devnet(devnetOptions(3, 'conway')), { keeps: leaveOut(KEEP_ALL, 'csmt') });
    without.forward(3);
    assertCode(() => without.read((query) => query.csmt(without.devnet.ledger.leaf!)), 'UNSUPPORTED');
    const rig = memoryRig(new Devnet(devnetOptions(3, 'conway')));
    const { leaf } = rig.devnet.ledger;
    assert.equal(
      rig.read((query) => query.csmt(leaf!).root()),
      null,
    );
    rig.forward(30);
    const { blocks } = rig.devnet.chain;
    assertCode(() => rig.read((query) => query.csmt(leaf!, { ...blocks[3], hash: new Uint8Array(32) })), 'POINT_UNKNOWN');
    pruneStep(rig.engine, rig.projections, rig.fold.head!.height, { pruneDepth: 5, rollbackWindow: 8 }, 100);
    assertCode(() => rig.read((query) => query.csmt(leaf!, blocks[3])), 'PRUNED');
    assert.ok(rig.read((query) => query.csmt(leaf!, blocks[27]).root()));
    const batch = rig.engine.batch();
    writeFillStart(batch, 'csmt');
    batch.commit();
    assertCode(() => rig.read((query) => query.csmt(leaf!)), 'INDEX_NOT_READY');
  });
});

type Damage = (batch: Batch, key: Uint8Array, value: Uint8Array) => void;
const flipped = (value: Uint8Array, at: number): Uint8Array => value.with(at, value.at(at)! ^ 1);

/** What may be wrong with a record, and what is said of it. */
const damages: readonly (readonly [what: string, expected: RegExp, damage: Damage])[] = [
  ['is gone', /no leaf|no branch|above it|missing/, (batch, key) => batch.del('csmt', key)],
  ['has another hash in it', /wrong leaf|above it|no branch/, (batch, key, value) => batch.put('csmt', key, flipped(value, -1))],
  ['has another path in it', /leaf|no branch|reference|above it/, (batch, key, value) => batch.put('csmt', key, flipped(value, 2))],
  ['is cut', /is cut|bad reference|no leaf/, (batch, key, value) => batch.put('csmt', key, value.subarray(0, value.length - 3))],
];

describe('verify, of a tree', () => {
  const opened = (): readonly World[] => {
    const cardano = cardanoWorld(memoryRig(new Devnet(devnetOptions(6, 'ancient'))));
    const bitcoin = bitcoinWorld(memoryBitcoin(new PlainChain(6, { wide: 0 })));
    for (const world of [cardano, bitcoin]) world.forward(60, [9]);
    return [cardano, bitcoin];
  };
  const faultsOf = (world: World): readonly Fault[] => {
    const isCardano = world.name === 'cardano';
    const options = isCardano ? VERIFY_ALL : VERIFY_ALL_BITCOIN;
    return verifyStore(world.engine(), world.ledger, options).faults;
  };
  const write = (world: World, body: (batch: Batch) => void): void => {
    const batch = world.engine().batch();
    body(batch);
    batch.commit();
  };

  it('finds nothing wrong with a good one', () => {
    for (const world of opened()) assert.deepEqual(faultsOf(world), []);
  });

  for (const [what, expected, damage] of damages)
    it(`finds any record that ${what}`, () => {
      for (const world of opened()) {
        const rows = [...world.engine().scan('csmt')];
        for (let i = 0; i < rows.length; i += i < rows.length - 3 ? 11 : 1) {
          const [key, value] = rows[i];
          write(world, (batch) => damage(batch, key, value));
          const faults = faultsOf(world);
          assert.ok(faults.length > 0, `${world.name}: ${toHex(key)}`);
          for (const fault of faults) assert.equal(fault.column, 'csmt');
          assert.match(faults.map((fault) => fault.what).join('; '), expected);
          write(world, (batch) => batch.put('csmt', key, value));
        }
        assert.deepEqual(faultsOf(world), []);
      }
    });

  it('finds a record that does not hang in the tree', () => {
    for (const world of opened()) {
      const [, value] = [...world.engine().scan('csmt')].at(-2)!;
      const strange = Uint8Array.of(3, 1, 2, 3, 0x80);
      write(world, (batch) => batch.put('csmt', strange, value));
      const faults = faultsOf(world);
      assert.ok(faults.some((fault) => fault.key === toHex(strange) && /is no branch/.test(fault.what)));
      assert.ok(
        faults.every((fault) => fault.key === '' || fault.key === toHex(strange)),
        'and no other',
      );
    }
  });

  it('finds an empty tree over outputs, and a tree over none', () => {
    for (const world of opened()) {
      world.engine().clear('csmt');
      const [count, ...rest] = faultsOf(world);
      assert.match(count.what, /has 0 leaves/);
      assert.ok(rest.every(({ what }) => /has no leaf of the output/.test(what)));
    }
    const rig = memoryRig(new Devnet(devnetOptions(6, 'conway')));
    const world = cardanoWorld(rig);
    rig.forward(30, [5]);
    const rows = [...rig.engine.scan('csmt')];
    rig.fold.rollback(null);
    write(world, (batch) => {
      for (const [key, value] of rows) batch.put('csmt', key, value);
    });
    assert.match(faultsOf(world)[0].what, /there are 0 unspent outputs/);
  });
});
