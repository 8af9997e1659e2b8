/**
 * SD37, SD50, SD51, SD67, F5 and F15 with real kills: a process that writes to
 * the embedded transaction store ends itself with SIGKILL before or after a
 * commit. test/campaign/txstore-kill.campaign.ts does so at every commit.
 */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type ToldStory, tellInMemory } from './support/kill-story.ts';
import { killAtCommit } from './support/kills.ts';

describe('transaction store: kill -9', () => {
  let story: ToldStory;
  before(async () => {
    story = await tellInMemory();
  });

  it('the pass of the story has several chunks', () => {
    assert.ok(story.states.length - 1 - story.beforePass >= 6, `${story.states.length - 1 - story.beforePass} commits`);
  });

  it('SD37 SD51 F15 before each commit of a pass, on RocksDB', async () => {
    for (let nth = story.beforePass + 1; nth < story.states.length; nth++) await killAtCommit('rocks', story, 'before', nth);
  });

  it('SD37 SD51 F15 after each commit of a pass, on RocksDB', async () => {
    for (let nth = story.beforePass + 1; nth < story.states.length; nth++) await killAtCommit('rocks', story, 'after', nth);
  });

  it('SD37 SD51 F15 before each commit of a pass, on SQLite', async () => {
    for (let nth = story.beforePass + 1; nth < story.states.length; nth++) await killAtCommit('sqlite', story, 'before', nth);
  });

  it('SD67 F15 around commits of other changes', async () => {
    const { beforePass } = story;
    for (const kind of ['rocks', 'sqlite'] as const) {
      await killAtCommit(kind, story, 'after', beforePass - 4);
      await killAtCommit(kind, story, 'before', beforePass - 9);
    }
    await killAtCommit('sqlite', story, 'after', beforePass + 2);
  });
});
