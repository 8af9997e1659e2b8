/**
 * A publisher in a process of its own, to be killed: it makes the chain of a
 * campaign up to a step, publishes it, says each statement and each commit as it
 * goes, and ends. What it is told is one line of JSON on standard input.
 */
import { writeSync } from 'node:fs';
import { isToBeTriedAgain, KillChain, type KillJob, publishJob, TRY_AGAIN } from './kill-chain.ts';

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

async function run(job: KillJob): Promise<void> {
  let statements = 0;
  const snapshots = await publishJob(job, new KillChain(job.seed, job.steps).store, {
    beforeStatement(text) {
      if (++statements === job.killAt) process.kill(process.pid, 'SIGKILL');
      say(/^(WITH fence|COMMIT)/.test(text) ? 'commit' : 'statement');
    },
    published: (seq) => say(`published ${seq}`),
  });
  say(`done ${snapshots}`);
}

let told = '';
for await (const piece of process.stdin) told += String(piece);
try {
  await run(JSON.parse(told) as KillJob);
} catch (error) {
  if (!isToBeTriedAgain(error)) throw error;
  process.exit(TRY_AGAIN);
}
process.exit(0);
