/**
 * A publisher in a process of its own, to be killed: it makes the chain of a
 * campaign up to a step, publishes it, says each statement and each commit as it
 * goes, and ends. What it is told is one line of JSON on standard input.
 */
import { writeSync } from 'node:fs';
import { openTarget } from '../../../src/publish/open.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { KillChain, type KillJob, TRY_AGAIN } from './kill-chain.ts';
import { publishOnce, startPublisher } from './rig.ts';

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

async function run({ url, form, seed, steps, publisher: name, killAt, anew }: KillJob): Promise<void> {
  const { store } = new KillChain(seed, steps);
  let statements = 0;
  const beforeStatement = (text: string): void => {
    if (++statements === killAt) process.kill(process.pid, 'SIGKILL');
    say(/^(WITH fence|COMMIT)/.test(text) ? 'commit' : 'statement');
  };
  const target = await openTarget(url, form, store, { publisher: name, beforeStatement });
  const publisher = await startPublisher(store, target, { onPublished: ({ seq }) => say(`published ${seq}`) });
  const beat = setInterval(() => void target.renew().catch(() => undefined), 1000);
  if (anew) await publisher.sendSnapshot();
  else await publishOnce(publisher);
  clearInterval(beat);
  say(`published ${publisher.published.seq}`);
  say(`done ${publisher.counts.snapshots}`);
  publisher.close();
  await target.close();
}

let told = '';
for await (const piece of process.stdin) told += String(piece);
try {
  await run(JSON.parse(told) as KillJob);
} catch (error) {
  if (!isUnspentError(error, 'DATABASE_BUSY') && !isUnspentError(error, 'FENCED')) throw error;
  process.exit(TRY_AGAIN);
}
process.exit(0);
