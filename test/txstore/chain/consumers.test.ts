/**
 * Consumers of the blocks of a store (section 6.2): records go only up to the
 * height of the slowest plus R, and status, metrics, health and readiness say who
 * is waited for. The wallets that a store feeds are one of them.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { bitcoinLedger } from '../../../src/ledgers/bitcoin/index.ts';
import { pruneWarnings, unreadyBecause } from '../../../src/server/metrics/health.ts';
import { txsMetrics } from '../../../src/server/metrics/txs-metrics.ts';
import { type LiveStatus, NOT_FOLLOWING } from '../../../src/server/thread/live.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import { eachRecord } from '../../../src/txstore/embedded/reads.ts';
import { temporary } from '../../cli/run.ts';
import { PlainChain } from '../../support/bitcoin-chain.ts';

const R = 5;
const SETTINGS = { 'txs.store': 'embedded', 'txs.retention': R, 'utxo.history': true, 'txs.boundHistory': true };

/** Every block of the chain with the bytes of all its transactions in the history, from a height on. */
function hasBytesAbove(store: OpenStore, height: number): boolean {
  const tip = store.fold.head!.height;
  return store.read((query) => {
    for (let at = height + 1; at <= tip; at++) query.history().txs(at);
    return true;
  });
}

describe('consumers of a store', () => {
  test('a consumer that lags keeps what is due after it, and the bytes that it has still to read', async () => {
    const store = await openStore({ data: join(temporary(), 'data'), network: 'bitcoin-regtest', settings: SETTINGS });
    const txs = store.txs!;
    const chain = new PlainChain(4, { txsMax: 4 });
    const ledger = bitcoinLedger(chain.network);
    let reached = 12;
    const leave = store.consumers.add('wallets', () => reached);
    try {
      while ((chain.tip?.height ?? 0) < 50) {
        const { raw, height } = chain.mine();
        store.fold.apply([ledger.decode(raw, height)]);
        if (height > 0) await txs.pass();
      }
      const due = (): number[] => [...eachRecord(store.engine)].flatMap(({ deleteAtHeight }) => deleteAtHeight ?? []);
      assert.ok(
        due().some((height) => height <= 50 && height > reached + R),
        'records are due that the consumer keeps',
      );
      assert.ok(hasBytesAbove(store, reached));
      const report = await txs.refresh();
      assert.deepEqual(report.consumers, [{ name: 'wallets', height: 12, allows: 12 + R }]);
      assert.equal(report.gauges['prune_height_allowed'], 12 + R);
      assert.match(txsMetrics(report), /^unspent_prune_consumer_height\{consumer="wallets"\} 12$/m);
      const live: LiveStatus = { ...NOT_FOLLOWING, records: report };
      assert.deepEqual(pruneWarnings(live), ['pruning of transactions waits for wallets']);
      assert.equal(unreadyBecause(store.fold.head, live, []), null, 'space is no reason not to serve');

      const kept = due().filter((height) => height <= 50).length;
      reached = 50;
      const { raw, height } = chain.mine();
      store.fold.apply([ledger.decode(raw, height)]);
      const { deleted } = await txs.pass();
      const count = (name: string): number => txs.pruner.counters.get(`prune_${name}_total`);
      assert.ok(count('blob_deleted') > 0 && count('blob_deleted') === count('deleted'), 'the bytes went with the records');
      assert.ok(deleted > kept / 2, `${deleted} of ${kept} go once the consumer is there`);
      assert.deepEqual(pruneWarnings({ ...NOT_FOLLOWING, records: txs.report }), []);
    } finally {
      leave();
      await store.close();
    }
  });

  test('pruning that is behind is a warning, and a database that does not answer, too', () => {
    const records = { state: 'behind', feedFailure: 'gone', consumers: [], height: 10 } as unknown as LiveStatus['records'];
    const live: LiveStatus = { ...NOT_FOLLOWING, records };
    assert.deepEqual(pruneWarnings(live), [
      'pruning of transactions is behind',
      'the database of the records of transactions does not answer',
    ]);
    const at = (height: number) => ({ height, slot: height, hash: new Uint8Array(32) });
    assert.equal(unreadyBecause(at(15), live, []), null);
    assert.equal(unreadyBecause(at(16), live, []), 'the records of transactions are 6 blocks behind the store');
  });
});
