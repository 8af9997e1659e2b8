/**
 * The copy in Cassandra, on one node of the tests' own: byte for byte the store,
 * after blocks, rollbacks and pruning, after publishers that ended at any
 * statement, and with two that both believe to lead.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { Random } from '../../src/chains/random.ts';
import { cassandraPlace } from '../../src/publish/cassandra/place.ts';
import { openTarget } from '../../src/publish/open.ts';
import type { Publisher } from '../../src/publish/publisher.ts';
import { CassandraCopy } from '../../src/publish/remote/cassandra/store.ts';
import { serveCopy } from '../../src/server/serve-copy.ts';
import { pruneStep } from '../../src/state/pruned.ts';
import { toHex } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { CassandraNode, withoutCassandra } from '../support/cassandra/cassandra-node.ts';
import { RandomRequests } from '../support/copy/requests.ts';
import { assertSameDump, Devnet, devnetOptions, dump, KEEP_ALL, memoryRig, type Rig, TEST_SEED } from '../support/harness.ts';
import { keep } from '../support/keep.ts';
import { until } from '../support/patience.ts';
import { liveThroughNewCopy } from '../support/publish/begin-anew.ts';
import { CassandraCopyReader } from '../support/publish/cassandra-copy.ts';
import { publishedCopy } from '../support/publish/copy-publisher.ts';
import { publishThroughLosses } from '../support/publish/lost-answers.ts';
import { publishedStore, publishOnce, startPublisher } from '../support/publish/rig.ts';
import { walkTwoReaders } from '../support/publish/two-readers.ts';
import { Served } from '../support/served.ts';

class Killed extends Error {}

/** Statements between two ends: a prime, so that every step of a publication has its turn. */
const KILL_STEP = 5;

