/**
 * The copy in PostgreSQL, form `sql`: whatever way its tables came to where they
 * are, by blocks and rollbacks or by a snapshot, they are the same, and they are
 * what the store says.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTarget } from '../../src/publish/open.ts';
import type { PublishedStore } from '../../src/publish/published-store.ts';
import type { Publisher } from '../../src/publish/publisher.ts';
import { digestOf } from '../../src/query/digest.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { PlainChain } from '../support/bitcoin-chain.ts';
import { memoryBitcoin } from '../support/bitcoin-rig.ts';
import { Devnet, devnetOptions, type Flavour, KEEP_ALL, memoryRig } from '../support/harness.ts';
import { publishedStore, publishOnce, startPublisher } from '../support/publish/rig.ts';
import { assertSameTables, freshTables, SqlCopy } from '../support/publish/sql-copy.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';

interface Moving {
  readonly store: PublishedStore;
  forward(count: number): void;
  back(depth: number): void;
}

function cardano(seed: number, flavour: Flavour, selfContained: boolean): Moving {
  const devnet = new Devnet(devnetOptions(seed, flavour), { dressed: true });
  const rig = memoryRig(devnet, { selfContained, keeps: KEEP_ALL });
  return {
    store: publishedStore(rig, 'devnet', devnet.ledger),
    forward: (count) => rig.forward(count),
    back(depth) {
      rig.fold.rollback(devnet.pointBelow(depth));
      devnet.chain.rollback(depth);
    },
  };
}

function bitcoin(seed: number): Moving {
  const chain = new PlainChain(seed);
  const rig = memoryBitcoin(chain);
  return {
    store: publishedStore(rig, 'bitcoin-regtest', rig.ledger),
    forward: (count) => rig.forward(count),
    back: (depth) => rig.back(depth),
  };
}

describe('a copy for people in PostgreSQL', { skip: withoutPostgres }, () => {
  let server: PostgresServer;

  before(async () => {
    server = await PostgresServer.start(async () => {});
  });

  /** What a test that failed has left open would keep the process. */
  const open = new Set<{ close(): Promise<void> }>();
  const opened = <T extends { close(): Promise<void> }>(one: T): T => {
    open.add(one);
    return one;
  };

  after(async () => {
    await Promise.all([...open].map((one) => one.close()));
    await server.stop();
  });

  async function live({ store, forward, back }: Moving): Promise<void> {
    const url = `${await server.unusedUrl()}&partition=16`;
    forward(5);
    let target = opened(await openTarget(url, 'sql', store));
    let publisher: Publisher = await startPublisher(store, target);
    assert.equal(await publishOnce(publisher), true);
    const copy = opened(await SqlCopy.open(url));
    let seq = await copy.check();
    for (const [i, [depth, count, again]] of [
      [0, 1, false],
      [0, 40, false],
      [3, 2, false],
      [7, 0, true],
      [5, 9, true],
      [0, 3, false],
      [30, 12, false],
    ].entries() as Iterable<[number, [number, number, boolean]]>) {
      if (depth > 0) back(depth);
      if (again) {
        publisher.close();
        await target.close();
        target = opened(await openTarget(url, 'sql', store));
        publisher = await startPublisher(store, target);
      }
      if (count > 0) forward(count);
      assert.equal(await publishOnce(publisher), false, `turn ${i} needs no snapshot`);
      const now = await copy.check();
      assert.ok(now > seq);
      seq = now;
      if (i % 3 === 2 || i === 6) assertSameTables(await copy.dump(), await freshTables(await server.unusedUrl(), store), `turn ${i}`);
      const { utxos, value } = digestOf(store.engine);
      const [row] = await copy.rows('SELECT count(*) AS utxos, sum(value) AS value FROM unspent');
      assert.deepEqual([Number(row['utxos']), BigInt(String(row['value']))], [utxos, value]);
    }
    assert.ok((await copy.tables()).filter((name) => /^spent_[0-9]+$/.test(name)).length > 2, 'the tables are cut by height');
    await copy.close();
    publisher.close();
    await target.close();
  }

  it('of Cardano is what a snapshot would be, after blocks and rollbacks', () => live(cardano(21, 'conway', false)));

  it('of every era, with undo records that carry what was spent', () => live(cardano(22, 'ancient', true)));

  it('of the Bitcoin family', () => live(bitcoin(23)));

  it('is refused where the schema holds columns, and columns where it holds this', async () => {
    const { store, forward } = bitcoin(24);
    forward(2);
    const url = await server.unusedUrl();
    for (const [first, second] of [
      ['sql', 'columns'],
      ['columns', 'sql'],
    ] as const) {
      const place = `${url}&schema=of_${first}`;
      const target = opened(await openTarget(place, first, store));
      await publishOnce(await startPublisher(store, target));
      const other = opened(await openTarget(place, second, store));
      await assert.rejects(other.claim(new AbortController().signal), (error) => isUnspentError(error, 'STORE_SHAPE'));
      await Promise.all([target.close(), other.close()]);
    }
  });
});
