/**
 * The copy in Cassandra, on one node of the tests' own: byte for byte the store,
 * after blocks, rollbacks and pruning, after publishers that ended at any
 * statement, and with two that both believe to lead.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { openTarget } from '../../src/publish/open.ts';
import { pruneStep } from '../../src/state/pruned.ts';
import { CassandraNode, withoutCassandra } from '../support/cassandra/cassandra-node.ts';
import { RandomRequests } from '../support/copy/requests.ts';
import { assertSameDump, Devnet, devnetOptions, dump, KEEP_ALL, memoryRig, type Rig, TEST_SEED } from '../support/harness.ts';
import { CassandraCopyReader } from '../support/publish/cassandra-copy.ts';
import { cassandraCopy } from '../support/publish/cassandra-publisher.ts';
import { publishedStore, publishOnce, startPublisher } from '../support/publish/rig.ts';
import { Served } from '../support/served.ts';

describe('a copy in Cassandra', { skip: withoutCassandra }, () => {
  let node: CassandraNode;
  let keyspaces = 0;
  const unusedUrl = (): string => `cassandra://${node.host}/copy_${++keyspaces}?replication=1&buckets=16`;

  before(async () => {
    node = await CassandraNode.start();
  });

  after(async () => {
    await node.stop();
  });

  async function assertIsStore(rig: Rig, url: string, what: string): Promise<void> {
    const reader = await CassandraCopyReader.open(url);
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
    const url = unusedUrl();
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

  it('answers every route as the store does, through a reader, while blocks come and go', async () => {
    const served = await Served.open({ mirrored: cassandraCopy(unusedUrl()), blocks: 40, store: { pruneDepth: 30, rollbackWindow: 40 } });
    const requests = new RandomRequests(new Random(TEST_SEED), served.devnet);
    let asked = 0;
    for (let round = 0; round < 3; round++) {
      for (const kind of RandomRequests.kinds) {
        await served.ask(requests.next(kind));
        asked++;
      }
      if (round % 2 === 0) served.forward(3);
      else served.back(2);
      if (round === 1) served.prune();
    }
    const { mirror } = served;
    assert.equal(mirror?.compared, asked);
    assert.ok(mirror.copy.figures.reads > asked / 2 && mirror.copy.figures.statements > 0, 'the rows came from the database');
    await served.close();
  });
});
