/**
 * The crash tests for a store of the Bitcoin family with its history and the
 * hash of its set: `kill -9` at random moments, and a log that ends at any byte.
 * What is left is the state of one block exactly, nothing acknowledged is lost,
 * and following goes on from there.
 */
import { equal, ok } from 'node:assert/strict';
import { cpSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { BitcoinStory } from '../support/bitcoin-story.ts';
import { CrashCampaign, runCampaign } from '../support/crash-campaign.ts';
import { headOf } from '../support/crash-check.ts';
import { openCrashStore, temporaryFolder } from '../support/crash-store.ts';
import { sourceTo } from '../support/crash-tree.ts';
import { copyOfOpen } from '../support/open-copy.ts';

const { UNSPENT_TEST_SEED = '1' } = process.env;
const SEED = Number(UNSPENT_TEST_SEED);
const KILLS = 42;
const CUTS = 25;
const KIND = { selfContained: false };

describe('kill -9 (Bitcoin family)', () => {
  it(`leaves the state of some block, ${KILLS} times (seed ${SEED})`, (t) =>
    runCampaign(t, new CrashCampaign(SEED, 'bitcoin'), { kills: KILLS, perPhase: 1, aimedMax: 60 }));
});

describe('torn logs (Bitcoin family)', () => {
  it(`a log cut at ${CUTS} places gives some block exactly, from which following goes on (seed ${SEED})`, async (t) => {
    const folder = temporaryFolder();
    const random = new Random(SEED, 22);
    const story = new BitcoinStory(SEED, 120);
    const [data, copy] = [join(folder, 'store'), join(folder, 'copy')];
    try {
      const store = await openCrashStore(data, null, KIND);
      await store.follow(sourceTo(story.end, 1));
      // As a kill would leave it: the log is not closed, and memory is not flushed.
      await copyOfOpen(data, copy);
      await store.close();
      const logs = readdirSync(join(copy, 'db')).filter((name) => name.endsWith('.log'));
      const log = join('db', logs.sort().at(-1)!);
      const { size } = statSync(join(copy, log));
      ok(size > 0, 'there is a log');
      const heads = new Set<string>();
      for (let i = 0; i < CUTS; i++) heads.add(await openCut(copy, log, i === 0 ? size - 1 : random.int(size)));
      t.diagnostic(`${size} bytes of log, ${heads.size} different ends`);
      ok(heads.size > 3, `cuts lead to different blocks, not ${heads.size}`);
    } finally {
      rmSync(folder, { recursive: true });
    }

    async function openCut(from: string, log: string, size: number): Promise<string> {
      const cut = `${from}-cut`;
      cpSync(from, cut, { recursive: true });
      truncateSync(join(cut, log), size);
      try {
        const store = await openCrashStore(cut, null, KIND);
        try {
          story.check(store);
          const head = headOf(store);
          await store.follow(sourceTo(story.end, 1000));
          equal(story.check(store), story.end);
          return head;
        } finally {
          await store.close();
        }
      } catch (error) {
        // What is in the newest log is in no table yet: a cut there is no damage, wherever it is.
        throw new Error(`${log} cut at byte ${size}: ${(error as Error).message}`, { cause: error });
      } finally {
        rmSync(cut, { recursive: true });
      }
    }
  });
});
