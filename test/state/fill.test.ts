/**
 * Back-filling under load: projections are switched on and off at random while
 * blocks come and go between the steps of the fill, over random chains. At
 * every moment a filling projection is that of the unspent set up to its
 * cursor; ready, it is byte for byte the one built from the first block.
 */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { readFills } from '../../src/state/fill.ts';
import { compareBytes } from '../../src/util/bytes.ts';
import { FillRig, switchable } from '../support/fill-rig.ts';
import { assertCode, assertSameDump, Devnet, devnetOptions, dump, type Flavour, TEST_SEED } from '../support/harness.ts';
import { ROUNDS } from '../support/rounds.ts';
import { WatchedEngine } from '../support/watched-engine.ts';

type Action =
  | { readonly do: 'forward'; readonly blocks: number; readonly groups: readonly number[] }
  | { readonly do: 'back'; readonly blocks: number }
  | { readonly do: 'fill'; readonly rows: number; readonly steps: number }
  | { readonly do: 'on'; readonly which: readonly number[] }
  | { readonly do: 'off'; readonly which: readonly number[] }
  | { readonly do: 'restart' };

interface Scenario {
  readonly seed: number;
  readonly flavour: Flavour;
  readonly selfContained: boolean;
  readonly before: number;
  readonly first: readonly number[];
  readonly actions: readonly Action[];
  /** Blocks undone at the end, when everything is ready. */
  readonly undone: number;
}

/** Scenarios that failed once; they are tried before any other, for ever. */
const FAILED_BEFORE: readonly [Scenario][] = [];

const groups = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 3 });
const which = fc.uniqueArray(fc.nat({ max: 10 }), { minLength: 1, maxLength: 5 });
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('forward' as const), blocks: fc.integer({ min: 1, max: 8 }), groups }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('back' as const), blocks: fc.integer({ min: 1, max: 14 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('back' as const), blocks: fc.integer({ min: 20, max: 80 }) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('fill' as const),
      rows: fc.integer({ min: 1, max: 40 }),
      steps: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('on' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('off' as const), which }) },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
);

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  seed: fc.nat(),
  flavour: fc.constantFrom<Flavour>('conway', 'ancient'),
  selfContained: fc.boolean(),
  before: fc.nat({ max: 50 }),
  first: which,
  actions: fc.array(action, { minLength: 4, maxLength: 22 }),
  undone: fc.integer({ min: 1, max: 80 }),
});

/** What the scenarios have met, so that a generator gone tame is noticed. */
const met = {
  forwardMeanwhile: 0,
  backMeanwhile: 0,
  belowTheStart: 0,
  restarts: 0,
  apart: 0,
  joined: 0,
  offMeanwhile: 0,
  again: 0,
  ready: 0,
};

async function play(scenario: Scenario, rig: FillRig): Promise<void> {
  const { before, first, actions, undone } = scenario;
  const all = switchable(rig.devnet);
  const named = (list: readonly number[]) => list.flatMap((i) => all[i] ?? []);
  const started = new Map<string, number>();
  const dropped = new Set<string>();
  const switchOn = (names: readonly string[]): void => {
    for (const name of names) if (dropped.has(name) && !rig.on.has(name)) met.again++;
    rig.switchOn(names);
    for (const name of rig.cursors().keys()) if (!started.has(name)) started.set(name, rig.devnet.chain.blocks.length);
  };
  if (before > 0) rig.forward(before, [7, 1]);
  switchOn(named(first));
  rig.assertInvariant('at the start');
  for (const [number, now] of actions.entries()) {
    const when = `action ${number} (${now.do})`;
    const filling = [...rig.cursors().keys()];
    if (now.do === 'forward') {
      rig.forward(now.blocks, now.groups);
      if (filling.length > 0) met.forwardMeanwhile++;
    } else if (now.do === 'back') {
      rig.back(now.blocks);
      if (filling.length > 0) met.backMeanwhile++;
      if (filling.some((name) => started.get(name)! > rig.devnet.chain.blocks.length)) met.belowTheStart++;
    } else if (now.do === 'on') switchOn(named(now.which));
    else if (now.do === 'off') {
      const names = named(now.which);
      if (names.some((name) => filling.includes(name))) met.offMeanwhile++;
      for (const name of names) if (rig.on.has(name)) dropped.add(name);
      rig.switchOff(names);
      for (const name of names) started.delete(name);
    } else if (now.do === 'restart') {
      await rig.restart();
      if (filling.length > 0) met.restarts++;
    } else if (now.do === 'fill') fillSome(rig, now.rows, now.steps, when);
    rig.assertInvariant(when);
  }
  rig.fill({ rows: 37, bytes: 10_000 });
  rig.assertAsFromGenesis('at the end');
  rig.back(undone);
  rig.assertInvariant('after the undo');
  rig.assertAsFromGenesis('after the undo of blocks from before the fill');
  rig.forward(5, [2]);
  rig.assertAsFromGenesis('forward again');
}

