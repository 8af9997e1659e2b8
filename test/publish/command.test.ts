/** Publishing as it is used: the command, the thread beside a fold, what status says, and two publishers of one copy. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { startPublishing } from '../../src/publish/start.ts';
import type { PublishingStatus, PublishReport } from '../../src/store/publishing.ts';
import { openStore } from '../../src/store/store.ts';
import { document, failure, temporary, unspent } from '../cli/run.ts';
import { Running } from '../cli/running.ts';
import { assertSameDump, dump } from '../support/harness.ts';
import { eventually, until } from '../support/patience.ts';
import { CopyReader } from '../support/publish/postgres-copy.ts';
import { executeIn } from '../support/sql/execute.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';

describe('publishing', { skip: withoutPostgres }, () => {
  let server: PostgresServer;

  before(async () => {
    server = await PostgresServer.start(async () => {});
  });

  after(async () => {
    await server.stop();
  });

  it('is a command that brings a copy to where the store is, again and again', async () => {
    const data = temporary();
    const url = await server.unusedUrl();
    const publish = ['publish', '--to', `${url}&schema=one`, '--data', data];
    await document(['sync', '--source', 'devnet:', '--until', 'height:30', '--data', data]);
    const first = await document<PublishReport>(publish);
    assert.deepEqual([first.height, first.snapshots, first.lag, first.seq], [30, 1, 0, 1]);
    await document(['sync', '--source', 'devnet:', '--until', 'height:45', '--data', data]);
    const second = await document<PublishReport>(publish);
    assert.deepEqual([second.height, second.snapshots, second.blocks], [45, 0, 15]);
    const { message } = await failure(['publish', '--to', 'mysql://x', '--data', data], 'USAGE', 2);
    assert.match(message, /postgres:\/\//);
  });

  it('runs beside a fold, two of them take turns, and status tells', async () => {
    const url = await server.unusedUrl();
    const [a, b] = await Promise.all(
      [temporary(), temporary()].map(async (data) => {
        await document(['sync', '--source', 'devnet:', '--until', 'height:5', '--data', data]);
        return openStore({ data, control: false });
      }),
    );
    try {
      const threads = await Promise.all([a, b].map((store) => startPublishing(store, url, 'columns')));
      await Promise.all([a, b].map((store) => store.follow('devnet:', { until: { kind: 'height', height: 40 } })));
      await until(() => threads.some(({ report }) => report.height === 40), 'one of them has published it');
      const [leader, other] = threads[0].report.height === 40 ? [threads[0], threads[1]] : [threads[1], threads[0]];
      assert.equal(leader.report.lag, 0);
      assert.equal(leader.report.state, 'publishing');
      await until(() => other.report.state === 'waiting', 'the other waits');
      await leader.close();
      await until(() => other.report.state === 'publishing' && other.report.height === 40, 'the other has taken over');
      const reader = await CopyReader.open(url);
      await reader.check();
      await reader.read(async (head) => {
        assert.ok(head.epoch >= 2);
        const columns = b.engine.columns.map(({ name }) => name);
        assertSameDump(await reader.dump(head, columns), dump(b.engine), 'the copy');
      });
      await reader.close();
      await other.close();
    } finally {
      await a.close();
      await b.close();
    }
  });
});

/** Of a `status` answer, what is asked here. */
interface Copied {
  readonly tip: { readonly block: number } | null;
  readonly publishing: PublishingStatus | null;
}

test('start --publish-to, publish --follow and serve --from are commands that go on', { skip: withoutPostgres }, async (t) => {
  const server = await PostgresServer.start(async () => {});
  t.after(() => server.stop());
  const url = await server.unusedUrl();
  const data = join(temporary(), 'store');
  const folder = temporary();
  const starting = new Running(t, ['start', '--port', '0', '--data', data, '--publish-to', url], folder);
  const [, page] = await starting.says(/(http:\/\/127\.0\.0\.1:\d+\/)/);
  await until(async () => {
    const { publishing, tip } = await document<Copied>(['status', '--data', data]).catch(() => ({ publishing: null, tip: null }));
    return publishing !== null && publishing.state === 'publishing' && tip !== null && publishing.lag === 0;
  }, 'the copy is at the tip');
  const { stdout } = await unspent(['status', '--data', data]);
  assert.match(
    stdout,
    /^copy +postgres localhost\/\S+ unspent \(columns\), height \d+, (at the tip|\d+ blocks? behind), published from here$/m,
  );
  const watching = new Running(t, ['status', '--watch', '--data', data, '--set', 'status.refreshSeconds=1'], folder);
  await watching.says(/copy publishing, \d+ behind/);
  await watching.interrupt();

  // Its metrics and its page's data, and a reader beside it.
  const metrics = await (await fetch(new URL('metrics', page))).text();
  assert.match(metrics, /^unspent_publish_leading 1$/m);
  assert.match(metrics, /^unspent_publish_lag_blocks \d+$/m);
  const told = (await (await fetch(new URL('api/v1/status', page))).json()) as { publishing: { state: string; last_error: string | null } };
  assert.deepEqual([told.publishing.state, told.publishing.last_error], ['publishing', null]);
  const serving = new Running(t, ['serve', '--from', url, '--port', '0', '--json'], folder);
  const [, from] = await serving.says(/"url":\s*"([^"]+)"/);
  const block = async (base: string, place: string): Promise<{ readonly hash: string }> =>
    (await (await fetch(new URL(`api/v1/blocks/${place}`, base))).json()) as { hash: string };
  await eventually(async () => {
    const newest = await block(from, 'latest');
    assert.deepEqual(await block(page, newest.hash), await block(from, newest.hash));
  });

  // The next publisher leads when the first one has ended, for as long as it is let.
  await starting.interrupt('SIGTERM');
  const leader = async (): Promise<unknown> => (await executeIn(url, 'SELECT publisher FROM unspent.head'))[0]['publisher'];
  assert.equal(await leader(), null);
  const following = new Running(t, ['publish', '--follow', '--to', url, '--data', data], folder);
  await until(async () => (await leader()) !== null, 'it leads');
  assert.equal((await following.interrupt()).code, 130, following.err);
  assert.equal(await leader(), null);
  await serving.interrupt();
  const reader = await CopyReader.open(url);
  await reader.check();
  await reader.close();
});
