/** Publishing as it is used: the command, the thread beside a fold, what status says, and two publishers of one copy. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startPublishing } from '../../src/publish/start.ts';
import type { PublishReport } from '../../src/store/publishing.ts';
import { openStore } from '../../src/store/store.ts';
import { document, failure, temporary } from '../cli/run.ts';
import { assertSameDump, dump } from '../support/harness.ts';
import { until } from '../support/patience.ts';
import { CopyReader } from '../support/publish/postgres-copy.ts';
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
