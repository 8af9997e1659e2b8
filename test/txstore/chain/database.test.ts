/**
 * Records of transactions in a database (`txs.store=sqlite:FILE`) as an operator
 * has them: a store that follows a source far ahead of its database, the commands,
 * the HTTP routes, and what is said where database and store are apart.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { formatId, parseId } from '../../../src/ledgers/bitcoin/index.ts';
import { HISTORY_TX, historyTxKey } from '../../../src/projections/history/rows.ts';
import { readTxRow, TX } from '../../../src/projections/transactions.ts';
import { serve } from '../../../src/server/serve.ts';
import type { Run, Source } from '../../../src/sources/source.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import type { StoreTxs } from '../../../src/store/store-txs.ts';
import type { FedRecords } from '../../../src/txstore/chain/chain-records.ts';
import type { TxBlobs } from '../../../src/txstore/prune/blobs.ts';
import { READY_BLOCKS_BEHIND_MAX } from '../../../src/util/limits.ts';
import { document, failure, temporary, unspent } from '../../cli/run.ts';
import { PlainChain } from '../../support/bitcoin-chain.ts';
import { until } from '../../support/patience.ts';

const R = 8;
const BLOCKS = 90;
/** The store forgets what blocks did after so many: the database must never be further behind. */
const DEPTH = 24;

const directory = temporary();
const data = join(directory, 'data');
const database = `sqlite:${join(directory, 'records.sqlite')}`;
const SETTINGS = {
  'txs.store': database,
  'txs.retention': R,
  'txs.skipCatchUp': false,
  'txs.boundHistory': true,
  'utxo.history': true,
  'utxo.pruneDepth': DEPTH,
  'utxo.pruneScheduleSeconds': 1,
};
const flags = ['--data', data, '--set', `txs.store=${database}`];
const chain = new PlainChain(11, { txsMax: 4 });
/** Ids as people write them. */
const found = { pruned: '', kept: '' };

/** Blocks as fast as they are taken. */
const fast: Source = {
  name: 'a source that is far ahead',
  async *runs() {
    for (const { raw, height } of chain.blocks) {
      const run: Run = { events: [{ kind: 'forward', raw, intact: true, height }], tip: { height: BLOCKS, slot: BLOCKS }, atTip: false };
      yield run;
    }
  },
};

async function withStore<T>(body: (store: OpenStore, txs: StoreTxs) => Promise<T>): Promise<T> {
  const store = await openStore({ data, network: 'bitcoin-regtest', settings: SETTINGS });
  try {
    return await body(store, store.txs!);
  } finally {
    await store.close();
  }
}

async function recordIds({ records }: StoreTxs): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { txId } of (records as FedRecords).records()) ids.add(formatId(txId));
  return ids;
}

before(async () => {
  while ((chain.tip?.height ?? -1) < BLOCKS) chain.mine();
  await withStore(async (store, txs) => {
    let lagMax = 0;
    store.fold.watchers.add({
      applied: () => {
        lagMax = Math.max(lagMax, store.fold.head!.height - (txs.report?.height ?? 0));
      },
    });
    await store.follow(fast);
    assert.equal(txs.report!.height, BLOCKS, 'following ends when the database has everything');
    assert.ok(lagMax > 0 && lagMax < DEPTH, `the database was ${lagMax} blocks behind at most`);
    await txs.pass();
    const kept = await recordIds(txs);
    const all = chain.blocks.slice(1).flatMap((block) => block.txs.map(({ id }) => formatId(id)));
    found.pruned = all.find((id) => !kept.has(id))!;
    found.kept = all.find((id) => kept.has(id))!;
    assert.ok(store.engine.get(TX, parseId(found.pruned)) !== undefined && kept.size > 20);
  });
});

interface Json {
  readonly [name: string]: unknown;
}

describe('unspent txs with a database', () => {
  test('status, get, prune, blocked, verify and rebuild-index', async () => {
    const status = await document<Json>(['txs', 'status', ...flags]);
    assert.deepEqual([status['place'], status['height'], status['retention']], ['sqlite', BLOCKS, R]);
    assert.ok(Number(status['prunedHeight']) > R);
    assert.equal((await document<Json>(['txs', 'get', found.kept, ...flags]))['tx_id'], found.kept);
    await failure(['txs', 'get', found.pruned, ...flags], 'PRUNED', 1);
    await failure(['txs', 'get', '00'.repeat(32), ...flags], 'NOT_FOUND', 1);
    assert.equal((await document<Json>(['txs', 'prune', ...flags]))['reason'], 'completed');
    assert.equal((await document<Json>(['txs', 'prune', '--dry-run', ...flags]))['end'], 'completed');
    assert.ok('blocked' in (await document<Json>(['txs', 'blocked', ...flags])));
    assert.deepEqual((await document<Json>(['txs', 'rebuild-index', ...flags]))['differences'], []);
    const { records, faultCount } = await document<Json>(['txs', 'verify', ...flags]);
    assert.deepEqual([records, faultCount], [status['records'], 0]);
    assert.match((await unspent(['txs', 'status', ...flags])).stdout, /database\s+sqlite, at height 90/);
  });

  test('a database of another chain is refused, and so is a store that has forgotten its first blocks', async () => {
    const other = { data: join(directory, 'litecoin'), network: 'litecoin-regtest', settings: SETTINGS };
    const store = await openStore(other);
    await assert.rejects(store.txs!.catchUp(), { code: 'CONFIG' });
    await store.close();
    const empty = `sqlite:${join(directory, 'empty.sqlite')}`;
    const late = await openStore({ data, network: 'bitcoin-regtest', settings: { ...SETTINGS, 'txs.store': empty } });
    await assert.rejects(late.txs!.catchUp(), { code: 'EXPIRED', message: /only a new store can/ });
    await late.close();
  });

  test('without a history there is nothing to feed it from', async () => {
    const settings = { 'txs.store': `sqlite:${join(directory, 'other.sqlite')}` };
    await assert.rejects(openStore({ data: join(directory, 'other'), network: 'bitcoin-regtest', settings }), { code: 'CONFIG' });
  });
});

