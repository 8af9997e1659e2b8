/**
 * The queue between a source and the fold against a plain list: nothing lost,
 * nothing out of order, never more inside than it may hold, and neither side
 * left waiting when the other has gone.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../src/sources/devnet/random.ts';
import { BoundedQueue } from '../../src/util/bounded-queue.ts';
import { TEST_SEED } from '../support/harness.ts';

/** Now or a moment later. */
async function dawdle(random: Random): Promise<void> {
  if (random.chance(0.3)) await new Promise(setImmediate);
}

describe('bounded queue', () => {
  for (const capacity of [1, 2, 7, 64]) {
    it(`passes everything on in order, at most ${capacity} at a time`, async () => {
      const random = new Random(TEST_SEED, capacity);
      const queue = new BoundedQueue<number>(capacity);
      const taken: number[] = [];
      let most = 0;
      const producing = (async () => {
        for (let i = 0; i < 1000; i++) {
          assert.ok(await queue.push(i));
          most = Math.max(most, queue.length);
          if (random.chance(0.1)) await dawdle(random);
        }
        queue.end();
      })();
      for (let items = await queue.take(); items !== undefined; items = await queue.take()) {
        assert.ok(items.length > 0 && items.length <= capacity);
        taken.push(...items);
        await dawdle(random);
      }
      await producing;
      assert.deepEqual(
        taken,
        Array.from({ length: 1000 }, (_, i) => i),
      );
      assert.equal(most, capacity);
    });
  }

  it('lets a waiting producer go when the consumer leaves', async () => {
    const queue = new BoundedQueue<number>(1);
    assert.ok(await queue.push(1));
    const waiting = queue.push(2);
    queue.end();
    assert.equal(await waiting, false);
    assert.deepEqual(await queue.take(), [1], 'what was inside can still be taken');
    assert.equal(await queue.take(), undefined);
    assert.equal(await queue.push(3), false);
  });

  it('lets a waiting consumer go when the producer ends', async () => {
    const queue = new BoundedQueue<number>(4);
    const waiting = queue.take();
    queue.end();
    assert.equal(await waiting, undefined);
  });
});
