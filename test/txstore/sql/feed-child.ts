/**
 * A process that tells a story of feed-story.ts, from where the one before it was, and kills itself before or behind its nth
 * commit. Arguments: data directory, URL, seed, steps, n, `before` or `behind`.
 */
import { keepCompiled } from '../../support/compile-cache.ts';
import { FeedStory, feedSteps } from './feed-story.ts';

const [data, url, seed, steps, commit, when] = process.argv.slice(2);
let left = Number(commit);
const story = await FeedStory.open(data, url, {
  beforeStatement: (sql) => {
    const isCommit = /^commit$/i.test(sql);
    if (left === 0 && isCommit === (when === 'before')) process.kill(process.pid, 'SIGKILL');
    if (isCommit && left > 0) left--;
  },
});
keepCompiled();
await story.tell(feedSteps(Number(seed), Number(steps)), false);
left = -1;
await story.close();
