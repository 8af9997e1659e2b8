/**
 * A process that tells the story on an engine on disk, and kills itself before
 * or after a commit: `node kill-child.ts DIRECTORY rocks|sqlite before|after|never NTH`.
 * With `never` it says the number of each commit and waits to be killed.
 */
import { writeSync } from 'node:fs';
import { openEngineIn } from '../../../src/engine/open.ts';
import { TX_STORE_COLUMNS } from '../../../src/txstore/embedded/columns.ts';
import { openWorld, tellStory, withCommitHooks } from './kill-story.ts';

const [directory, kind, when, nth] = process.argv.slice(2);
const engine = await openEngineIn(directory, TX_STORE_COLUMNS, { createIfMissing: true, kind: kind === 'sqlite' ? 'sqlite' : 'rocks' });
const die = (number: number): void => {
  if (number === Number(nth)) process.kill(process.pid, 'SIGKILL');
};
const tell = (number: number): void => void writeSync(1, `${number}\n`);
await tellStory(await openWorld(withCommitHooks(engine, when === 'never' ? { after: tell } : { [when]: die })));
setInterval(() => {}, 1000);
