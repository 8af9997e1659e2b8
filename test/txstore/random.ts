/**
 * SD68 for a transaction store: random lives beside the model, with P1 to P8.
 * Lives that failed once are kept, and lived first. UNSPENT_TEST_SEED chooses
 * other lives.
 */
import assert from 'node:assert/strict';
import { mix32, Random } from '../../src/chains/random.ts';
import { TxStorePair } from './support/pair.ts';
import { checkParents } from './support/properties.ts';
import { RandomNode } from './support/random-node.ts';
import type { OpenTxStore } from './support/world.ts';

/** Seeds of lives that failed once, in whichever store. */
const FAILED_BEFORE: readonly number[] = [126043329];

/** What lives are like. */
export interface LifeKind {
  /** W is this, or up to three more; R up to two more than W. A reorganisation undoes up to W blocks. */
  readonly window: number;
  readonly steps: number;
  /** Chunks of a pass at the same time. On a server they end in any order: there one at a time can be compared. */
  readonly parallelChunks: number;
}

/** Enough steps for chains to grow and fall, few enough that every record is looked at after each. */
export const SHORT_LIVES: LifeKind = { window: 3, steps: 150, parallelChunks: 2 };
/** With the window of the specification. */
export const LONG_LIVES: LifeKind = { window: 60, steps: 2000, parallelChunks: 2 };

/** Steps after which all records are compared. */
const COMPARE_EVERY = 15;

/** What must have happened in a run of thousands of calls for it to show anything. */
const MUST_HAPPEN = [
  'tx',
  'rival',
  'block',
  'winner',
  'undone',
  'evict',
  'respend',
  'side',
  'lock',
  'freeze',
  'unfreeze',
  'reassign',
].concat(['preserve', 'pruned', 'INVALID_SPEND', 'TX_NOT_FOUND']);

/** What happens so seldom that only longer runs have it for certain; and what short runs have by chance. */
const MUST_HAPPEN_IN_TIME = ['again'];
const LONG_RUN_CALLS = 50_000;
const SHORT_RUN_CALLS = 10_000;

/** Lives until so many calls were made; returns how often what happened. `open` null: the model alone. */
export async function runRandomTxLives(
  kind: LifeKind,
  open: OpenTxStore | null,
  calls: number,
  firstSeed: number,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  let made = 0;
  for (const seed of FAILED_BEFORE) await live({ ...SHORT_LIVES, parallelChunks: kind.parallelChunks }, seed, open, counts);
  for (let n = 0; made < calls; n++) made += await live(kind, mix32(firstSeed, n), open, counts);
  if (calls < SHORT_RUN_CALLS) return counts;
  assert.deepEqual(
    [...MUST_HAPPEN, ...(calls < LONG_RUN_CALLS ? [] : MUST_HAPPEN_IN_TIME)].filter((what) => !counts.has(what)),
    [],
  );
  return counts;
}

/** Returns how many calls it took. */
async function live(kind: LifeKind, seed: number, open: OpenTxStore | null, counts: Map<string, number>): Promise<number> {
  const random = new Random(seed);
  const window = kind.window + random.int(4);
  const settings = { window, retention: window + random.int(3) };
  const pair = await TxStorePair.open(settings, open);
  const node = new RandomNode(random, pair, settings, kind.parallelChunks);
  let [step, action] = [0, 'open'];
  try {
    for (; step < kind.steps; step++) {
      action = await node.step();
      checkParents(pair.model.records());
      if (step % COMPARE_EVERY === 0) await pair.compare();
    }
    await node.rest();
    await pair.compare();
  } catch (cause) {
    throw new Error(`seed ${seed}, step ${step}, after ${action}: ${(cause as Error).message}`, { cause });
  } finally {
    await pair.close();
  }
  for (const [what, count] of node.counts) counts.set(what, (counts.get(what) ?? 0) + count);
  return pair.calls;
}
