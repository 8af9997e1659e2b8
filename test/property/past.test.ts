/**
 * The past: a view of any block still known answers as the chain did then, for
 * every block and for random slots of random chains with forks behind them, and
 * what is no longer known is refused.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Random } from '../../src/chains/random.ts';
import { INDEX_KINDS } from '../../src/projections/index/by-key.ts';
import { parsePlace, pointAt } from '../../src/query/place.ts';
import type { IndexedUtxo, Query } from '../../src/query/query.ts';
import { pruneStep, readPruned } from '../../src/state/pruned.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { assertViewIs, ChainModel, nameOf } from '../query/model.ts';
import {
  assertCode,
  Devnet,
  devnetOptions,
  KEEP_ALL,
  memoryRig,
  type Rig,
  type RigOptions,
  rocksRig,
  TEST_SEED,
} from '../support/harness.ts';
import { leaveOut } from '../support/keep.ts';

const scenarios = fc.record({
  seed: fc.nat({ max: 1_000_000 }),
  flavour: fc.constantFrom('conway' as const, 'ancient' as const),
  selfContained: fc.boolean(),
  balances: fc.boolean(),
  forks: fc.array(fc.record({ forward: fc.integer({ min: 1, max: 25 }), back: fc.integer({ min: 0, max: 20 }) }), { maxLength: 3 }),
  last: fc.integer({ min: 1, max: 30 }),
});
type Scenario = typeof scenarios extends fc.Arbitrary<infer T> ? T : never;

function walk(rig: Rig, { forks, last }: Pick<Scenario, 'forks' | 'last'>): void {
  const { chain } = rig.devnet;
  for (const { forward, back } of forks) {
    rig.forward(forward, [3, 1, 7]);
    const depth = Math.min(back, chain.blocks.length);
    rig.fold.rollback(rig.devnet.pointBelow(depth));
    chain.rollback(depth);
  }
  rig.forward(last, [2, 5]);
}

/** Every block, and random slots between them. */
function checkEveryPoint(query: Query, model: ChainModel, random: Random): void {
  for (const [number, block] of model.blocks.entries()) assertViewIs(query.at(block), model, number);
  const tip = model.blocks.at(-1)!;
  for (let i = 0; i < 5; i++) {
    const slot = random.int(tip.slot + 1);
    assertViewIs(query.at(pointAt(query, parsePlace(`slot:${slot}`), { formatId: toHex })), model, model.numberAtSlot(slot));
  }
  assertViewIs(query.at(null), model, -1);
}

/** Pages of any sizes, either way, put together are the whole; also across points, since rows stay where they are. */
function checkPages(query: Query, model: ChainModel, random: Random): void {
  for (let i = 0; i < 6; i++) {
    const number = random.int(model.blocks.length);
    const view = query.at(model.blocks[number]);
    const kind = random.pick(INDEX_KINDS);
    for (const [key, utxos] of model.indexAt(number, kind)) {
      const order = random.chance(0.5) ? 'asc' : 'desc';
      const wanted = utxos.map((utxo) => utxo.key);
      if (order === 'desc') wanted.reverse();
      const found: IndexedUtxo[] = [];
      for (;;) {
        const limit = 1 + random.int(4);
        const page = [...view.byKey(kind, fromHex(key), { order, limit, after: found.at(-1)?.cursor })];
        found.push(...page);
        assert.ok(page.length <= limit);
        if (page.length < limit) break;
      }
      assert.deepEqual(found.map(nameOf), wanted);
    }
    for (const [key] of model.indexAt(number, kind)) assert.deepEqual([...view.byKey(kind, fromHex(key), { limit: 0 })], []);
  }
}

async function check(scenario: Scenario, open: (devnet: Devnet, options: RigOptions) => Rig | Promise<Rig>): Promise<void> {
  const { seed, flavour, selfContained, balances } = scenario;
  const rig = await open(new Devnet(devnetOptions(seed, flavour)), {
    selfContained,
    keeps: balances ? KEEP_ALL : leaveOut(KEEP_ALL, 'balance'),
  });
  try {
    walk(rig, scenario);
    const model = new ChainModel(rig.devnet);
    rig.read((query) => {
      checkEveryPoint(query, model, new Random(seed));
      checkPages(query, model, new Random(seed, 1));
    });
  } finally {
    await rig.close();
  }
}

