/**
 * W83 and W74 for a wallet store: random lives beside the model. Lives that
 * failed once are kept, and lived first. UNSPENT_TEST_SEED chooses other lives.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mix32 } from '../../src/chains/random.ts';
import { TEST_SEED } from '../support/harness.ts';
import type { FailedLife, RandomCounts, RandomLives } from './support/random-run.ts';

/** In whichever store. */
const FAILED_BEFORE: readonly FailedLife[] = [
  { seed: 2_299_928_686, length: 80 },
  { seed: 2_040_139_441, length: 80 },
  { seed: 717_102_679, length: 80 },
];

/** How many lives, and how closely they are watched. */
export interface RandomRunLength {
  /** Calls in all. */
  readonly events: number;
  /** Calls of one life: enough for branches to grow and fall, few enough that every row is looked at after each. */
  readonly length: number;
  /** Rows, events and sums of store and model are compared after so many calls. */
  readonly compareEvery: number;
  readonly firstSeed?: number;
  /** Tests that share the calls, one after the other: each has the time limit of a test to itself. */
  readonly parts?: number;
}

/** Watched most closely, in short: a difference that is gone again by the next comparison shows here. */
const CLOSELY = { events: 160, length: 80, compareEvery: 1 } as const;

/** What must have happened in a run of thousands of calls for it to show anything. */
const MUST_HAPPEN = [
  'create',
  'batch',
  'scan',
  'connect',
  'rollback',
  'rewind',
  'sync',
  'update',
  'invalidate',
  'delete',
  'mempool',
  'prune',
  'lease',
  'release',
  'expire',
  'select',
].map((kind) => `${kind} done`);
const MUST_BE_REFUSED = [
  'INPUT_CONFLICT',
  'PARENT_DEAD',
  'TX_EXISTS',
  'BLOCK_UNKNOWN',
  'BLOCK_MISMATCH',
  'CHAIN_INCONSISTENT',
  'TX_HAS_CHILDREN',
  'COIN_LEASED',
  'FEED_MOVED',
];

/** `live` runs them in the store. */
export function runRandomWallets(
  name: string,
  live: (lives: RandomLives) => Promise<RandomCounts>,
  { firstSeed = TEST_SEED, parts = 1, ...run }: RandomRunLength,
): void {
  describe(`wallets: ${name}`, () => {
    const seen: string[] = [];
    const events = Math.ceil(run.events / parts);
    for (let part = 0; part < parts; part++) {
      const seed = part === 0 ? firstSeed : mix32(firstSeed, part);
      it(`W83 ${events} random calls from seed ${seed}: the invariants hold after each, and every row is that of the model`, async () => {
        seen.push(...(await live({ ...run, events, firstSeed: seed, failedBefore: part === 0 ? FAILED_BEFORE : [] })).keys());
      });
    }

    it(`W83 ${CLOSELY.events} random calls, with every row of the store compared after each, and each done again`, async () => {
      seen.push(...(await live({ ...CLOSELY, firstSeed: mix32(firstSeed, parts), failedBefore: [] })).keys());
    });

    it('W83 every kind of call was done, and refused for every reason', () => {
      assert.deepEqual(
        MUST_HAPPEN.filter((key) => !seen.includes(key)),
        [],
      );
      assert.deepEqual(
        MUST_BE_REFUSED.filter((code) => !seen.some((key) => key.endsWith(code))),
        [],
      );
    });
  });
}