type Get = (path: string) => Promise<{ readonly status: number; readonly json: { readonly reason: string } | null }>;

/** Some blocks that the database does not have: what is said of records is not of the newest blocks then. */
async function becomesUnready({ fold, network }: OpenStore, get: Get): Promise<void> {
  assert.equal((await get('ready')).status, 200);
  for (let n = 0; n <= READY_BLOCKS_BEHIND_MAX; n++) {
    const { raw, height } = chain.mine();
    fold.apply([network.ledger.decode(raw, height)]);
  }
  await until(async () => (await get('ready')).status === 503, 'it is not ready any more');
  assert.match((await get('ready')).json!.reason, /^the records of transactions are 6 blocks behind the store$/);
  assert.equal((await get('health')).status, 200);
}

describe('records of a database over HTTP', () => {
  test('status, a record, PRUNED, and NOT_YET while the database is behind', () =>
    withStore(async (store, txs) => {
      const served = await serve(store, { port: 0 });
      const get = async (path: string) => {
        const answer = await fetch(`${served.url}${path}`);
        const text = await answer.text();
        return { status: answer.status, text, json: text.startsWith('{') ? JSON.parse(text) : null };
      };
      try {
        const { json: status } = await get('api/v1/txs/status');
        assert.deepEqual(
          [status.place, status.height, status.consumers],
          ['sqlite', BLOCKS, [{ name: 'records', height: BLOCKS, allows: BLOCKS + R }]],
        );
        assert.equal((await get(`api/v1/txs/${found.kept}`)).json.tx_id, found.kept);
        const pruned = await get(`api/v1/txs/${found.pruned}`);
        assert.deepEqual([pruned.status, pruned.json.code], [410, 'PRUNED']);
        assert.equal((await get(`api/tx/${found.pruned}`)).status, 410, 'the bytes went with the record');
        assert.match((await get('metrics')).text, /^unspent_prune_consumer_height\{consumer="records"\} 90$/m);
        const { raw, height, txs: news } = chain.mine();
        store.fold.apply([store.network.ledger.decode(raw, height)]);
        const path = `api/v1/txs/${formatId(news[0].id)}`;
        // The thread that answers hears of the block a moment later.
        await until(async () => (await get(path)).json.code === 'NOT_YET', 'the block is there, and its records are not');
        await txs.catchUp();
        assert.equal((await get(path)).json.state, 'mined');
        await becomesUnready(store, get);
        await txs.catchUp();
        await until(async () => (await get('ready')).status === 200, 'it is ready again');
      } finally {
        await served.close();
      }
    }));
});

describe('bytes of records in a database', () => {
  const historyBytes = ({ engine }: OpenStore, txId: Uint8Array): number => {
    const { height, txIndex } = readTxRow(engine.get(TX, txId)!);
    return engine.get(HISTORY_TX, historyTxKey(height, txIndex))!.length;
  };
  const advance = async ({ fold, network }: OpenStore, txs: StoreTxs): Promise<void> => {
    for (let n = 0; n < 4; n++) {
      const { raw, height } = chain.mine();
      fold.apply([network.ledger.decode(raw, height)]);
    }
    await txs.catchUp();
  };

  for (const [what, strike] of [
    ['before they are gone', (blobs: TxBlobs) => Object.assign(blobs, { delete: () => Promise.reject(new Error('killed')) })],
    [
      'when they are gone, and the database has not heard of it',
      (_: TxBlobs, records: FedRecords) => Object.assign(records, { blobsDeleted: () => Promise.reject(new Error('killed')) }),
    ],
  ] as const) {
    test(`F15 SD58 go with the next pass where one was killed ${what}`, async () => {
      let left: readonly Uint8Array[] = [];
      await withStore(async (store, txs) => {
        await advance(store, txs);
        assert.ok(txs.place.kind !== 'embedded' && txs.place.blobs !== undefined);
        const { blobs, records } = txs.place;
        assert.deepEqual(await records.blobsLeft(1), []);
        strike(blobs, records);
        const { end, deleted } = await txs.pass();
        assert.ok(end === 'completed' && deleted > 0);
        assert.ok(txs.pruner.counters.get('prune_blob_errors_total') >= 2);
        left = await records.blobsLeft(1000);
        assert.equal(left.length, deleted);
      });
      await withStore(async (store, txs) => {
        const records = txs.records as FedRecords;
        assert.deepEqual(await records.blobsLeft(1000), left);
        const isThere = left.some((txId) => historyBytes(store, txId) > 32);
        assert.equal(isThere, what === 'before they are gone');
        await advance(store, txs);
        const { deleted } = await txs.pass();
        assert.deepEqual(await records.blobsLeft(1), []);
        for (const txId of left) assert.equal(historyBytes(store, txId), 32);
        assert.equal(txs.pruner.counters.get('prune_blob_deleted_total'), deleted + left.length);
        for (const txId of await recordIds(txs)) assert.ok(historyBytes(store, parseId(txId)) > 32, 'no record is without its bytes');
      });
    });
  }
});
