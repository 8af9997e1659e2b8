/**
 * SD37, SD51, F15: the process, or the server, dies between any two statements of
 * a pass. Whoever opens the database then finds every record whole, or gone with
 * its tombstones, and the pass comes to its end when it is run again.
 *
 * A process that is killed leaves the files of SQLite as they are: they are copied
 * before each statement, and the copies are opened. In PostgreSQL the connections
 * are ended before each statement, as they are when a process is killed; there the
 * calls are made again, and the pass goes on. Both are also killed in earnest.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestDatabases } from '../../support/sql/databases.ts';
import { wasKilled } from '../../support/sql/killed-process.ts';
import { endConnectionsTo, type PostgresServer } from '../../support/sql/postgres-server.ts';
import { copyAsKilled, type SqliteFiles } from '../../support/sql/sqlite-files.ts';
import { allRecords, emptyTxDatabase } from './databases.ts';
import { checkPassed, checkWhole, fillStory, openStory, runStoryPass } from './pass-story.ts';

export function runSqliteCrashes(files: SqliteFiles): void {
  describe('transaction store: SQLite after a crash', () => {
    it('SD37 SD51 F5 F15 between any two statements of a pass: every record is whole or gone, and the pass goes on', async () => {
      await everyStatementOfPass(await files.freshUrl());
    });
    runKilledPasses(files);
  });
}

/** The files of an empty SQLite database are copied before each statement of a pass; the pass goes on in every copy. */
export async function everyStatementOfPass(url: string): Promise<void> {
  const copies: string[] = [];
  let isWatched = false;
  const store = await openStory(url, {
    beforeStatement: async () => {
      if (isWatched) copies.push(await copyAsKilled(url));
    },
  });
  await fillStory(store);
  isWatched = true;
  await runStoryPass(store);
  isWatched = false;
  await checkPassed(store);
  await store.close();
  assert.ok(copies.length > 40, `${copies.length} statements`);
  for (const copy of copies) await goOn(copy);
}

export function runPostgresCrashes(server: PostgresServer): void {
  describe('transaction store: PostgreSQL after a crash', () => {
    it('SD37 SD51 F5 F15 with the connections lost before any statement of a pass: every record is whole or gone, and it is done, once', async () => {
      await everyLostConnection(await server.freshUrl());
    });

    it('SD37 SD51 F15 the server is killed in the middle of a pass, and comes back: it is done, once', async () => {
      const url = await server.freshUrl();
      const strike = async (): Promise<void> => {
        await server.kill();
        await server.run();
      };
      for (const statement of KILLED_AT) assert.ok(await isStruck(url, statement, strike), 'it was killed');
    });
    runKilledPasses(server);
  });
}

/** The connections to a PostgreSQL database are ended before each statement of a pass. */
export async function everyLostConnection(url: string): Promise<void> {
  const strike = async (): Promise<void> => {
    await endConnectionsTo(url);
    const seen = await openStory(url);
    checkWhole(await allRecords(seen));
    await seen.close();
  };
  for (let statement = 0; await isStruck(url, statement, strike); statement++);
}

/** False: the pass was over before that statement. */
async function isStruck(url: string, statement: number, strike: () => Promise<void>): Promise<boolean> {
  await emptyTxDatabase(url);
  let left = Number.POSITIVE_INFINITY;
  const store = await openStory(url, {
    beforeStatement: async () => {
      if (left-- === 0) await strike();
    },
  });
  await fillStory(store);
  left = statement;
  await runStoryPass(store);
  const wasStruck = left < 0;
  left = Number.POSITIVE_INFINITY;
  await checkPassed(store);
  await store.close();
  return wasStruck;
}

/** Statements of the pass: while children are read, between tombstones and the deletion, and before the commit of the first chunk. */
const KILLED_AT = [11, 19, 21];

function runKilledPasses(databases: TestDatabases): void {
  it('SD37 SD51 F15 a process that is killed in a pass leaves every record whole or gone, and the pass goes on', async () => {
    for (const statement of KILLED_AT) assert.ok(await isKilledBefore(databases, statement), 'it was killed');
  });
}

/** A process is killed before every statement of the pass. */
export function runEveryKilledPass(databases: TestDatabases): void {
  describe(`transaction store: killed passes on ${databases.name}`, () => {
    it('SD37 SD51 F15 killed before any statement', async () => {
      for (let statement = 0; await isKilledBefore(databases, statement); statement++);
    });
  });
}

/** False: the pass was over before that statement. */
async function isKilledBefore(databases: TestDatabases, statement: number): Promise<boolean> {
  const url = await databases.freshUrl();
  const store = await openStory(url);
  await fillStory(store);
  await store.close();
  const isKilled = await wasKilled(new URL('./killed-child.ts', import.meta.url), [url, String(statement)]);
  await goOn(url);
  return isKilled;
}

async function goOn(url: string): Promise<void> {
  const store = await openStory(url);
  checkWhole(await allRecords(store));
  await runStoryPass(store);
  await checkPassed(store);
  await store.close();
}
