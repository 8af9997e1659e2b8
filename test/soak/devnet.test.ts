/**
 * Five hundred things happen to a devnet, its responder and a follower; after
 * each of them the follower has exactly what the devnet says is unspent, and at
 * the end nobody holds anything. Longer: `node bench/soak.ts --events 20000`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TEST_SEED } from '../support/harness.ts';
import { soak } from './soak.ts';

const EVENTS = 500;
const DEPTH_MAX = 2160;
const HEAP_GROWTH_MAX = 64 * 1024 * 1024;

test('a devnet with rollbacks, disconnects and restarts of both sides', async (t) => {
  const before = process.getActiveResourcesInfo().filter(isSocket).length;
  const started = performance.now();
  const report = await soak({ events: EVENTS, seed: TEST_SEED, depthMax: DEPTH_MAX });
  t.diagnostic(`${JSON.stringify(report)}, ${((performance.now() - started) / 1000).toFixed(1)} s, seed ${TEST_SEED}`);
  const total = Object.values(report.counts).reduce((sum, count) => sum + count, 0);
  assert.equal(total, EVENTS);
  assert.equal(Object.keys(report.counts).length, 10, 'every kind of event has occurred');
  assert.ok(report.deepest > DEPTH_MAX - 50, `a fork near the window was among them: ${report.deepest}`);
  assert.ok(report.heap[1] - report.heap[0] < HEAP_GROWTH_MAX, `the heap has grown from ${report.heap[0]} to ${report.heap[1]}`);
  // A handle that was closed is counted for one more turn of the event loop.
  await sleep(100);
  assert.equal(process.getActiveResourcesInfo().filter(isSocket).length, before, 'no socket is left');
});

function isSocket(name: string): boolean {
  return /TCP|Pipe/.test(name);
}
