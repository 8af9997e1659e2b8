/** A process that runs the pass of pass-story.ts and kills itself before its nth statement. Arguments: URL, n. */
import { openStory, runStoryPass } from './pass-story.ts';

const [url, count] = process.argv.slice(2);
let left = Number.POSITIVE_INFINITY;
const store = await openStory(url, {
  isDurable: true,
  beforeStatement: () => {
    if (left-- === 0) process.kill(process.pid, 'SIGKILL');
  },
});
left = Number(count);
await runStoryPass(store);
left = Number.POSITIVE_INFINITY;
await store.close();
