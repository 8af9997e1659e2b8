/**
 * Who leads a copy in PostgreSQL, and what stands in the way: a snapshot that
 * takes longer than tables which were replaced stay, a lead that is lost in the
 * middle, a leader that fell silent, a database that takes no writes for a while.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTarget } from '../../src/publish/open.ts';
import { PublishRunner } from '../../src/publish/runner.ts';
import type { CopyTarget } from '../../src/publish/target.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { Devnet, devnetOptions, memoryRig, type Rig } from '../support/harness.ts';
import { keep } from '../support/keep.ts';
import { until } from '../support/patience.ts';
import { CopyReader } from '../support/publish/postgres-copy.ts';
import { publishedStore, publishOnce, startPublisher } from '../support/publish/rig.ts';
import { SqlCopy } from '../support/publish/sql-copy.ts';
import { executeIn } from '../support/sql/execute.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';

/** One after the other is the same publisher to the copy: it need not wait for its own lease. */
const ME = { publisher: 'the one of this test' } as const;

const FORMS: readonly CopyTarget['form'][] = ['columns', 'sql'];

describe('the lead of a copy in PostgreSQL', { skip: withoutPostgres }, () => {
  let server: PostgresServer;

  before(async () => {
    server = await PostgresServer.start(async () => {});
  });

  after(async () => {
    await server.stop();
  });

  function chain(seed: number): { readonly rig: Rig; readonly store: ReturnType<typeof publishedStore> } {
    const devnet = new Devnet(devnetOptions(seed, 'conway'));
    const rig = memoryRig(devnet, { keeps: keep() });
    rig.forward(6);
    return { rig, store: publishedStore(rig, 'devnet', devnet.ledger) };
  }

  async function check(form: CopyTarget['form'], url: string): Promise<void> {
    const reader = form === 'columns' ? await CopyReader.open(url) : await SqlCopy.open(url);
    await reader.check();
    await reader.close();
  }

  for (const form of FORMS) {
    it(`${form}: tables that are being filled stay, however long that takes`, async () => {
      const { rig, store } = chain(21);
      const url = await server.unusedUrl();
      let signs = 0;
      // A sign of life before each portion of rows, when tables of former copies are due to go.
      const beforeStatement = async (sql: string): Promise<void> => {
        if (!sql.startsWith('COPY')) return;
        signs++;
        await target.renew();
      };
      const target = await openTarget(url, form, store, { ...ME, graceMs: 0, beforeStatement });
      const publisher = await startPublisher(store, target);
      for (let snapshots = 0; snapshots < 3; snapshots++) {
        await publisher.sendSnapshot();
        await check(form, url);
        rig.forward(2);
        assert.equal(await publishOnce(publisher), false);
        await check(form, url);
      }
      assert.ok(signs > 10, `${signs} signs of life`);
      // Now nothing is being filled: what was replaced goes.
      await target.renew();
      const tables = await executeIn(
        url,
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'unspent' AND table_name ~ '^c[0-9]*_|^load'",
      );
      const wanted = form === 'columns' ? rig.engine.columns.length : 0;
      assert.equal(tables.length, wanted, JSON.stringify(tables));
      publisher.close();
      await target.close();
    });

    it(`${form}: a publisher whose sign of life was refused is told that another leads`, async () => {
      const { store } = chain(22);
      const url = await server.unusedUrl();
      const other = await openTarget(url, form, store, ME);
      let isLost = false;
      const beforeStatement = async (sql: string): Promise<void> => {
        if (!sql.startsWith('COPY') || isLost) return;
        isLost = true;
        await other.claim(new AbortController().signal);
        await assert.rejects(target.renew(), (error) => isUnspentError(error, 'FENCED'));
      };
      const target = await openTarget(url, form, store, { ...ME, beforeStatement });
      const publisher = await startPublisher(store, target);
      await assert.rejects(publishOnce(publisher), (error) => isUnspentError(error, 'FENCED'));
      publisher.close();
      await target.close();
      await other.close();
    });

    it(`${form}: another takes over from a leader that is silent, and goes on at its head`, async () => {
      const { rig, store } = chain(23);
      const url = await server.unusedUrl();
      const silent = await openTarget(url, form, store);
      const first = await startPublisher(store, silent);
      assert.equal(await publishOnce(first), true);
      rig.forward(2);
      const target = await openTarget(url, form, store);
      let waits = 0;
      const runner = new PublishRunner(store, target, { follow: false, onReport: ({ state }) => (waits += state === 'waiting' ? 1 : 0) });
      await runner.run(new AbortController().signal);
      const { snapshots, blocks, lag } = runner.report;
      assert.deepEqual({ snapshots, blocks, lag }, { snapshots: 0, blocks: 2, lag: 0 });
      assert.ok(waits > 0, 'it waited for the lease of the other');
      await check(form, url);
      rig.forward(1);
      await assert.rejects(publishOnce(first), (error) => isUnspentError(error, 'FENCED'));
      first.close();
      await target.close();
      await silent.close();
    });
  }

  it('a publisher that follows goes on when the database takes writes again, and says meanwhile how far behind the copy is', async (t) => {
    const { rig, store } = chain(24);
    const url = await server.unusedUrl();
    const database = new URL(url).pathname.slice(1);
    const takesWrites = async (takes: boolean): Promise<void> => {
      await server.execute(`ALTER DATABASE ${database} SET default_transaction_read_only = ${takes ? 'off' : 'on'}`);
      await server.endConnections(url);
    };
    const target = await openTarget(url, 'columns', store);
    const runner = new PublishRunner(store, target, { follow: true });
    const stop = new AbortController();
    t.after(() => stop.abort());
    const running = runner.run(stop.signal);
    let failure: unknown = null;
    running.catch((error: unknown) => {
      failure = error;
    });
    const reaches = (state: string, lag: number): Promise<void> =>
      until(
        () => {
          if (failure !== null) throw failure;
          return runner.report.state === state && runner.report.lag === lag;
        },
        () => `${state} at a lag of ${lag}: ${JSON.stringify(runner.report)}`,
      );
    await reaches('publishing', 0);
    await takesWrites(false);
    rig.forward(3);
    runner.moved();
    await reaches('unreachable', 3);
    await until(() => runner.report.lastError?.includes('25006') === true, 'it says why');
    rig.forward(1);
    await reaches('unreachable', 4);
    // Another has taken over when the database is back.
    const values = "epoch = epoch + 1, publisher = 'another', lease_until = now() + interval '1 hour'";
    await executeIn(url, `BEGIN READ WRITE; UPDATE unspent.head SET ${values}; COMMIT`);
    await takesWrites(true);
    await reaches('waiting', 4);
    assert.equal(runner.report.lastError, null);
    await executeIn(url, 'UPDATE unspent.head SET lease_until = NULL');
    await reaches('publishing', 0);
    assert.equal(runner.report.snapshots, 1);
    stop.abort();
    await running;
    await target.close();
    await check('columns', url);
  });
});
