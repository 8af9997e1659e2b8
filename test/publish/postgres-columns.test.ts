/** The copy in PostgreSQL, form `columns`: byte for byte the store, whatever happens to publishers and to the server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTarget } from '../../src/publish/open.ts';
import { pruneStep } from '../../src/state/pruned.ts';
import { assertSameDump, Devnet, devnetOptions, dump, KEEP_ALL, memoryRig, type Rig } from '../support/harness.ts';
import { until } from '../support/patience.ts';
import { CopyReader } from '../support/publish/postgres-copy.ts';
import { publishedStore, publishOnce, startPublisher } from '../support/publish/rig.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';

describe('a copy in PostgreSQL', { skip: withoutPostgres }, () => {
  let server: PostgresServer;

  before(async () => {
    server = await PostgresServer.start(async () => {});
  });

  after(async () => {
    await server.stop();
  });

  async function assertIsStore(rig: Rig, url: string, what: string): Promise<void> {
    const reader = await CopyReader.open(url);
    try {
      await reader.check();
      await reader.read(async (head) => {
        const columns = rig.engine.columns.map(({ name }) => name);
        assertSameDump(await reader.dump(head, columns), dump(rig.engine), what);
      });
    } finally {
      await reader.close();
    }
  }

  it('is the store after blocks, rollbacks and pruning, and after a publisher that went', async () => {
    const devnet = new Devnet(devnetOptions(7, 'ancient'), { dressed: true });
    const rig = memoryRig(devnet, { pruneDepth: 20, rollbackWindow: 25, keeps: [...KEEP_ALL, 'mmr'] });
    const url = await server.unusedUrl();
    const store = publishedStore(rig, 'devnet', devnet.ledger);
    rig.forward(40);
    let target = await openTarget(url, 'columns', store);
    let publisher = await startPublisher(store, target);
    assert.equal(await publishOnce(publisher), true);
    await assertIsStore(rig, url, 'the snapshot');
    const prune = () => pruneStep(rig.engine, rig.projections, rig.fold.head?.height ?? 0, rig.options, 5);
    for (let i = 0; i < 8; i++) {
      rig.forward(1 + (i % 3));
      prune();
      if (i % 3 === 2) {
        rig.fold.rollback(devnet.pointBelow(i));
        devnet.chain.rollback(i);
      }
      if (i === 4) {
        publisher.close();
        await target.close();
        target = await openTarget(url, 'columns', store);
        publisher = await startPublisher(store, target);
      }
      assert.equal(await publishOnce(publisher), false, `turn ${i} needs no snapshot`);
      await assertIsStore(rig, url, `turn ${i}`);
    }
    publisher.close();
    await target.close();
  });

  it('never walks through a table, however small it was at first', async () => {
    const devnet = new Devnet(devnetOptions(5, 'conway'), { dressed: true });
    const rig = memoryRig(devnet, { keeps: KEEP_ALL });
    const url = await server.unusedUrl();
    const store = publishedStore(rig, 'devnet', devnet.ledger);
    const target = await openTarget(url, 'columns', store);
    const publisher = await startPublisher(store, target);
    await publishOnce(publisher);
    for (let i = 0; i < 6; i++) {
      rig.forward(10);
      await publishOnce(publisher);
    }
    publisher.close();
    // Its server process tells what it read when it ends.
    await target.close();
    const text = "SELECT sum(seq_tup_read) AS rows, sum(n_tup_del) AS deleted FROM pg_stat_user_tables WHERE relname LIKE 'c\\_%'";
    await until(async () => {
      const [{ rows, deleted }] = await server.execute(text, new URL(url).pathname.slice(1));
      if (Number(deleted) > 0) assert.equal(Number(rows), 0);
      return Number(deleted) > 0;
    }, 'rows were deleted');
  });

  it('takes a row that should not be there for what it is to become', async () => {
    const devnet = new Devnet(devnetOptions(3, 'conway'), { dressed: true });
    const rig = memoryRig(devnet, { keeps: KEEP_ALL });
    const url = await server.unusedUrl();
    const store = publishedStore(rig, 'devnet', devnet.ledger);
    rig.forward(5);
    const target = await openTarget(url, 'columns', store);
    const publisher = await startPublisher(store, target);
    await publishOnce(publisher);
    rig.forward(3);
    const hash = Buffer.from(rig.fold.head?.hash ?? []).toString('hex');
    await server.execute(`INSERT INTO unspent.c_chain_hash VALUES ('\\x${hash}', '\\x00')`, new URL(url).pathname.slice(1));
    assert.equal(await publishOnce(publisher), false);
    await assertIsStore(rig, url, 'the copy');
    publisher.close();
    await target.close();
  });
});
