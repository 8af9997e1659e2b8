/**
 * A fold whose commits are ahead of what is written: the head and whoever
 * watches are behind until it is, what is read in between is the newest state,
 * and a commit that fails takes those behind it along and nothing else.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openMemory } from '../../src/engine/memory.ts';
import type { Block } from '../../src/ledgers/ledger.ts';
import { readHead } from '../../src/state/head.ts';
import { UnspentError } from '../../src/util/errors.ts';
import { nextTurn } from '../../src/util/time-slice.ts';
import { DelayedEngine } from '../support/delayed-engine.ts';
import { assertIsModel } from '../support/expected.ts';
import { assertCode, assertSameDump, Devnet, devnetOptions, dump, memoryRig, type Rig, type RigOptions } from '../support/harness.ts';

interface DelayedRig {
  readonly rig: Rig;
  readonly engine: DelayedEngine;
}

function delayedRig(seed: number, options: RigOptions = {}): DelayedRig {
  const rig = memoryRig(new Devnet(devnetOptions(seed, 'conway')), { ...options, wrap: (inner) => new DelayedEngine(inner, seed) });
  return { rig, engine: rig.engine as DelayedEngine };
}

/** Applies blocks in groups of three until something is on its way. */
function applyAhead({ rig, engine }: DelayedRig): void {
  do rig.fold.applyAhead(rig.devnet.mine(3));
  while (engine.onTheirWay === 0);
}

const FULL = new UnspentError('DISK_FULL', 'no space is left');

describe('commits ahead of what is written', () => {
  it('move the head and are told in their order, when they are written', () => {
    const one = delayedRig(3);
    const { rig, engine } = one;
    const told: number[] = [];
    rig.fold.watchers.add({
      applied: () => {
        const head = rig.fold.head;
        // Whoever looks at the store waits for the rest, and then finds that it is the head.
        if (told.length % 2 === 0) assert.equal(readHead(engine)?.height, rig.fold.head?.height);
        told.push(head?.height ?? -1);
      },
    });
    for (let turn = 0; turn < 20; turn++) {
      for (let groups = 0; groups < 3; groups++) applyAhead(one);
      const { head, newest } = rig.fold;
      assert.ok((head?.height ?? -1) < (newest?.height ?? -1), 'the head is behind what is planned');
      assert.equal(newest?.height, rig.devnet.chain.tip?.height);
      if (turn % 3 === 0) engine.landOne();
      if (turn % 3 === 1) rig.fold.settle();
      if (turn % 3 === 2)
        assert.equal(
          rig.read((query) => query.head?.height),
          newest?.height,
          'whoever reads waits',
        );
      if (turn % 3 > 0) assert.equal(rig.fold.head?.height, newest?.height);
    }
    rig.fold.settle();
    assert.deepEqual(
      told,
      told.toSorted((a, b) => a - b),
    );
    assert.ok(engine.counts.found > 0, 'steps have read what was on its way');
    assertIsModel(rig);
  });

  it('hold nothing of their blocks meanwhile', async () => {
    const one = delayedRig(4);
    const { rig, engine } = one;
    const decodedAhead = (): WeakRef<Block>[] => {
      const blocks = rig.devnet.mine(3).map(({ raw, height }) => rig.fold.ledger.decode(raw.slice(), height));
      rig.fold.applyAhead(blocks);
      return blocks.map((block) => new WeakRef(block));
    };
    let blocks: WeakRef<Block>[];
    do blocks = decodedAhead();
    while (engine.onTheirWay === 0);
    // What a turn has looked at lives until it is over.
    await nextTurn();
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    assert.ok(engine.onTheirWay > 0);
    assert.deepEqual(
      blocks.map((block) => block.deref()?.height),
      [undefined, undefined, undefined],
    );
    rig.fold.settle();
    assertIsModel(rig);
  });

  for (const how of ['settle', 'applyAhead', 'apply', 'rollback'] as const)
    it(`one that fails is told by ${how}, and the store is at the block before it`, () => {
      for (let seed = 1; seed <= 6; seed++) {
        const one = delayedRig(seed);
        const { rig, engine } = one;
        for (let i = 0; i < 6; i++) applyAhead(one);
        engine.failure = FULL;
        const committed = rig.devnet.blocks();
        const more = rig.devnet.mine(3);
        assertCode(() => {
          if (how === 'settle') rig.fold.settle();
          else if (how === 'rollback') rig.fold.rollback(null);
          // It may be found while the step is planned, which then reads another state than it began with.
          else while (true) rig.fold[how](more.splice(0));
        }, 'DISK_FULL');
        const { head } = rig.fold;
        assert.ok(head !== null && head.height < (committed.at(-1)?.height ?? -1));
        assert.deepEqual(rig.fold.newest, head);
        assert.deepEqual(readHead(engine), head);
        const kept = memoryRig(rig.devnet, { ahead: false });
        kept.apply(committed.slice(0, head.height + 1), [3]);
        assertSameDump(dump(engine), dump(kept.engine), `what was committed before (seed ${seed})`);
        // Nothing that was planned on it is remembered anywhere.
        rig.apply(rig.devnet.blocks(head.height + 1), [3, 1]);
        assertIsModel(rig);
      }
    });

  it('one that fails while a step is planned fails that step, whatever it read', () => {
    const scans = { at: -1, count: 0 };
    class Scanning extends DelayedEngine {
      /** A step that scans waits for what is on its way, and so may find out. */
      override getMany(column: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
        if (scans.count++ === scans.at) [...this.scan('chain', { limit: 1 })];
        return super.getMany(column, keys);
      }
    }
    for (let at = 0; at < 12; at++) {
      const rig = memoryRig(new Devnet(devnetOptions(5, 'conway')), { wrap: (inner) => new Scanning(inner, 5) });
      const engine = rig.engine as Scanning;
      for (let i = 0; i < 4; i++) applyAhead({ rig, engine });
      engine.failure = FULL;
      Object.assign(scans, { at, count: 0 });
      assertCode(() => {
        rig.fold.applyAhead(rig.devnet.mine(4));
        rig.fold.settle();
      }, 'DISK_FULL');
      scans.at = -1;
      rig.apply(rig.devnet.blocks((rig.fold.head?.height ?? -1) + 1), [2]);
      assertIsModel(rig, `found at read ${at}`);
    }
  });

  it('are told to a watcher that throws: whoever applies or settles next hears of it, and the store goes on', () => {
    for (const ahead of [true, false]) {
      const rig = ahead ? delayedRig(4).rig : memoryRig(new Devnet(devnetOptions(4, 'conway')), { ahead });
      let told = 0;
      rig.fold.watchers.add({
        applied() {
          if (told++ === 1) throw new UnspentError('STORE_DAMAGED', 'a row is gone');
        },
      });
      const blocks = rig.devnet.mine(9);
      assertCode(() => {
        for (let at = 0; at < 9; at += 3) rig.fold.applyAhead(blocks.slice(at, at + 3));
        rig.fold.settle();
      }, 'STORE_DAMAGED');
      rig.apply(rig.devnet.blocks((rig.fold.newest?.height ?? -1) + 1), [3]);
      assert.equal(told, 3, 'all steps are told once');
      assertIsModel(rig);
    }
  });

  it('are of no concern to an engine without a thread for them', () => {
    const rig = memoryRig(new Devnet(devnetOptions(1, 'conway')), { ahead: false });
    assert.equal(openMemory([]).ahead, undefined);
    rig.fold.applyAhead(rig.devnet.mine(5));
    assert.equal(rig.fold.head?.height, 4);
  });
});
