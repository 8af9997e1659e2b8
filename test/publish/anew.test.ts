/** Copies in PostgreSQL that begin anew, because they have fallen behind what their store still knows. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTarget } from '../../src/publish/open.ts';
import { pruneStep } from '../../src/state/pruned.ts';
import { Devnet, devnetOptions, KEEP_ALL, memoryRig } from '../support/harness.ts';
import { until } from '../support/patience.ts';
import { liveThroughNewCopy } from '../support/publish/begin-anew.ts';
import { publishedStore, publishOnce, startPublisher } from '../support/publish/rig.ts';
import { assertSameTables, freshTables, SqlCopy } from '../support/publish/sql-copy.ts';
import { walkTwoReaders } from '../support/publish/two-readers.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';

describe('a copy in PostgreSQL that begins anew', { skip: withoutPostgres }, () => {
  let server: PostgresServer;

  before(async () => {
    server = await PostgresServer.start(async () => {});
  });

  after(async () => {
    await server.stop();
  });

  it('of columns, is followed by its readers', async () => {
    await liveThroughNewCopy(await server.unusedUrl(), { graceMs: 0 });
  });

  it('and goes on, is read by two while blocks come and go', async (t) => {
    const report = await walkTwoReaders(await server.unusedUrl(), 20, 50);
    t.diagnostic(JSON.stringify(report));
    assert.ok(report.asked >= 100 && report.modelled > 10 && report.snapshots === 1, JSON.stringify(report));
  });

  it('of tables for people, shows nobody the head of before and the tables of after', async () => {
    const devnet = new Devnet(devnetOptions(42, 'conway'));
    const rig = memoryRig(devnet, { keeps: KEEP_ALL });
    const store = publishedStore(rig, 'devnet', devnet.ledger);
    const url = await server.unusedUrl();
    rig.forward(5);
    const target = await openTarget(url, 'sql', store);
    const publisher = await startPublisher(store, target);
    await publisher.sendSnapshot();
    rig.forward(5);
    const copy = await SqlCopy.open(url);
    let isSent = false;
    let sending: Promise<void> = Promise.resolve();
    await copy.atOneBlock(async () => {
      await copy.rows('SELECT seq FROM head');
      sending = publisher.sendSnapshot().then(() => {
        isSent = true;
      });
      await until(
        async () => isSent || (await server.execute('SELECT 1 FROM pg_locks WHERE NOT granted')).length > 0,
        'it is sent, or waits',
      );
      const [{ told, count }] = await copy.rows('SELECT (SELECT utxos FROM head) AS told, (SELECT count(*) FROM unspent) AS count');
      assert.equal(count, told);
    });
    await sending;
    assert.equal(await copy.check(), publisher.published.seq);
    publisher.close();
    await copy.close();
    await target.close();
  });

  it('of tables for people, is what one would be that begins now, and goes on', async () => {
    const devnet = new Devnet(devnetOptions(41, 'conway'), { dressed: true });
    const rig = memoryRig(devnet, { pruneDepth: 20, rollbackWindow: 25, keeps: KEEP_ALL });
    const store = publishedStore(rig, 'devnet', devnet.ledger);
    const url = `${await server.unusedUrl()}&partition=16`;
    rig.forward(30);
    const target = await openTarget(url, 'sql', store);
    const publisher = await startPublisher(store, target);
    const copy = await SqlCopy.open(url);
    assert.equal(await publishOnce(publisher), true);
    for (let round = 0; round < 2; round++) {
      rig.forward(60);
      while (!pruneStep(rig.engine, rig.projections, rig.fold.head?.height ?? 0, rig.options, 100).done);
      assert.equal(await publishOnce(publisher), true);
      await copy.check();
      assertSameTables(await copy.dump(), await freshTables(await server.unusedUrl(), store), `round ${round}`);
      rig.fold.rollback(devnet.pointBelow(3));
      devnet.chain.rollback(3);
      rig.forward(5);
      assert.equal(await publishOnce(publisher), false);
      await copy.check();
    }
    publisher.close();
    await copy.close();
    await target.close();
  });
});
