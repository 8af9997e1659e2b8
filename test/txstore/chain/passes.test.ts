/** Prune passes beside a chain that is followed: when they run, what is known while one does, and what the chain may do meanwhile. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openMemory } from '../../../src/engine/memory.ts';
import { bitcoinLedger } from '../../../src/ledgers/bitcoin/index.ts';
import { embeddedTxs } from '../../../src/store/open-txs.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import type { RecordsOwner, StoreTxs } from '../../../src/store/store-txs.ts';
import { ChainTxStore } from '../../../src/txstore/chain/chain-store.ts';
import { OldUnmined } from '../../../src/txstore/chain/old-unmined.ts';
import { TX_STORE_COLUMNS } from '../../../src/txstore/embedded/columns.ts';
import { MemoryTxStore } from '../../../src/txstore/memory/index.ts';
import { PruneCounters } from '../../../src/txstore/prune/counters.ts';
import { runPass } from '../../../src/txstore/prune/pass.ts';
import { PRUNE_DEFAULTS } from '../../../src/txstore/prune/settings.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { PRUNE_CHUNK_PARENTS, TXS_FORGET_LOOKED_MAX } from '../../../src/util/limits.ts';
import { temporary } from '../../cli/run.ts';
import { PlainChain } from '../../support/bitcoin-chain.ts';
import { until } from '../../support/patience.ts';
import { ANYBODY, blockAt, idOf, SETTINGS } from '../support/world.ts';

/** A store whose chain grows by `mine`, and its records with what is said of the chain that is followed. */
async function followed(
  following: unknown,
  body: (txs: StoreTxs, mine: (blocks: number) => Promise<void>) => Promise<void>,
): Promise<void> {
  const settings = { 'txs.store': 'embedded', 'txs.retention': 5, 'utxo.history': true };
  const store: OpenStore = await openStore({ data: join(temporary(), 'data'), network: 'bitcoin-regtest', settings });
  const { fold, config, consumers, network } = store;
  const txs = embeddedTxs({ fold, config, consumers, network, following } as RecordsOwner);
  const chain = new PlainChain(4, { txsMax: 4 });
  const ledger = bitcoinLedger(chain.network);
  const stop = new AbortController();
  const running = txs.run(stop.signal);
  try {
    await body(txs, async (blocks) => {
      for (let n = 0; n < blocks; n++) {
        const { raw, height } = chain.mine();
        fold.apply([ledger.decode(raw, height)]);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
  } finally {
    stop.abort();
    await running;
    await store.close();
  }
}

describe('prune passes beside a chain', () => {
  test('while the chain catches up nobody counts what is due', async () => {
    await followed({ progress: null }, async (txs, mine) => {
      await mine(2);
      await until(() => txs.report !== null, 'a first look');
      let counted = 0;
      txs.records.countDue = async () => ++counted;
      await mine(30);
      await until(() => txs.pruner.history.at(-1)?.height === 31, 'the last height was asked for');
      assert.equal(txs.pruner.counters.get('prune_skipped_total{reason="catch_up"}') > 10, true);
      assert.equal(counted, 0);
      assert.equal(txs.report!.gauges['prune_height_requested'], 31);
    });
  });

  test('SD56 SD59 while a pass hangs it is known that one runs and how far it is behind, and the newest height is next', async () => {
    await followed(null, async (txs, mine) => {
      const heard: string[] = [];
      txs.onRemark((line) => heard.push(line));
      await mine(2);
      await until(() => txs.report?.completed === 1, 'a first pass');
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const expire = txs.records.expirePreservations.bind(txs.records);
      txs.records.expirePreservations = async (height) => {
        await released;
        return expire(height);
      };
      await mine(9);
      await until(() => txs.report!.state === 'behind', 'the backlog is known');
      assert.deepEqual([txs.report!.gauges['prune_active'], txs.report!.gauges['prune_lag_blocks']], [1, 9]);
      release();
      await until(() => txs.report!.completed === 10, 'a pass at the newest height');
      assert.equal(txs.pruner.counters.get('prune_passes_total{result="cancelled"}'), 7);
      assert.deepEqual(heard, ['pruning: it is behind, by 7 blocks', 'pruning: it keeps up again']);
    });
  });

  test('a pass that is aborted is told', async () => {
    await followed(null, async (txs, mine) => {
      const heard: string[] = [];
      txs.onRemark((line) => heard.push(line));
      txs.records.expirePreservations = () => Promise.reject(new Error('the disk is gone'));
      await mine(2);
      await until(() => heard.length > 0, 'it is told');
      assert.equal(heard[0], 'pruning: the pass at height 1 was aborted: the disk is gone');
    });
  });

  test('F7 a chain that has gone back further than the window since the pass began keeps everything, and its horizon', async () => {
    const raised: number[] = [];
    let head = 1288;
    const options = { raiseHorizon: (height: number) => raised.push(height), headHeight: () => head, boundsHistory: false };
    const records = new ChainTxStore(openMemory(TX_STORE_COLUMNS), SETTINGS, options);
    const outputs = [{ amount: 1n, script: ANYBODY }];
    await records.create([{ txId: idOf('P'), inputs: [], outputs, blocks: [blockAt(1000)] }], 1000);
    const inputs = [{ txId: idOf('P'), index: 0 }];
    await records.spend([{ txId: idOf('C'), inputs }], 1000);
    await records.create([{ txId: idOf('C'), inputs, outputs, blocks: [blockAt(1000)] }], 1000);
    const pass = () =>
      runPass({
        store: records,
        settings: PRUNE_DEFAULTS,
        heights: { requested: 1288, allowed: 1288, window: 288 },
        counters: new PruneCounters(),
        now: () => 0,
      });
    head = 999;
    assert.equal((await pass()).deleted, 0);
    assert.deepEqual(raised, []);
    head = 1000;
    await records.setPassProgress({ unfinished: null, lastCompleted: 0 });
    assert.equal((await pass()).deleted, 1);
    assert.deepEqual(raised, [1000]);
  });

  test('records in a database are pruned in chunks that are worth their statements', async () => {
    const folder = temporary();
    const settings = { 'txs.store': `sqlite:${join(folder, 'records.sqlite')}`, 'txs.retention': 5, 'utxo.history': true };
    const store = await openStore({ data: join(folder, 'data'), network: 'bitcoin-regtest', settings });
    const chain = new PlainChain(4, { txsMax: 4 });
    const ledger = bitcoinLedger(chain.network);
    for (let n = 0; n < 20; n++) {
      const { raw, height } = chain.mine();
      store.fold.apply([ledger.decode(raw, height)]);
    }
    const { records } = store.txs!;
    const limits: number[] = [];
    const dueParents = records.dueParents.bind(records);
    records.dueParents = (height, after, limit) => {
      limits.push(limit);
      return dueParents(height, after, limit);
    };
    await store.txs!.catchUp();
    await store.txs!.pass();
    assert.deepEqual(limits, [PRUNE_CHUNK_PARENTS / 2]);
    await store.close();
  });

  test('of what is in no block those are found that nobody waits for, however many others are older', async () => {
    const store = new MemoryTxStore(SETTINGS, { depthMax: 288 });
    const tx = (name: string) => ({ txId: idOf(name), inputs: [], outputs: [{ amount: 1n, script: ANYBODY }] });
    const waited = Array.from({ length: TXS_FORGET_LOOKED_MAX }, (_, n) => tx(`w${n}`));
    await store.create(waited, 100);
    await store.create([{ ...tx('loser'), isConflicting: true }, tx('old')], 101);
    const ids = new Set(waited.map(({ txId }) => toHex(txId)));
    const old = new OldUnmined(store);
    const isWaited = (txId: Uint8Array): boolean => ids.has(toHex(txId));
    assert.deepEqual(await old.next(200, isWaited), []);
    assert.deepEqual(await old.next(200, isWaited), [idOf('old')]);
    assert.deepEqual(await old.next(200, isWaited), [], 'it begins again');
  });
});
