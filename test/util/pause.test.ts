import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { pause } from '../../src/util/pause.ts';

const LONG_MS = 1_000_000_000;

test('ends when its time is over, when the signal comes, and at once when it has come; nothing listens afterwards', async () => {
  const stop = new AbortController();
  await pause(1, { signal: stop.signal });
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
  const waiting = pause(LONG_MS, { signal: stop.signal });
  assert.equal(getEventListeners(stop.signal, 'abort').length, 1);
  stop.abort();
  await waiting;
  await pause(LONG_MS, { signal: stop.signal });
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
  await pause(1, {});
});