/** Each step is checked, and everything against a whole store where something has become ready. */
function fillSome(rig: FillRig, rows: number, steps: number, when: string): void {
  for (let step = 0; step < steps && !rig.fills.isDone; step++) {
    const before = rig.cursors();
    if (new Set(Array.from(before.values(), (cursor) => Buffer.from(cursor).toString('hex'))).size > 1) met.apart++;
    const taken = rig.fills.step({ rows, bytes: 20_000 });
    const after = rig.cursors();
    assert.ok(taken <= rows);
    const moved = [...before].filter(([name, cursor]) => compareBytes(after.get(name) ?? LAST, cursor) > 0);
    assert.ok(moved.length > 0, `${when}: a step leads on`);
    if (moved.length > 1) met.joined++;
    rig.assertInvariant(`${when}, step ${step}`);
    if (after.size < before.size) {
      met.ready++;
      rig.assertAsFromGenesis(`${when}, step ${step}, ready`);
    }
  }
}

const LAST = new Uint8Array(40).fill(0xff);

/** Some hundred outputs, so that a fill takes a while. */
const grown = (seed: number, flavour: Flavour) =>
  new Devnet({ ...devnetOptions(seed, flavour), addresses: 16, txPerBlock: 3 }, { dressed: true });
const devnetOf = ({ seed, flavour }: Scenario) => grown(seed, flavour);

describe('a fill while blocks come and go', () => {
  const check = (open: (scenario: Scenario) => FillRig | Promise<FillRig>) =>
    fc.asyncProperty(scenarios, async (scenario) => {
      const rig = await open(scenario);
      try {
        await play(scenario, rig);
      } finally {
        await rig.close();
      }
    });

  it('in memory', async () => {
    const property = check((scenario) => FillRig.memory(devnetOf(scenario), { selfContained: scenario.selfContained }));
    await fc.assert(property, { seed: TEST_SEED, numRuns: 60 * ROUNDS, examples: [...FAILED_BEFORE] });
  });

  it('on RocksDB', async () => {
    const property = check((scenario) => FillRig.rocks(devnetOf(scenario), { selfContained: scenario.selfContained }));
    await fc.assert(property, { seed: TEST_SEED + 1, numRuns: 15, examples: [...FAILED_BEFORE] });
  });

  after(() => {
    const never = Object.entries(met).filter(([, count]) => count === 0);
    assert.deepEqual(never, [], 'everything that can happen to a fill has happened');
  });
});

describe('each projection by itself', () => {
  const names = switchable(new Devnet(devnetOptions(1, 'conway')));

  it('is every one a setting can switch', () => {
    assert.deepEqual(names.slice(0, 3), ['index.address', 'index.payment', 'index.stake']);
    assert.ok(names.length >= 3);
  });

  for (const name of names) {
    it(`${name} is filled one output at a time, a block and a rollback after each`, () => {
      const rig = FillRig.memory(grown(7, 'conway'));
      rig.forward(25, [1]);
      rig.switchOn([name]);
      for (let turn = 0; !rig.fills.isDone; turn++) {
        if (turn % 3 === 0) rig.forward(2, [1]);
        if (turn % 3 === 1) rig.back(turn % 2 === 0 ? 1 : 3);
        rig.fills.step({ rows: 1 + Math.floor(turn / 40), bytes: 1_000_000 });
        rig.assertInvariant(`turn ${turn}`);
      }
      rig.assertAsFromGenesis('ready');
    });
  }
});

