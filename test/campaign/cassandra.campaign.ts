/**
 * Three nodes of Cassandra, a random chain with rollbacks and pruning, and
 * publishers that end at every statement of a publication, two of which believe
 * to lead, while nodes are killed and started again. A reader looks all the time:
 * the outputs of its moment add up to what the head row there says. After each
 * turn the rows are the store's, byte for byte.
 *
 * UNSPENT_CAMPAIGN_KILLS ends of publishers at random statements, besides one at
 * each statement of a publication; UNSPENT_CAMPAIGN_NODES kills of a node.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import type { ScanOptions } from '../../src/engine/engine.ts';
import { AT } from '../../src/projections/coin.ts';
import { UNSPENT } from '../../src/projections/utxo.ts';
import { withFetchedRows } from '../../src/publish/fetched-rows.ts';
import { openTarget } from '../../src/publish/open.ts';
import { CassandraCopy } from '../../src/publish/remote/cassandra/store.ts';
import type { RemoteSnapshot } from '../../src/publish/remote/contract.ts';
import { readHead } from '../../src/state/head.ts';
import { pruneStep } from '../../src/state/pruned.ts';
import { readBigU64 } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { pause } from '../../src/util/pause.ts';
import { CassandraNode, withoutCassandra } from '../support/cassandra/cassandra-node.ts';
import { assertSameDump, Devnet, devnetOptions, dump, KEEP_ALL, memoryRig } from '../support/harness.ts';
import { eventually, until } from '../support/patience.ts';
import { CassandraCopyReader } from '../support/publish/cassandra-copy.ts';
import { publishedStore, publishOnce, startPublisher } from '../support/publish/rig.ts';

const SEED = Number(process.env['UNSPENT_CAMPAIGN_SEED'] ?? 17);
const KILLS = Number(process.env['UNSPENT_CAMPAIGN_KILLS'] ?? 150);
const NODE_KILLS = Number(process.env['UNSPENT_CAMPAIGN_NODES'] ?? 3);
/** More than there are. */
const ROWS = 1_000_000;

class Killed extends Error {}

/** Looks at one moment after the other until it is told to stop. */
class WatchingReader {
  moments = 0;
  unreachable = 0;
  private isStopped = false;
  private readonly watching: Promise<void>;

  constructor(url: string) {
    this.watching = this.watch(new CassandraCopy(url));
    this.watching.catch(() => undefined);
  }

