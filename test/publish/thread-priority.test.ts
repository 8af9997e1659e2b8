/** A thread that steps behind others leaves their priority what it was. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { getPriority } from 'node:os';
import { it } from 'node:test';
import { Worker } from 'node:worker_threads';

const MODULE = new URL('../../src/publish/thread/priority.ts', import.meta.url).href;
const CODE = `
  const { readlinkSync } = require('node:fs');
  const { getPriority } = require('node:os');
  const { parentPort } = require('node:worker_threads');
  const own = () => getPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)));
  import(${JSON.stringify(MODULE)}).then(({ stepBehind }) => {
    const before = own();
    stepBehind(19);
    parentPort.postMessage([before, own()]);
  });`;

it('a thread steps behind the others of its process', {
  skip: process.platform !== 'linux' && 'threads have priorities on Linux',
}, async () => {
  const before = getPriority(process.pid);
  const worker = new Worker(CODE, { eval: true });
  const [priorities] = await once(worker, 'message');
  await worker.terminate();
  assert.deepEqual(priorities, [before, 19]);
  assert.equal(getPriority(process.pid), before);
});
