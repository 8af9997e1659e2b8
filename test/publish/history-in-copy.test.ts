/**
 * A store whose history is in its copy, as it is used: it follows a chain and
 * publishes it, forgets what the copy has, says PRUNED, and a reader of the copy
 * answers whole; it never gets ahead of the copy, nor on without one.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { readElsewhere } from '../../src/projections/history/elsewhere.ts';
import { startPublishing } from '../../src/publish/start.ts';
import { serveCopy } from '../../src/server/serve-copy.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { document, failure, temporary } from '../cli/run.ts';
import { until } from '../support/patience.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';

const SET = ['publish.history=copy', 'utxo.history=true', 'utxo.pruneDepth=20', 'utxo.rollbackWindow=20', 'utxo.pruneScheduleSeconds=1'];

describe('a store whose history is in its copy', { skip: withoutPostgres }, () => {
  let server: PostgresServer;

  before(async () => {
    server = await PostgresServer.start(async () => {});
  });

  after(() => server.stop());

  const open = (data: string): Promise<OpenStore> =>
    openStore({ data, control: false, config: loadConfig({ flags: { set: SET } }).config });
  const to = (height: number) => ({ until: { kind: 'height', height } as const });

  it('follows with the copy, forgets behind it, and the copy answers whole', async () => {
    const [data, url] = [temporary(), await server.unusedUrl()];
    const sync = ['sync', '--source', 'devnet:', '--until', 'height:30', '--data', data, ...SET.flatMap((text) => ['--set', text])];
    const { message } = await failure(sync, 'CONFIG', 3);
    assert.match(message, /publish\.to/, 'nothing is published');
    await document([...sync, '--publish-to', url]);
    let store = await open(data);
    for (const height of [60, 90]) {
      const thread = await startPublishing(store, url, 'columns');
      await store.follow('devnet:', to(height));
      await until(() => thread.report.height === height && thread.report.kept !== null, 'the copy has all');
      while (!store.prune().done);
      await thread.close();
      assert.equal(readElsewhere(store.engine), height - 19, 'all but the window has left');
      // Whoever opens it next goes on.
      await store.close();
      store = await open(data);
    }
    const reader = await serveCopy(url, { port: 0 });
    try {
      const answer = await fetch(new URL('kupo/matches/*?created_before=100&order=oldest_first', reader.url));
      const made = (await answer.json()) as { transaction_id: string; created_at: { slot_no: number } }[];
      assert.ok(made.length > 5, 'the copy knows what was made in the beginning');
      let pruned = 0;
      for (const { transaction_id: id } of made.slice(0, 20)) {
        const whole = await fetch(new URL(`blockfrost/txs/${id}/cbor`, reader.url));
        // Ids of what genesis granted are of no transaction.
        if (whole.status !== 200 || ((await whole.json()) as { cbor: string | null }).cbor === null) continue;
        assert.throws(
          () => store.read((query) => query.history().tx(Buffer.from(id, 'hex'))),
          (error) => isUnspentError(error, 'PRUNED') && error.message.includes('copy'),
        );
        pruned++;
      }
      assert.ok(pruned > 0, `of ${made.length} outputs none was of a transaction`);
    } finally {
      await reader.close();
      await store.close();
    }
  });

  it('is refused beside settings that need the history here', () => {
    for (const more of ['utxo.delta.selfContained=true', 'utxo.historyDepth=5', 'publish.form=sql'])
      assert.throws(
        () => loadConfig({ flags: { set: [...SET, more] } }),
        (error) => isUnspentError(error, 'CONFIG'),
        more,
      );
  });
});
