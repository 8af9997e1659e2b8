/**
 * W82: the process, or the server, dies between any two statements of any call.
 * Whoever opens the database then finds it as it was before the call or as it is
 * after it, never between.
 *
 * For SQLite a process that is killed leaves its files as they are: they are
 * copied before each statement, and the copies are opened. For PostgreSQL the
 * connection is ended before each statement, as it is when a process is killed;
 * there the call is tried again, and must have happened once. Both are also
 * killed in earnest.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openWalletStore } from '../../../src/wallet/open.ts';
import type { SqlWalletStore } from '../../../src/wallet/sql/store.ts';
import type { TestDatabases } from '../../support/sql/databases.ts';
import { wasKilled } from '../../support/sql/killed-process.ts';
import type { PostgresServer } from '../../support/sql/postgres-server.ts';
import { copyAsKilled, type SqliteFiles } from '../../support/sql/sqlite-files.ts';
import type { World } from '../support/world.ts';
import { emptyDatabase } from './empty.ts';
import { EVERY_CALL, resumeStory, type StoryStore, tellStory } from './every-call.ts';

/** Everything: rows, and events that are not forgotten. */
async function stateOf({ rows, store, wallet }: Pick<World, 'rows' | 'store' | 'wallet'>): Promise<string> {
  const range = await store.eventRange();
  const events = await store.listEvents(range.trimmed, 1_000_000);
  const reorgs = await store.listReorgs(wallet, { limit: 1000 });
  return JSON.stringify([await rows(), range, events, reorgs], (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
}

export function runSqliteCrashes(files: SqliteFiles): void {
  describe('wallets: SQLite after a crash', () => {
    for (const [name, call] of EVERY_CALL) {
      it(`W82 between any two statements of ${name}: as before or as after`, async () => {
        const url = await files.freshUrl();
        const copies: string[] = [];
        let isWatched = false;
        const beforeStatement = async (): Promise<void> => {
          if (!isWatched) return;
          copies.push(await copyAsKilled(url));
        };
        const story = await tellStory(await openWalletStore(url, { isDurable: false, beforeStatement }));
        const states = [await stateOf(story.world)];
        isWatched = true;
        await call(story);
        isWatched = false;
        states.push(await stateOf(story.world));
        assert.notEqual(states[0], states[1]);
        await story.store.close();
        assert.ok(copies.length >= 4, `${copies.length} statements`);
        for (const copy of copies) {
          const { world } = await resumeStory(copy);
          await using _ = world;
          assert.ok(states.includes(await stateOf(world)), `${copy}: neither before nor after`);
        }
      });
    }
    runKilledProcesses(files);
  });
}

/** Every nth statement of a call is tried; another one first in each call. */
export function runPostgresCrashes(server: PostgresServer, everyNth: number): void {
  describe('wallets: PostgreSQL after a crash', () => {
    let url = '';
    let store: SqlWalletStore;
    let left = -1;
    /** What happens before the nth statement. */
    let strike = async (): Promise<void> => {};
    const beforeStatement = async (): Promise<void> => {
      if (left-- === 0) await strike();
    };
    before(async () => {
      url = await server.freshUrl();
      store = await openWalletStore(url, { beforeStatement });
    });
    after(() => store.close());

    for (const [at, [name, call]] of EVERY_CALL.entries()) {
      it(`W82 with the connection lost before ${everyNth === 1 ? 'any' : 'some'} statement of ${name}: done once`, async () => {
        const expected = await doneOnce(call);
        // To the server that is the end of the process.
        strike = () => server.endConnections(url);
        for (let statement = 1 + (at % everyNth); ; statement += everyNth) {
          await emptyDatabase(url);
          const story = await tellStory(store);
          left = statement;
          await call(story);
          const isOver = left >= 0;
          left = -1;
          assert.ok((await stateOf(story.world)) === expected, `lost before statement ${statement}: not done, or more than once`);
          if (isOver) break;
        }
      });
    }

    async function doneOnce(call: (story: StoryStore) => Promise<unknown>): Promise<string> {
      await emptyDatabase(url);
      const story = await tellStory(store);
      await call(story);
      return stateOf(story.world);
    }

    it('W82 the server is killed in the middle of a block, and comes back: done once', async () => {
      const [, connect] = EVERY_CALL.find(([name]) => name === 'connectBlock')!;
      const expected = await doneOnce(connect);
      for (const statement of [3, 11]) {
        await emptyDatabase(url);
        const story = await tellStory(store);
        strike = async () => {
          await server.kill();
          await server.run();
        };
        left = statement;
        await connect(story);
        assert.ok(left < 0, 'it was killed');
        assert.ok((await stateOf(story.world)) === expected, `killed before statement ${statement}: not done, or more than once`);
      }
    });
    runKilledProcesses(server);
  });
}

/** Calls in which a child process kills itself, and before which statement, in the test command. */
const KILLED_AT = [
  ['connectBlock', 12],
  ['rollbackToBlock', 9],
] as const;

function runKilledProcesses(databases: TestDatabases): void {
  for (const [name, statement] of KILLED_AT) {
    it(`W82 a process that is killed in ${name} leaves nothing of it, and the call can be made again`, async () => {
      assert.ok(await isKilledIn(databases, name, statement));
    });
  }
}

/** A process is killed before every statement of every call. */
export function runEveryKill(databases: TestDatabases): void {
  describe(`wallets: killed processes on ${databases.name}`, () => {
    for (const [name] of EVERY_CALL) {
      it(`W82 killed before any statement of ${name}: as before`, async () => {
        for (let statement = 0; await isKilledIn(databases, name, statement); statement++);
      });
    }
  });
}

/** False: the call ended before that statement. Otherwise nothing of it must be there, and it can be made again. */
async function isKilledIn(databases: TestDatabases, name: string, statement: number): Promise<boolean> {
  const url = await databases.freshUrl();
  const told = await tellStory(await openWalletStore(url, { isDurable: false }));
  const expected = await stateOf(told.world);
  await told.store.close();
  if (!(await wasKilled(new URL('./killed-child.ts', import.meta.url), [url, name, String(statement)]))) return false;
  const again = await resumeStory(url);
  await using world = again.world;
  assert.ok((await stateOf(world)) === expected, `killed before statement ${statement}: something of the call is there`);
  await EVERY_CALL.find(([one]) => one === name)?.[1](again);
  assert.ok((await stateOf(world)) !== expected, 'the call can be made again');
  return true;
}
