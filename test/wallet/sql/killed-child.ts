/** A process that makes one call of every-call.ts and kills itself before its nth statement. Arguments: URL, name of the call, n. */
import { EVERY_CALL, resumeStory } from './every-call.ts';

const [url, name, count] = process.argv.slice(2);
let left = Number.POSITIVE_INFINITY;
const story = await resumeStory(url, {
  isDurable: true,
  beforeStatement: () => {
    if (left-- === 0) process.kill(process.pid, 'SIGKILL');
  },
});
left = Number(count);
await EVERY_CALL.find(([one]) => one === name)?.[1](story);
left = Number.POSITIVE_INFINITY;
await story.store.close();
