/**
 * What an operator asks: the status over HTTP, the status of the store and the
 * metrics tell the same of one store.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openDevnet } from '../../../src/chains/cardano/devnet/index.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { type Served, serve } from '../../../src/server/serve.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import { until } from '../../support/patience.ts';

const SET = ['utxo.store=mmr', 'utxo.pruneDepth=10', 'utxo.rollbackWindow=20', 'utxo.pruneBatchSize=7', 'sync.groupBlocks=9'];
const devnet = openDevnet('devnet:?blocks=60&seed=4');

let folder: string;
let store: OpenStore;
let served: Served;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'unspent-summary-'));
  const made = await openStore({
    data: folder,
    network: 'devnet',
    genesis: devnet.genesis!,
    config: loadConfig({ flags: { set: SET } }).config,
  });
  await made.follow(devnet);
  await made.close();
  // Opened again without a word about what it is.
  store = await openStore({ data: folder, create: false, config: loadConfig({}).config });
  served = await serve(store, { port: 0 });
  while (!store.prune().done);
});

after(async () => {
  await served.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const text = async (path: string): Promise<string> => (await fetch(`${served.url}${path}`)).text();

interface HttpStatus {
  readonly partial: boolean;
  readonly snapshot: null;
  readonly horizon: { readonly height: number };
  readonly pruned: { readonly spent_outputs: number; readonly deltas: number };
  readonly mmr: { readonly size: number; readonly root: string };
  readonly settings: Readonly<Record<string, unknown>>;
  readonly keys: Readonly<Record<string, number>>;
  readonly following: { readonly pruned_deltas: number };
}

describe('the summary of a store', () => {
  it('is the same over HTTP as in the store', async () => {
    await until(async () => (JSON.parse(await text('api/v1/status')) as HttpStatus).following.pruned_deltas > 0, 'pruning is told');
    const http = JSON.parse(await text('api/v1/status')) as HttpStatus;
    const own = store.status();
    assert.deepEqual(http.settings, own.settings);
    assert.deepEqual(http.mmr, own.mmr);
    assert.deepEqual(http.mmr.root, store.roots().mmr);
    assert.deepEqual([http.partial, http.snapshot], [own.partial, own.base]);
    assert.deepEqual([http.horizon.height, http.pruned], [49, { spent_outputs: 49, deltas: 39 }]);
    assert.deepEqual(Object.keys(http.keys), Object.keys(own.keys));
    assert.ok(Object.values(http.keys).every((rows) => Number.isInteger(rows) && rows >= 0) && http.keys['chain'] > 0);
    const shown = ['utxo.store', 'utxo.pruneDepth', 'utxo.rollbackWindow', 'utxo.pruneBatchSize', 'utxo.pruneScheduleSeconds'];
    assert.deepEqual(
      shown.map((key) => http.settings[key]),
      ['mmr', 10, 20, 500, 5],
      'what shapes the store is its own, how it works is of this process',
    );
  });

  it('is in the metrics', async () => {
    const metrics = await text('metrics');
    const { mmr } = store.status();
    const value = (name: string): number => Number(new RegExp(`^unspent_${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
    assert.equal(value('mmr_nodes'), mmr!.size);
    assert.equal(value(`mmr_root\\{root="${mmr!.root}"\\}`), 1);
    assert.equal([...metrics.matchAll(/^unspent_mmr_root\{/gm)].length, 1, 'of the newest block only');
    assert.equal(value('deltas_pruned_total'), 40);
    assert.deepEqual([value('prune_depth_blocks'), value('rollback_window_blocks')], [10, 20]);
    assert.equal(value('horizon_height'), 49);
  });
});
