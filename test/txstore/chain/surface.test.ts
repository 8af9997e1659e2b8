/**
 * The records of transactions as an operator sees them: the commands, the HTTP
 * routes, the metrics and the warnings, on a store with a random chain of the
 * Bitcoin family that was pruned.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { formatId, parseId } from '../../../src/ledgers/bitcoin/index.ts';
import { TX } from '../../../src/projections/transactions.ts';
import { rawBlock } from '../../../src/query/bitcoin/raw-block.ts';
import { serve } from '../../../src/server/serve.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import { TX_DUE } from '../../../src/txstore/embedded/columns.ts';
import { eachRecord } from '../../../src/txstore/embedded/reads.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { document, failure, temporary, unspent, unspentHere } from '../../cli/run.ts';
import { Running } from '../../cli/running.ts';
import { assertCode } from '../../support/harness.ts';
import { fillWithBlocked } from '../support/blocked-chain.ts';

const R = 10;
const SETTINGS = { 'txs.store': 'embedded', 'txs.retention': R, 'utxo.history': true, 'txs.boundHistory': true };
const data = join(temporary(), 'data');
/** Ids as people write them. */
const found = { pruned: '', kept: '', unmined: '' };

async function withStore<T>(body: (store: OpenStore) => T | Promise<T>): Promise<T> {
  const store = await openStore({ data, network: 'bitcoin-regtest', settings: SETTINGS });
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

before(() =>
  withStore(async (store) => {
    const all = await fillWithBlocked(store, R);
    const records = [...eachRecord(store.engine)];
    const kept = new Set(records.map(({ txId }) => formatId(txId)));
    found.unmined = formatId(records.find(({ unminedSince, isConflicting }) => unminedSince !== null && !isConflicting)!.txId);
    found.kept = formatId(records.find(({ unminedSince }) => unminedSince === null)!.txId);
    found.pruned = [...all].find((id) => !kept.has(id) && store.engine.get(TX, parseId(id)) !== undefined)!;
  }),
);

interface Json {
  readonly [name: string]: unknown;
}

describe('unspent txs', () => {
  test('while another process has the store open it answers what reads, and what changes needs the store', async (t) => {
    const commands = [['status'], ['get', found.kept], ['get', found.pruned], ['blocked'], ['verify']].map((args) => [
      'txs',
      ...args,
      '--json',
    ]);
    const alone = [];
    for (const args of commands) alone.push(await unspentHere([...args, '--data', data]));
    const serving = new Running(t, ['serve', '--port', '0', '--data', data], temporary());
    await serving.says(/page\s+http/);
    for (const [n, args] of commands.entries()) assert.deepEqual(await unspentHere([...args, '--data', data]), alone[n], args.join(' '));
    await failure(['txs', 'prune', '--data', data], 'STORE_LOCKED', 1);
    await serving.interrupt();
  });

  test('status, and what a pass would do', async () => {
    const status = await document<Json>(['txs', 'status', '--data', data]);
    assert.deepEqual([status['retention'], status['window'], status['state']], [R, R, 'ok']);
    assert.ok(Number(status['records']) > 50 && Number(status['prunedHeight']) > R);
    const { stdout } = await unspent(['txs', 'status', '--data', data]);
    assert.match(stdout, /retention\s+10 blocks, spenders 10 blocks deep/);
    const dry = await document<Json>(['txs', 'prune', '--dry-run', '--data', data]);
    assert.equal(dry['end'], 'completed');
    assert.equal((await document<Json>(['txs', 'prune', '--data', data]))['reason'], 'completed');
  });

  test('get: a record, one that waits, one that was pruned, one that nobody has seen', async () => {
    const kept = await document<Json>(['txs', 'get', found.kept, '--data', data]);
    assert.deepEqual([kept['tx_id'], kept['state']], [found.kept, 'mined']);
    assert.equal((await document<Json>(['txs', 'get', found.unmined, '--data', data]))['state'], 'unmined');
    await failure(['txs', 'get', found.pruned, '--data', data], 'PRUNED', 1);
    await failure(['txs', 'get', '00'.repeat(32), '--data', data], 'NOT_FOUND', 1);
    assert.match((await unspent(['txs', 'get', found.kept, '--data', data])).stdout, /OUTPUT\s+AMOUNT\s+STATE\s+SPENT BY/);
  });

  test('blocked names the spender and why', async () => {
    const { blocked } = await document<{ blocked: { reason: string; child: string | null }[] }>(['txs', 'blocked', '--data', data]);
    assert.ok(blocked.length > 0);
    for (const { reason, child } of blocked) assert.ok(child !== null && /^(child_unmined|referenced)$/.test(reason), reason);
  });

  test('verify finds what an index lacks, rebuild-index mends it', async () => {
    assert.equal((await document<Json>(['txs', 'verify', '--data', data]))['faultCount'], 0);
    const key = await withStore((store) => {
      const [[due]] = store.engine.scan(TX_DUE, { limit: 1 });
      const batch = store.engine.batch();
      batch.del(TX_DUE, due);
      batch.commit();
      return toHex(due);
    });
    await failure(['txs', 'verify', '--data', data], 'VERIFY_FAILED', 5);
    const { differences } = await document<{ differences: object[] }>(['txs', 'rebuild-index', '--data', data]);
    assert.deepEqual(differences, [{ column: TX_DUE, key, kind: 'missing' }]);
    assert.equal((await document<Json>(['txs', 'verify', '--data', data]))['faultCount'], 0);
  });
});

describe('a history that is bounded', () => {
  test('the bytes of a transaction go with its record; who asks for them is told PRUNED, and the rest stays', () =>
    withStore((store) => {
      store.read((query) => {
        const history = query.history();
        const [pruned, kept] = [parseId(found.pruned), parseId(found.kept)];
        assertCode(() => history.tx(pruned), 'PRUNED');
        assert.equal(formatId(history.tx(kept)!.id), found.kept);
        const row = query.blockAtHeight(query.tx(pruned).row!.height)!;
        assertCode(() => rawBlock(query, row), 'PRUNED');
        assert.ok(history.ids(row.height).some((id) => formatId(id) === found.pruned));
        assert.equal(history.ids(row.height).length, row.txCount);
      });
      assert.deepEqual(store.verify().faults, []);
    }));
});

describe('the records over HTTP', () => {
  test('status, a record, PRUNED, what is blocked, metrics, the document of the API', () =>
    withStore(async (store) => {
      const served = await serve(store, { port: 0 });
      const get = async (path: string) => {
        const answer = await fetch(`${served.url}${path}`);
        return { status: answer.status, text: await answer.text() };
      };
      try {
        const status = JSON.parse((await get('api/v1/txs/status')).text);
        assert.deepEqual([status.retention, status.window, status.state], [R, R, 'ok']);
        assert.equal(JSON.parse((await get('api/v1/status')).text).txs.records, status.records);
        assert.equal(JSON.parse((await get(`api/v1/txs/${found.kept}`)).text).tx_id, found.kept);
        const pruned = await get(`api/v1/txs/${found.pruned}`);
        assert.deepEqual([pruned.status, JSON.parse(pruned.text).code], [410, 'PRUNED']);
        assert.equal((await get(`api/v1/txs/${'00'.repeat(32)}`)).status, 404);
        assert.equal((await get(`api/tx/${found.pruned}`)).status, 410, 'the same over Esplora');
        // As of the last pass of this process: there was none yet.
        assert.deepEqual(JSON.parse((await get('api/v1/txs/blocked?limit=3')).text), []);
        assert.match((await get('metrics')).text, new RegExp(`^unspent_utxo_records ${status.records}$`, 'm'));
        assert.ok('/api/v1/txs/{tx}' in JSON.parse((await get('api/v1/openapi.json')).text).paths);
      } finally {
        await served.close();
      }
    }));
});
