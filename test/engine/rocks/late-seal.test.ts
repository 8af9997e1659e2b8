/** A process that closes a store lets go of RocksDB's lock before it writes its seal: another may open the store in between. */
import { deepEqual, equal } from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { markOpen } from '../../../src/engine/seal.ts';
import { isRunning } from '../../../src/util/running.ts';
import { fill, newDirectory, open } from './rig.ts';

const SEAL = new URL('../../../src/engine/seal.ts', import.meta.url).href;
/** Another process's part of a close, step by step as it is told. */
const STEPS = `import { markOpen, writeSeal } from ${JSON.stringify(SEAL)};
  process.on('message', ({ step, directory, sequence, after = 0 }) => {
    if (step === 'mark') markOpen(directory);
    if (step !== 'seal') return process.send({});
    process.send({});
    setTimeout(() => process.send({ sealed: writeSeal(directory, sequence) }), after);
  });`;

const scripts = mkdtempSync(join(tmpdir(), 'unspent-late-seal-'));
writeFileSync(join(scripts, 'steps.mjs'), STEPS);
after(() => rmSync(scripts, { recursive: true }));

/** A closed store whose mark says that another, living process has it. */
async function heldByAnother(): Promise<{ directory: string; other: ChildProcess; tell: (message: object) => Promise<unknown> }> {
  const directory = newDirectory();
  const engine = await open(directory);
  fill(engine, 2, 2);
  await engine.close();
  rmSync(join(directory, 'unspent.seal'));
  const other = fork(join(scripts, 'steps.mjs'));
  const tell = async (message: object) => {
    const answered = once(other, 'message');
    other.send({ directory, sequence: 1, ...message });
    return (await answered)[0];
  };
  await tell({ step: 'mark' });
  return { directory, other, tell };
}

async function end(other: ChildProcess): Promise<void> {
  const ended = once(other, 'exit');
  other.kill('SIGKILL');
  await ended;
}

const marks = (directory: string) => readdirSync(directory).filter((name) => name.startsWith('unspent.'));

describe('a seal that comes after the next process has the lock', () => {
  it('is waited for and taken: the store was closed, and is open now', async () => {
    const { directory, other, tell } = await heldByAnother();
    await tell({ step: 'seal', after: 100 });
    const engine = await open(directory);
    equal(engine.unclosed, null);
    deepEqual(marks(directory), ['unspent.open']);
    await engine.close();
    deepEqual(marks(directory), ['unspent.seal']);
    await end(other);
  });

  it('is not written over the mark of the next process', async () => {
    const { directory, other, tell } = await heldByAnother();
    markOpen(directory);
    await tell({ step: 'seal' });
    const [{ sealed }] = await once(other, 'message');
    equal(sealed, false);
    deepEqual(marks(directory), ['unspent.open']);
    await end(other);
  });

  it('is not waited for for ever: a process that lives and writes none did not close the store', async () => {
    const { directory, other } = await heldByAnother();
    const engine = await open(directory);
    equal(engine.unclosed?.process, other.pid);
    await engine.close();
    await end(other);
  });

  it('is not waited for at all from a process that has died', async () => {
    const { directory, other } = await heldByAnother();
    await end(other);
    equal(isRunning(other.pid!), false);
    const engine = await open(directory);
    equal(engine.unclosed?.process, other.pid);
    await engine.close();
  });
});
