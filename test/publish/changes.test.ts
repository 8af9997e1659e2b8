/**
 * Changes, as a property: over random chains of both families, with any grouping,
 * rollbacks, pruning and publishers that come and go, a copy that takes them in
 * is byte for byte the store, after every round.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { PublishedStore } from '../../src/publish/published-store.ts';
import { pruneStep } from '../../src/state/pruned.ts';
import { PlainChain } from '../support/bitcoin-chain.ts';
import { memoryBitcoin } from '../support/bitcoin-rig.ts';
import { assertSameDump, Devnet, devnetOptions, dump, type Flavour, KEEP_ALL, memoryRig, TEST_SEED } from '../support/harness.ts';
import { MemoryTarget } from '../support/publish/memory-target.ts';
import { publishedStore, publishOnce, startPublisher } from '../support/publish/rig.ts';

/** A store that moves, whatever its family. */
interface Moving {
  readonly store: PublishedStore;
  readonly length: number;
  readonly floor: number;
  forward(count: number, groups: readonly number[]): void;
  back(depth: number): void;
  prune(blocks: number): void;
}

interface Turn {
  readonly forward: number;
  readonly back: number;
  readonly prune: number;
  /** The publisher is another one from here on. */
  readonly restart: boolean;
  /** Nothing is published in between. */
  readonly silent: boolean;
}

const turns = fc.array(
  fc.record<Turn>({
    forward: fc.integer({ min: 0, max: 9 }),
    back: fc.integer({ min: 0, max: 6 }),
    prune: fc.integer({ min: 0, max: 8 }),
    restart: fc.boolean(),
    silent: fc.boolean(),
  }),
  { minLength: 3, maxLength: 9 },
);
const groups = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 });
/** Depths of pruning, and how much further undo records reach. */
const windows = fc.tuple(fc.integer({ min: 7, max: 20 }), fc.integer({ min: 0, max: 10 }));

/** What the walks have met, so that one gone tame is noticed. */
const met = { snapshots: 0, undone: 0, remoteReads: 0, upkeep: 0 };

async function walk(moving: Moving, all: readonly Turn[], sizes: readonly number[]): Promise<void> {
  const target = new MemoryTarget();
  let upkeep = 0;
  const options = {
    onPublished: (_: unknown, changes: readonly { readonly kind: string }[]) => {
      upkeep += changes.filter(({ kind }) => kind === 'upkeep').length;
    },
  };
  moving.forward(3, sizes);
  let publisher = await startPublisher(moving.store, target, options);
  let snapshots = 0;
  const check = async (what: string): Promise<void> => {
    if (await publishOnce(publisher)) snapshots++;
    assertSameDump(target.dump(), dump(moving.store.engine), what);
  };
  await check('the snapshot');
  for (const [i, turn] of all.entries()) {
    const back = Math.min(turn.back, moving.length - moving.floor);
    if (back > 0) moving.back(back);
    if (!turn.silent) await check(`turn ${i}: back by ${back}`);
    if (turn.restart) {
      publisher.close();
      met.undone += publisher.counts.undone;
      publisher = await startPublisher(moving.store, target, options);
    }
    moving.forward(turn.forward, sizes);
    moving.prune(turn.prune);
    if (!turn.silent) await check(`turn ${i}: forward by ${turn.forward}, pruned ${turn.prune}`);
  }
  await check('the end');
  publisher.close();
  met.snapshots += snapshots;
  met.undone += publisher.counts.undone;
  met.remoteReads += target.reads;
  met.upkeep += upkeep;
}

function cardano(seed: number, flavour: Flavour, selfContained: boolean, [pruneDepth, more]: readonly [number, number]): Moving {
  const devnet = new Devnet(devnetOptions(seed, flavour), { dressed: true });
  const rig = memoryRig(devnet, { selfContained, pruneDepth, rollbackWindow: pruneDepth + more, keeps: [...KEEP_ALL, 'mmr'] });
  return {
    store: publishedStore(rig, 'devnet', devnet.ledger),
    get length() {
      return devnet.chain.blocks.length;
    },
    get floor() {
      // Boundary blocks share their height, so that there are more blocks than heights.
      const height = rig.fold.horizonHeight;
      return height === null ? 0 : devnet.chain.blocks.filter((block) => block.height <= height).length;
    },
    forward: (count, sizes) => rig.forward(count, sizes),
    back(depth) {
      rig.fold.rollback(devnet.pointBelow(depth));
      devnet.chain.rollback(depth);
    },
    prune: (blocks) => {
      if (blocks > 0) pruneStep(rig.engine, rig.projections, rig.fold.head?.height ?? 0, rig.options, blocks);
    },
  };
}

function bitcoin(seed: number, selfContained: boolean, [pruneDepth, more]: readonly [number, number]): Moving {
  const chain = new PlainChain(seed);
  const rig = memoryBitcoin(chain, { selfContained, pruneDepth, rollbackWindow: pruneDepth + more });
  return {
    store: publishedStore(rig, 'bitcoin-regtest', rig.ledger),
    get length() {
      return chain.blocks.length;
    },
    get floor() {
      return (rig.fold.horizonHeight ?? -1) + 1;
    },
    forward: (count, sizes) => rig.forward(count, sizes),
    back: (depth) => rig.back(depth),
    prune: (blocks) => {
      if (blocks > 0) pruneStep(rig.engine, rig.projections, rig.fold.head?.height ?? 0, rig.options, blocks);
    },
  };
}

describe('a copy that takes in every change is the store', () => {
  it('of Cardano', async () => {
    const property = fc.asyncProperty(
      fc.nat(),
      fc.constantFrom<Flavour>('conway', 'ancient'),
      fc.boolean(),
      windows,
      turns,
      groups,
      (seed, flavour, selfContained, window, all, sizes) => walk(cardano(seed, flavour, selfContained, window), all, sizes),
    );
    await fc.assert(property, { seed: TEST_SEED, numRuns: 25, endOnFailure: true });
  });

  it('of Bitcoin', async () => {
    const property = fc.asyncProperty(fc.nat(), fc.boolean(), windows, turns, groups, (seed, selfContained, window, all, sizes) =>
      walk(bitcoin(seed, selfContained, window), all, sizes),
    );
    await fc.assert(property, { seed: TEST_SEED, numRuns: 25, endOnFailure: true });
  });

  it('has met rollbacks, pruning, and blocks that only the copy knew', () => {
    assert.ok(met.undone > 0 && met.upkeep > 0 && met.remoteReads > 0, JSON.stringify(met));
    assert.ok(met.snapshots < 200, JSON.stringify(met));
  });
});