describe('a copy in Cassandra', { skip: withoutCassandra }, () => {
  let node: CassandraNode;
  let keyspaces = 0;
  const unusedUrl = (): string => `cassandra://${node.host}/copy_${++keyspaces}?replication=1&buckets=16`;

  before(async () => {
    node = await CassandraNode.start();
  });

  after(async (context) => {
    context.diagnostic?.(`the node took ${node.processorSeconds} s of processor time`);
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

  it('survives publishers that end at a statement, and two that both believe to lead', async () => {
    const devnet = new Devnet(devnetOptions(11, 'conway'));
    const rig = memoryRig(devnet, { keeps: keep() });
    rig.forward(6);
    const store = publishedStore(rig, 'devnet', devnet.ledger);
    const url = unusedUrl();
    let kills = 0;
    const persist = async (killAt: number): Promise<boolean> => {
      let statements = 0;
      const beforeStatement = (): void => {
        if (++statements >= killAt) throw new Killed();
      };
      // The same publisher after a restart need not wait for its own lease.
      const target = await openTarget(url, 'columns', store, { publisher: 'the one of this test', beforeStatement });
      try {
        const publisher = await startPublisher(store, target);
        await publishOnce(publisher);
        publisher.close();
        return true;
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        kills++;
        return false;
      } finally {
        await target.close();
      }
    };
    assert.ok(await persist(Number.POSITIVE_INFINITY));
    const reader = await CassandraCopyReader.open(url);
    for (let turn = 0; turn < 3; turn++) {
      if (turn === 1) {
        rig.fold.rollback(devnet.pointBelow(3));
        devnet.chain.rollback(3);
      }
      rig.forward(2);
      for (let killAt = 1 + turn; !(await persist(killAt)); killAt += KILL_STEP) await reader.check();
      await assertIsStore(rig, url, `turn ${turn}`);
    }
    assert.ok(kills > 10, `${kills} ends`);

    const targets = await Promise.all([1, 2].map(() => openTarget(url, 'columns', store, { publisher: 'the one of this test' })));
    const publishers: (Publisher | null)[] = [await startPublisher(store, targets[0]), await startPublisher(store, targets[1])];
    let fenced = 0;
    const take = async (which: number): Promise<void> => {
      try {
        if (publishers[which] === null) publishers[which] = await startPublisher(store, targets[which]);
        await publishOnce(publishers[which]);
      } catch (error) {
        if (!isUnspentError(error, 'FENCED')) throw error;
        fenced++;
        publishers[which] = null;
      }
    };
    for (let i = 0; i < 4; i++) {
      rig.forward(1);
      await Promise.all([take(0), take(1)]);
      await reader.check();
    }
    assert.ok(fenced > 1, `${fenced} times one was told`);
    await publishOnce(await startPublisher(store, targets[0]));
    await assertIsStore(rig, url, 'two publishers');
    for (const target of targets) await target.close();
    await reader.close();
  });

  it('keeps no old version that nobody reads, and all that a reader needs', async () => {
    const devnet = new Devnet(devnetOptions(3, 'conway'));
    const rig = memoryRig(devnet, { keeps: keep() });
    rig.forward(8);
    const store = publishedStore(rig, 'devnet', devnet.ledger);
    const url = unusedUrl();
    const target = await openTarget(url, 'columns', store);
    const publisher = await startPublisher(store, target);
    await publishOnce(publisher);
    rig.forward(1);
    await publishOnce(publisher);
    // The snapshot was the first version, this block is the second.
    const readVersion = 2n;
    const behind = new CassandraCopy(url);
    const moment = await behind.pin();
    const before = dump(rig.engine);
    const columns = rig.engine.columns.map(({ name }) => name);
    for (let i = 0; i < 6; i++) {
      rig.forward(1);
      await publishOnce(publisher);
    }
    const reader = await CassandraCopyReader.open(url);
    const live = (): number => [...dump(rig.engine).values()].reduce((sum, rows) => sum + rows.length, 0);
    const versions = async (): Promise<number> => reader.versions(await reader.head());
    await until(async () => {
      await target.renew();
      return (await reader.head()).removed === readVersion;
    }, 'what the reader does not need is gone');
    await target.renew();
    assert.ok((await versions()) > live(), 'what it needs is there');
    for (const name of columns) {
      const rows = await moment.scan(name, { gte: undefined, lt: undefined, reverse: false, limit: 1_000_000 });
      assert.deepEqual(
        rows.map(([key, value]) => `${toHex(key)} ${toHex(value)}`),
        before.get(name),
        name,
      );
      const back = await moment.scan(name, { gte: undefined, lt: undefined, reverse: true, limit: 7 });
      assert.deepEqual(back, rows.slice(-7).reverse(), `${name} backwards`);
    }
    moment.release();
    await behind.close();
    await until(async () => {
      await target.renew();
      return (await versions()) === live();
    }, 'only rows of the newest block are there');
    await assertIsStore(rig, url, 'what is left');
    publisher.close();
    await target.close();
    await reader.close();
  });

  it('is refused without words of its password, and where nothing is', async () => {
    const wrong = `cassandra://somebody:hunter2@127.0.0.1:1/copy`;
    const shows = (error: unknown): boolean => /hunter2/.test(inspect(error));
    await assert.rejects(serveCopy(wrong, { port: 0 }), (error) => isUnspentError(error, 'COPY_UNREACHABLE') && !shows(error));
    await assert.rejects(serveCopy(unusedUrl(), { port: 0 }), (error) => isUnspentError(error, 'COPY_UNREADY'));
    for (const url of [
      'cassandra://a/B',
      'cassandra://a:x/b',
      'cassandra://a/b?replicas=3',
      'cassandra://a/b?buckets=100',
      'cassandra://u:p%@a/b',
    ])
      assert.throws(
        () => cassandraPlace(url),
        (error) => isUnspentError(error, 'USAGE'),
        url,
      );
  });

  it('has each change once where answers to compare-and-set are lost', async () => {
    const url = unusedUrl();
    const check = async (rig: Rig): Promise<number> => {
      await assertIsStore(rig, url, 'behind lost answers');
      const reader = await CassandraCopyReader.open(url);
      const { seq } = await reader.head();
      await reader.close();
      return seq;
    };
    await publishThroughLosses({ form: 'columns', url, proxy: null, isCut: () => true, check });
  });

  it('is read by two while blocks come and go', async (t) => {
    const report = await walkTwoReaders(unusedUrl(), 10, 25);
    t.diagnostic(JSON.stringify(report));
    assert.ok(report.asked >= 50 && report.snapshots === 1, JSON.stringify(report));
  });

  it('begins anew, and its readers follow', () => liveThroughNewCopy(unusedUrl()));

  it('answers every route as the store does, through a reader, while blocks come and go', async () => {
    const served = await Served.open({ mirrored: publishedCopy(unusedUrl()), blocks: 40, store: { pruneDepth: 30, rollbackWindow: 40 } });
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
