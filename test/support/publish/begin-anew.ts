/**
 * A copy that begins anew, as its readers live through it: they answer from the
 * copy before until the new one is whole, and then from that; a copy of a store
 * that keeps other things ends them.
 */
import assert from 'node:assert/strict';
import { Random } from '../../../src/chains/random.ts';
import { CHAIN } from '../../../src/projections/chain.ts';
import type { TargetOptions } from '../../../src/publish/open.ts';
import { type ServedCopy, serveCopy } from '../../../src/server/serve-copy.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { RandomRequests } from '../copy/requests.ts';
import { TEST_SEED } from '../harness.ts';
import { until } from '../patience.ts';
import { Served } from '../served.ts';
import { publishedCopy } from './copy-publisher.ts';

/** What the server beside the store is asked, each reader is asked over its socket. */
async function assertSame(served: Served, reader: ServedCopy, requests: RandomRequests): Promise<void> {
  for (const kind of RandomRequests.kinds) {
    const { url, headers = {} } = requests.next(kind);
    const expected = await served.ask({ method: 'GET', url, headers });
    const found = await fetch(new URL(url.slice(1), reader.url), { headers: headers as Record<string, string> });
    assert.equal(found.status, expected.status, url);
    assert.ok(Buffer.from(expected.bytes).equals(Buffer.from(await found.arrayBuffer())), url);
  }
}

/** `options`: what is replaced must go with the next sign of life. Returns the URL of the copy as it ends. */
export async function liveThroughNewCopy(url: string, options: TargetOptions = {}): Promise<void> {
  const served = await Served.open({ blocks: 40, mirrored: false, store: { pruneDepth: 20, rollbackWindow: 25 } });
  const { network, projections, config } = served.context;
  const published = { engine: served.rig.engine, network, projections, windows: config.utxo };
  /** Asked while the new copy is being filled, after its first rows. */
  let whileFilling: (() => Promise<void>) | null = null;
  const beforeStatement = async (text: string): Promise<void> => {
    if (whileFilling === null || !/^(COPY|INSERT INTO .*rows_)/.test(text.trim())) return;
    const ask = whileFilling;
    whileFilling = null;
    await ask();
  };
  const { publisher } = await publishedCopy(url, { ...options, publisher: 'the one of this test', beforeStatement })(published);
  await publisher.publish();
  const reader = await serveCopy(url, { port: 0 });
  let over: unknown = null;
  reader.ended.catch((error: unknown) => {
    over = error;
  });
  const requests = new RandomRequests(new Random(TEST_SEED), served.devnet);
  const follows = (): Promise<void> => until(() => reader.copy.head.seq === publisher.seq, 'the reader is at the newest change');
  try {
    await assertSame(served, reader, requests);
    const before = reader.copy.head;
    const height = served.rig.fold.head?.height ?? assert.fail();
    // Of the copy before; it has read of one column only.
    const held = reader.copy.engine.snapshot();

    served.forward(60);
    served.prune();
    let asked = 0;
    whileFilling = async () => {
      const latest = await fetch(new URL('api/v1/blocks/latest', reader.url));
      assert.equal(((await latest.json()) as { block: number; height: number }).height, height);
      assert.equal(reader.copy.head.seq, before.seq);
      asked++;
    };
    await publisher.publish();
    assert.deepEqual([publisher.snapshots, asked], [2, 1], 'it began anew, and the reader answered meanwhile');
    await follows();
    await assertSame(served, reader, requests);

    // What the first copy was in is gone, or goes when it is not read any more: whoever still reads of it has it, or is told.
    for (let i = 0; i < 3; i++) {
      served.forward(1);
      await publisher.publish();
    }
    await follows();
    const late = reader.copy.engine.attempts.run(() => [...held.scan(CHAIN)].length);
    await Promise.resolve(late).then(
      (rows) => assert.ok(rows > height),
      (error) => assert.ok(isUnspentError(error, 'COPY_MOVED'), String(error)),
    );
    held.release();
    served.back(2);
    served.forward(4);
    await publisher.publish();
    await follows();
    await assertSame(served, reader, requests);
    assert.equal(publisher.snapshots, 2);
    assert.equal(over, null);

    // A store that keeps less: the next reader has another form of answers, this one cannot go on.
    await publisher.close();
    const fewer = projections.filter((name) => name !== 'mmr' && name !== 'csmt');
    const other = await publishedCopy(url, options)({ ...published, projections: fewer });
    await other.publisher.publish();
    assert.equal(other.publisher.snapshots, 1);
    await until(() => over !== null, 'the reader ends');
    assert.ok(isUnspentError(over, 'COPY_MOVED'), String(over));
    const next = await serveCopy(url, { port: 0 });
    assert.equal((await fetch(new URL('api/v1/blocks/latest', next.url))).status, 200);
    await next.close();
    await other.publisher.close();
  } finally {
    await reader.close();
    await publisher.close();
    await served.close();
  }
}
