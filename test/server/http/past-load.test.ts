/**
 * An earlier block takes work to answer for: that work takes turns with other
 * requests, is done for one block at a time, and ends with who asked for it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SLICE_MS } from '../../../src/util/limits.ts';
import type { Steps } from '../../../src/util/steps.ts';
import { until } from '../../support/patience.ts';
import { Served } from '../../support/served.ts';
import { get, RawClient } from './raw-client.ts';

/** Every step of making a past takes a slice; counts those that are being made. */
class Slow {
  open = 0;
  openMax = 0;
  steps = 0;
  finished = 0;

  constructor(served: Served) {
    const lease = served.reads.lease.bind(served.reads);
    served.reads.lease = () => {
      const held = lease();
      const { query } = held;
      const pastSteps = Object.getPrototypeOf(query).pastSteps.bind(query) as typeof query.pastSteps;
      query.pastSteps = (...given) => {
        const steps = pastSteps(...given);
        return steps === null ? null : this.slowed(steps);
      };
      return held;
    };
  }

  private *slowed(steps: Steps<void>): Steps<void> {
    this.openMax = Math.max(this.openMax, ++this.open);
    try {
      while (steps.next().done !== true) {
        this.steps++;
        for (const end = performance.now() + SLICE_MS; performance.now() <= end; );
        yield;
      }
      this.finished++;
    } finally {
      this.open--;
    }
  }
}

test('one past is made at a time, in turns, and not for who has left', async () => {
  const served = await Served.open({ blocks: 120 });
  const [{ addressHex }] = served.devnet.chain.utxos.values();
  const slow = new Slow(served);
  const { origin, port } = await served.listen();
  const path = (height: number): string => `/api/v1/addresses/${addressHex}/utxos?at=height:${height}`;
  const clients = await Promise.all([10, 20, 30].map(() => RawClient.open(port)));
  clients.forEach((client, i) => void client.read().write(get(path(10 * (i + 1)))));
  await until(() => slow.steps > 5, 'the first one is being made');
  assert.equal((await fetch(`${origin}/api/v1/blocks/latest`)).status, 200, 'others are answered meanwhile');
  assert.deepEqual([slow.open, slow.finished], [1, 0]);
  const before = slow.steps;
  clients[0].socket.destroy();
  clients[1].socket.destroy();
  await until(() => clients[2].statuses[0] === 200, 'the third one is answered');
  assert.deepEqual([slow.openMax, slow.open, slow.finished], [1, 0, 1]);
  assert.ok(before < 110, 'the first one was given up halfway');
  assert.ok(slow.steps - before < 110, 'and nothing was done for the second one');
  // Remembered: no more steps, whoever asks.
  const { steps } = slow;
  const again = await fetch(`${origin}${path(30)}&limit=all`);
  assert.equal(again.headers.get('x-block-height'), '30');
  assert.ok(((await again.json()) as unknown[]).length > 0);
  assert.equal(slow.steps, steps);
  const roots = await fetch(`${origin}/api/v1/roots?at=height:40`);
  assert.deepEqual([roots.status, roots.headers.get('x-block-height')], [200, '40']);
  // Streams of a past that is not at hand keep their snapshot until they end.
  const stream = await fetch(`${origin}${path(50)}&limit=all`);
  assert.ok(((await stream.json()) as unknown[]).length > 0);
  clients[2].socket.destroy();
  await served.close();
});
