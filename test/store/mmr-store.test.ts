/**
 * A store that keeps the mountain range is made with it or without: it cannot be
 * switched later, and not begin in the middle of a chain. Verified, rolled back
 * and opened again like any other.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { MMR_BITMAP } from '../../src/projections/mmr/rows.ts';
import { type OpenOptions, type OpenStore, openStore } from '../../src/store/store.ts';
import { toHex } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { Devnet, devnetOptions, TEST_SEED } from '../support/harness.ts';
import { MmrModel } from '../support/mmr-rig.ts';

const root = mkdtempSync(join(tmpdir(), 'unspent-mmr-store-'));
after(() => rmSync(root, { recursive: true }));

const devnet = new Devnet(devnetOptions(TEST_SEED, 'ancient'));
const blocks = devnet.mine(90);

function openAs(name: string, store: string, options: OpenOptions = {}): Promise<OpenStore> {
  const windows = ['utxo.pruneDepth=10', 'utxo.rollbackWindow=20'];
  const { config } = loadConfig({ flags: { set: [`utxo.store=${store}`, ...windows] }, env: {} });
  const genesis = { byron: devnet.chain.genesisByron, shelley: devnet.chain.genesisShelley };
  return openStore({ data: join(root, name), network: 'devnet', genesis, config, ...options });
}

/** With a block: an empty one may become anything. */
async function made(opening: Promise<OpenStore>): Promise<void> {
  const store = await opening;
  store.fold.apply(blocks.slice(0, 1));
  await store.close();
}

async function refused(opening: Promise<OpenStore>, code: string, ...words: readonly string[]): Promise<void> {
  await assert.rejects(opening, (error) => {
    assert.ok(isUnspentError(error));
    assert.equal(error.code, code);
    for (const word of words) assert.ok(error.message.includes(word), `"${error.message}" should say "${word}"`);
    return true;
  });
}

const rootOf = (store: OpenStore): string => toHex(store.read((query) => query.mmr().roots().merged));

describe('a store with a mountain range', () => {
  it('keeps it over restarts, pruning and a rollback, and verifies it', async () => {
    let store = await openAs('kept', 'mmr');
    assert.ok(store.status().projections.includes('mmr'));
    for (const [from, to] of [
      [0, 30],
      [30, 80],
      [80, 90],
    ]) {
      store.fold.apply(blocks.slice(from, to));
      while (!store.prune().done);
      await store.close();
      store = await openAs('kept', 'mmr');
      assert.equal(rootOf(store), new MmrModel(devnet.ledger, blocks.slice(0, to)).roots.merged);
    }
    store.rollback(blocks[82]);
    const model = new MmrModel(devnet.ledger, blocks.slice(0, 83));
    assert.equal(rootOf(store), model.roots.merged);
    const { faults, indexRows, utxos } = store.verify();
    assert.deepEqual(faults, []);
    assert.equal(utxos, model.unspent.size);
    assert.ok(indexRows['mmr_nodes'] < model.roots.size, 'compacted');
    const batch = store.engine.batch();
    for (const [key] of store.engine.scan(MMR_BITMAP)) batch.del(MMR_BITMAP, key);
    batch.commit();
    assert.ok(store.verify().faultCount > 0);
    await store.close();
  });

  it('is made with it or without it', async () => {
    await made(openAs('classic', 'classic'));
    await refused(openAs('classic', 'mmr'), 'STORE_SHAPE', 'mmr');
    await made(openAs('with', 'mmr'));
    await refused(openAs('with', 'classic'), 'STORE_SHAPE', 'mmr');
    // Whoever only looks takes it as it is.
    const looking = await openAs('with', 'classic', { create: false });
    assert.ok(looking.fold.projections.some(({ name }) => name === 'mmr'));
    await looking.close();
  });

  it('does not begin in the middle of a chain', async () => {
    await refused(openAs('partial', 'mmr', { partial: true }), 'UNSUPPORTED', 'partial', 'utxo.store');
    await made(openAs('partial', 'classic', { partial: true }));
    await refused(openAs('partial', 'mmr'), 'STORE_SHAPE');
    await (await openAs('partial', 'mmr', { create: false })).close();
    await (await openAs('empty', 'mmr')).close();
    await refused(openAs('empty', 'mmr', { partial: true }), 'UNSUPPORTED');
  });
});