describe('a step of a fill', () => {
  const open = () => FillRig.memory(grown(11, 'conway'), { wrap: (engine) => new WatchedEngine(engine) });

  it('is bounded by rows and by bytes, and reads nothing twice', () => {
    const rig = open();
    rig.forward(30, [5]);
    const engine = rig.engine as WatchedEngine;
    const total = rig.fold.head!.utxos;
    rig.switchOn(['index.address']);
    engine.forget();
    let steps = 0;
    for (; !rig.fills.isDone; steps++) assert.ok(rig.fills.step({ rows: 10, bytes: 1_000_000 }) <= 10);
    assert.equal(steps, Math.floor(total / 10) + 1);
    assert.equal(engine.scanned.filter(({ column }) => column === 'utxo_unspent').length, total);
    assert.equal(new Set(engine.scanned.filter(({ column }) => column === 'utxo_unspent').map(({ key }) => key)).size, total);
    rig.switchOff(['index.address']);
    rig.switchOn(['index.address']);
    // Each output has more bytes than that: one a step.
    assert.equal(rig.fill({ rows: 1000, bytes: 1 }), total + 1);
    rig.assertAsFromGenesis('filled by bytes');
  });

  it('changes nothing when it cannot be committed, and goes on', () => {
    const rig = open();
    rig.forward(30, [5]);
    rig.switchOn(['index.payment', 'balance.address']);
    rig.fills.step({ rows: 20, bytes: 1_000_000 });
    const before = dump(rig.engine);
    const progress = rig.fills.progress();
    for (let turn = 0; turn < 3; turn++) {
      (rig.engine as WatchedEngine).failure = new Error('no space');
      assert.throws(() => rig.fills.step({ rows: 20, bytes: 1_000_000 }), /no space/);
      assertSameDump(dump(rig.engine), before, 'after a failed step');
      assert.deepEqual(rig.fills.progress(), progress);
    }
    rig.forward(3, [1]);
    rig.assertInvariant('after a failed step and a block');
    rig.fill({ rows: 20, bytes: 1_000_000 });
    rig.assertAsFromGenesis('after a failed step');
  });

  it('leaves the fold as it was when a block cannot be committed meanwhile', () => {
    const rig = open();
    rig.forward(20, [5]);
    rig.switchOn(['index.address']);
    rig.fills.step({ rows: 20, bytes: 1_000_000 });
    const before = dump(rig.engine);
    const [block] = rig.devnet.mine(1);
    (rig.engine as WatchedEngine).failure = new Error('no space');
    assert.throws(() => rig.fold.apply([block]), /no space/);
    assertSameDump(dump(rig.engine), before, 'after a failed block');
    rig.fold.apply([block]);
    rig.fill();
    rig.assertAsFromGenesis('after all');
  });

  it('shares one scan with those at the same place, and lets the one behind catch up', () => {
    const rig = open();
    rig.forward(30, [5]);
    const engine = rig.engine as WatchedEngine;
    const total = rig.fold.head!.utxos;
    rig.switchOn(['index.address']);
    rig.fills.step({ rows: 50, bytes: 1_000_000 });
    rig.switchOn(['index.stake', 'balance.stake']);
    engine.forget();
    for (const taken of [30, 20, 30]) assert.equal(rig.fills.step({ rows: 30, bytes: 1_000_000 }), taken);
    assert.equal(new Set(Array.from(rig.cursors().values(), (cursor) => Buffer.from(cursor).toString('hex'))).size, 1);
    rig.fill({ rows: 30, bytes: 1_000_000 });
    assert.equal(engine.scanned.filter(({ column }) => column === 'utxo_unspent').length, total);
    rig.assertAsFromGenesis('together');
  });

  it('tells how far it is by the place among all ids', () => {
    const rig = open();
    rig.forward(40, [5]);
    rig.switchOn(['index.address']);
    const total = rig.fold.head!.utxos;
    assert.deepEqual(rig.fills.progress(), [{ projection: 'index.address', done: 0, rows: 0 }]);
    rig.fills.step({ rows: Math.floor(total / 2), bytes: 1e9 });
    const [{ done, rows }] = rig.fills.progress();
    assert.equal(rows, Math.floor(total / 2));
    assert.ok(Math.abs(done - 0.5) < 0.15, `${done}`);
    rig.fill();
    assert.deepEqual(rig.fills.progress(), []);
    assert.equal(rig.fills.step(), 0);
  });

  it('finds nothing to do where there is no output, and ends', () => {
    const rig = open();
    rig.forward(5, [1]);
    rig.switchOn(['index.address', 'index.payment']);
    rig.back(5);
    assert.equal(rig.cursors().size, 2);
    assert.equal(rig.fills.step(), 0);
    assert.equal(rig.cursors().size, 0);
    rig.forward(5, [1]);
    rig.assertAsFromGenesis('from nothing');
  });

  it('refuses a cursor that is none', () => {
    const rig = open();
    rig.forward(5, [1]);
    rig.switchOn(['index.address']);
    const batch = rig.engine.batch();
    const [[key]] = rig.engine.scan('chain', { gte: Uint8Array.of(0xff, 0x66), lt: Uint8Array.of(0xff, 0x67) });
    batch.put('chain', key, new Uint8Array(33));
    batch.commit();
    assertCode(() => readFills(rig.engine), 'STORE_DAMAGED');
  });
});
