/**
 * The records of transactions in a database that our chain feeds: at every tip
 * they are those of the embedded store, whoever is killed on the way, and however
 * far the database lags behind.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { TEST_SEED } from '../../support/harness.ts';
import type { TestDatabases } from '../../support/sql/databases.ts';
import { wasKilled } from '../../support/sql/killed-process.ts';
import type { PostgresServer } from '../../support/sql/postgres-server.ts';
import { missingInDatabase } from '../support/chain-missing.ts';
import { FeedStory, feedSteps } from './feed-story.ts';

export async function withDirectory<T>(body: (data: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'unspent-feed-'));
  try {
    return await body(join(directory, 'data'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function runFeed(databases: TestDatabases): void {
  describe(`transaction store fed by the chain: ${databases.name}`, () => {
    it('has the records of the embedded store at every tip, through reorganisations, mempool and passes', async () => {
      await withDirectory(async (data) => {
        const story = await FeedStory.open(data, await databases.freshUrl());
        await story.tell(feedSteps(TEST_SEED, 32), true);
        assert.ok(story.inDatabase.pruner.counters.get('prune_deleted_total') > 20, 'records were deleted');
        await story.close();
      });
    });

    it('F12 a record that a block needs and that is missing is told with both ids', async () => {
      await missingInDatabase(await databases.freshUrl());
    });

    it('comes to what the chain says from wherever it was left', async () => {
      await withDirectory(async (data) => {
        const url = await databases.freshUrl();
        const steps = feedSteps(TEST_SEED + 1, 21);
        // Closed and opened again every few steps: what was undone meanwhile nobody told the database.
        for (let from = 0; from < steps.length; from += 7) {
          const story = await FeedStory.open(data, url);
          for (const step of steps.slice(from, from + 7)) story.change(step);
          await story.close();
          const later = await FeedStory.open(data, url);
          await later.inDatabase.catchUp();
          await later.verify();
          await later.inDatabase.pass();
          await later.close();
        }
      });
    });

    it('takes every block in once, with a process that is killed before and behind commits', async () => {
      await withDirectory(async (data) => {
        const url = await databases.freshUrl();
        let kills = 0;
        // The nth commit of each process, by turns before it and behind it.
        for (let n = 0; await isKilled(data, url, KILLED_AT[n % KILLED_AT.length], n % 2 === 0); n++) kills++;
        assert.ok(kills >= 3, `${kills} processes were killed`);
      });
    });
  });
}

/** Commits of a process before the one that it does not survive: within blocks, rollbacks, the mempool and passes. */
const KILLED_AT = [6, 17, 11];
const KILLED_STEPS = 12;

function isKilled(data: string, url: string, commit: number, isBefore: boolean): Promise<boolean> {
  const args = [data, url, String(TEST_SEED + 2), String(KILLED_STEPS), String(commit), isBefore ? 'before' : 'behind'];
  return wasKilled(new URL('./feed-child.ts', import.meta.url), args);
}

export function runPostgresFeed(server: PostgresServer): void {
  runFeed(server);
  describe('transaction store fed by the chain: PostgreSQL that is killed', () => {
    it('takes every block in once, with a server that is killed before and behind commits', async () => {
      await withDirectory(async (data) => {
        let [commits, kills, isStriking] = [0, 0, false];
        const story = await FeedStory.open(data, await server.freshUrl(), {
          async beforeStatement(sql) {
            if (isStriking) return;
            const isCommit = /^commit$/i.test(sql);
            if (isCommit) commits++;
            // Before the commit, and before the first statement behind it.
            if (commits < 25 || commits % 25 > 1 || isCommit !== (commits % 25 === 0)) return;
            isStriking = true;
            if (kills++ < 4) {
              await server.kill();
              await server.run();
            }
            commits++;
            isStriking = false;
          },
        });
        await story.tell(feedSteps(TEST_SEED + 3, 14), false);
        assert.ok(kills >= 2, `the server was killed ${kills} times`);
        await story.close();
      });
    });
  });
}