describe('the chain as it was', () => {
  it('is told for every block and slot, in memory', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, (scenario) => check(scenario, memoryRig)),
      { seed: TEST_SEED, numRuns: 40 },
    );
  });

  it('the same on RocksDB', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, (scenario) => check(scenario, rocksRig)),
      { seed: TEST_SEED + 1, numRuns: 6 },
    );
  });

  it('is told while blocks come and go, from what was read before', () => {
    let extended = 0;
    const property = fc.property(scenarios, fc.nat(), (scenario, salt) => {
      const rig = memoryRig(new Devnet(devnetOptions(scenario.seed, scenario.flavour)), { selfContained: scenario.selfContained });
      const random = new Random(salt);
      const { chain } = rig.devnet;
      rig.forward(15);
      const points = [3, 8, 14];
      for (let round = 0; round < 10; round++) {
        if (random.chance(0.3)) {
          const depth = random.int(Math.min(6, chain.blocks.length - 15) + 1);
          rig.fold.rollback(rig.devnet.pointBelow(depth));
          chain.rollback(depth);
        } else rig.forward(1 + random.int(4), [2]);
        const model = new ChainModel(rig.devnet);
        rig.read((query) => {
          const number = random.pick(points);
          assertViewIs(query.at(model.blocks[number]), model, number, { kinds: ['address', 'asset'] });
        });
      }
      extended += rig.overlays.extended;
    });
    fc.assert(property, { seed: TEST_SEED + 2, numRuns: 25 });
    assert.ok(extended > 25, 'what was read before was of use');
  });

  it('is read once for as many questions as there are about it', () => {
    const rig = memoryRig(new Devnet(devnetOptions(4, 'conway')));
    rig.forward(40);
    const [point] = rig.devnet.chain.blocks.slice(20);
    for (let i = 0; i < 5; i++) rig.read((query) => query.at(point));
    assert.deepEqual([rig.overlays.built, rig.overlays.extended], [1, 0]);
    rig.forward(3);
    for (let i = 0; i < 5; i++) rig.read((query) => query.at(point));
    assert.deepEqual([rig.overlays.built, rig.overlays.extended], [1, 1]);
  });
});

describe('a past that was pruned', () => {
  const pruned = (selfContained: boolean, flavour: 'conway' | 'ancient') => {
    const rig = memoryRig(new Devnet(devnetOptions(7, flavour)), { selfContained, pruneDepth: 12, rollbackWindow: 20 });
    rig.forward(70, [4]);
    while (!pruneStep(rig.engine, rig.projections, rig.fold.head!.height, rig.options, 5).done);
    return rig;
  };

  for (const flavour of ['conway', 'ancient'] as const) {
    for (const selfContained of [false, true]) {
      it(`is refused, and what is above it is told (${flavour}${selfContained ? ', undo records that carry their outputs' : ''})`, () => {
        const rig = pruned(selfContained, flavour);
        const model = new ChainModel(rig.devnet);
        const { spent, deltas } = readPruned(rig.engine);
        const knownFrom = selfContained ? deltas : spent;
        assert.ok(deltas > 0 && spent > deltas);
        let refused = 0;
        rig.read((query) => {
          for (const [number, block] of model.blocks.entries()) {
            const next = model.blocks[number + 1];
            if (next === undefined || next.height > knownFrom) {
              assertViewIs(query.at(block), model, number, { forgotten: spent });
              continue;
            }
            refused++;
            assert.throws(
              () => query.at(block),
              (error: { code?: string; message?: string; meta?: { knownFrom?: number } }) => {
                assert.equal(error.code, 'PRUNED');
                assert.match(error.message ?? '', new RegExp(`from height ${knownFrom} on`));
                assert.equal(error.meta?.knownFrom, knownFrom);
                return true;
              },
            );
          }
          assertViewIs(query.at(null), model, -1);
        });
        assert.ok(refused > 10);
      });
    }
  }

  it('is not mistaken for one that never was', () => {
    const rig = memoryRig(new Devnet(devnetOptions(9, 'conway')));
    rig.forward(10);
    const left = rig.devnet.chain.tip!;
    rig.fold.rollback(rig.devnet.pointBelow(3));
    rig.devnet.chain.rollback(3);
    rig.forward(5);
    rig.read((query) => {
      assertCode(() => query.at(left), 'POINT_UNKNOWN');
      assertCode(() => query.at({ height: 99, slot: 99, hash: new Uint8Array(32) }), 'POINT_UNKNOWN');
    });
    const empty = memoryRig(new Devnet(devnetOptions(9, 'conway')));
    empty.read((query) => {
      assertCode(() => query.at(left), 'POINT_UNKNOWN');
      assert.equal(query.at(null).head, null);
    });
  });
});
