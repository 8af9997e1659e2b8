/** What of the engine's memory is for blocks read from the disk. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineOptions } from '../../../src/engine/open.ts';
import { cacheBudget } from '../../../src/engine/rocks/tuning.ts';

const MB = 1_000_000;

test('the cache has what memtables leave of the memory, unless it is said how much', () => {
  const memtableBytes = 100 * MB;
  const budget = (options: { readonly memoryBytes?: number; readonly cacheBytes?: number }, machineBytes = 64_000 * MB): number =>
    cacheBudget({ memtableBytes, ...options }, machineBytes) / MB;
  // A quarter of the machine, a gigabyte at most; memtables may hold half as much again.
  assert.equal(budget({ memoryBytes: 0 }), 850);
  assert.equal(budget({ memoryBytes: 0 }, 2000 * MB), 350);
  assert.equal(budget({ memoryBytes: 0 }, 400 * MB), 0);
  assert.equal(budget({ memoryBytes: 3000 * MB }), 2850);
  assert.equal(budget({ memoryBytes: 3000 * MB, cacheBytes: 7 * MB }), 7);
});

test('a cache of 0 in the settings is one that is not said', () => {
  assert.deepEqual(engineOptions({ cacheBytes: 0, memoryBytes: 5 }), { memoryBytes: 5 });
  assert.deepEqual(engineOptions({ cacheBytes: 7, memoryBytes: 5 }), { cacheBytes: 7, memoryBytes: 5 });
});