  /** Throws what it has found wrong. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.watching;
  }

  private async watch(copy: CassandraCopy): Promise<void> {
    try {
      while (!this.isStopped) {
        try {
          const moment = await copy.pin();
          await check(moment);
          moment.release();
          this.moments++;
        } catch (error) {
          if (!isUnspentError(error, 'COPY_UNREACHABLE')) throw error;
          this.unreachable++;
        }
        await pause(50, {});
      }
    } finally {
      await copy.close();
    }
  }
}

async function check(moment: RemoteSnapshot): Promise<void> {
  const source = {
    get: moment.getMany.bind(moment),
    scan: (column: string, { gte, lt, reverse = false, limit = ROWS }: ScanOptions) => moment.scan(column, { gte, lt, reverse, limit }),
  };
  const head = await withFetchedRows(source, readHead);
  const rows = await moment.scan(UNSPENT, { gte: undefined, lt: undefined, reverse: false, limit: ROWS });
  const value = rows.reduce((sum, [, row]) => sum + readBigU64(row, AT.value), 0n);
  assert.equal(head?.height ?? null, moment.head.height, 'the row of the chain is of the published block');
  assert.deepEqual({ utxos: rows.length, value }, { utxos: head?.utxos ?? 0, value: head?.value ?? 0n }, `change ${moment.head.seq}`);
}

describe('a copy on three nodes of Cassandra', { skip: withoutCassandra }, () => {
  let nodes: CassandraNode[];

  before(async () => {
    nodes = await CassandraNode.startAll(3);
  });

  after(async () => {
    for (const node of nodes) await node.stop();
  });

  it('is the store, whoever ends when', async (context) => {
    const random = new Random(SEED);
    const devnet = new Devnet(devnetOptions(SEED, 'conway'), { dressed: true });
    const rig = memoryRig(devnet, { pruneDepth: 20, rollbackWindow: 25, keeps: [...KEEP_ALL, 'mmr'] });
    const store = publishedStore(rig, 'devnet', devnet.ledger);
    const url = `cassandra://${nodes.map(({ host }) => host).join(',')}/campaign?replication=3&buckets=16`;
    const columns = rig.engine.columns.map(({ name }) => name);
    rig.forward(30);

    let [kills, busy, fenced, compared, nodeKills, rollbacks] = [0, 0, 0, 0, 0, 0];
    /** One publisher, until it is done, ends at that statement, or is refused. */
    const publish = async (killAt: number, publisherName = 'one'): Promise<boolean> => {
      let statements = 0;
      const beforeStatement = (): void => {
        if (++statements >= killAt) throw new Killed();
      };
      const target = await openTarget(url, 'columns', store, { publisher: publisherName, beforeStatement });
      try {
        const publisher = await startPublisher(store, target);
        await publishOnce(publisher);
        await target.renew();
        publisher.close();
        return true;
      } catch (error) {
        if (error instanceof Killed) kills++;
        else if (isUnspentError(error, 'DATABASE_BUSY')) busy++;
        else if (isUnspentError(error, 'FENCED')) fenced++;
        else throw error;
        return false;
      } finally {
        await target.close();
      }
    };
    const publishAll = async (): Promise<void> => {
      while (!(await publish(Number.POSITIVE_INFINITY)));
    };
    const move = (): void => {
      if (random.chance(0.3)) {
        const back = 1 + random.int(5);
        rig.fold.rollback(devnet.pointBelow(back));
        devnet.chain.rollback(back);
        rollbacks++;
      }
      rig.forward(1 + random.int(3));
      pruneStep(rig.engine, rig.projections, rig.fold.head?.height ?? 0, rig.options, 5);
    };
    /** A node that was just killed may be asked once more; what the rows say must be right the first time. */
    const compare = async (what: string): Promise<void> => {
      const head = await eventually(async () => {
        const looking = await CassandraCopyReader.open(url);
        try {
          const found = await looking.head();
          return { found, rows: await looking.dump(found, columns) };
        } finally {
          await looking.close();
        }
      });
      assertSameDump(head.rows, dump(rig.engine), `${what}, at change ${head.found.seq}`);
      compared++;
    };

    await publishAll();
    const reader = new WatchingReader(url);
    move();
    for (let killAt = 1; !(await publish(killAt)); killAt++);
    await compare('after an end at every statement');
    const atEvery = kills;
    // Some of them get through: one that finishes what another has begun has more to do.
    const statements = 2 * atEvery;
    while (kills < atEvery + KILLS || nodeKills < NODE_KILLS) {
      move();
      const isNodeTurn = nodeKills < NODE_KILLS && kills >= atEvery + (KILLS * nodeKills) / NODE_KILLS;
      if (isNodeTurn) {
        const node = nodes[nodeKills++ % nodes.length];
        const publishing = publish(Number.POSITIVE_INFINITY);
        await pause(random.int(300), {});
        await node.kill();
        await publishing;
        await publishAll();
        move();
        await publishAll();
        await compare('without a node');
        await node.run();
      } else if (random.chance(0.2)) {
        const both = await Promise.all([publish(Number.POSITIVE_INFINITY), publish(Number.POSITIVE_INFINITY)]);
        if (!both.includes(true)) await publishAll();
      } else {
        while (!(await publish(1 + random.int(statements))));
      }
      if (random.chance(0.3)) await compare(`after ${kills} ends`);
    }
    await publishAll();
    await compare('at the end');
    await reader.stop();

    // All nodes are there: what nobody reads goes, and nothing else.
    const target = await openTarget(url, 'columns', store, { publisher: 'one' });
    await startPublisher(store, target);
    const looking = await CassandraCopyReader.open(url);
    await until(async () => {
      await target.renew();
      const { removed, version } = await looking.head();
      return removed === version;
    }, 'old versions are removed');
    const left = await looking.versions(await looking.head());
    const rows = [...dump(rig.engine).values()].reduce((sum, list) => sum + list.length, 0);
    await compare('with old versions removed');
    assert.equal(left, rows, 'one version of each row is left');
    await looking.close();
    await target.close();
    assert.ok(reader.moments > 10, `${reader.moments} moments`);
    context.diagnostic(
      `${kills} ends of publishers (${atEvery} one at each statement), ${fenced} fenced, ${busy} busy, ${nodeKills} nodes killed, ${rollbacks} rollbacks, ` +
        `${compared} comparisons, reader: ${reader.moments} moments, ${reader.unreachable} unreachable; ${rows} rows`,
    );
  });
});
