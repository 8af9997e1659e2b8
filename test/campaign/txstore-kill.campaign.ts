/**
 * The kill test of the embedded transaction store at length: before and after
 * every commit of every change and of a prune pass, then at random moments, on
 * RocksDB and on SQLite. UNSPENT_CAMPAIGN_KILLS (100 at random unless said) and
 * UNSPENT_CAMPAIGN_SEED (1 unless said) change its length and its course.
 */
import { test } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { tellInMemory } from '../txstore/support/kill-story.ts';
import { killAtCommit, killAtRandom } from '../txstore/support/kills.ts';

const KILLS = Number(process.env['UNSPENT_CAMPAIGN_KILLS'] ?? 100);
const SEED = Number(process.env['UNSPENT_CAMPAIGN_SEED'] ?? 1);
/** The story takes less. */
const DELAY_MS_MAX = 150;

for (const kind of ['rocks', 'sqlite'] as const) {
  test(`transaction store: kills at every commit, ${kind}`, async (t) => {
    const story = await tellInMemory();
    for (let nth = 1; nth < story.states.length; nth++) {
      await killAtCommit(kind, story, 'before', nth);
      await killAtCommit(kind, story, 'after', nth);
    }
    t.diagnostic(`${2 * (story.states.length - 1)} kills`);
  });

  test(`transaction store: ${KILLS} kills at random, ${kind}`, async (t) => {
    const random = new Random(SEED);
    const story = await tellInMemory();
    const told: number[] = [];
    for (let n = 0; n < KILLS; n++) told.push(await killAtRandom(kind, story, random.int(DELAY_MS_MAX)));
    t.diagnostic(`after ${Math.min(...told)} to ${Math.max(...told)} of ${story.states.length - 1} commits`);
  });
}
