/**
 * Mainnet's first epoch from its genesis files against the oracle, and what is
 * said when those files are absent or of another network.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { fixtures, needsFixtures, readFixtureText } from '../support/fixtures.ts';
import { assertCheckpoint, assertSound, chunks, opener, readOracle } from './oracle.ts';

const SOURCE = chunks('mainnet');
const GENESIS = fixtures('cardano', 'genesis');
/** The folder holds later chunks too, which do not follow this epoch. */
const END = { kind: 'slot', slot: 21_599 } as const;

const genesisText = (network: string) => ({
  byron: readFixtureText('cardano', 'genesis', `${network}-byron-genesis.json`),
  shelley: readFixtureText('cardano', 'genesis', `${network}-shelley-genesis.json`),
});

test('mainnet, Byron epoch 0', needsFixtures, async (t) => {
  const { genesis, checkpoints } = readOracle('mainnet-byron-epoch0.json');
  const store = await opener(t)({ network: 'mainnet', genesis: GENESIS });

  await t.test('the first block, a boundary, brings genesis with it', async () => {
    const { blocks } = await store.follow(SOURCE, { until: { kind: 'slot', slot: 0 } });
    // The boundary block and the first regular one have the same slot.
    assert.equal(blocks, 2);
    const { utxos, value, digest } = store.digest();
    assert.deepEqual([utxos, String(value), digest], [14505, genesis.lovelace, genesis.digest]);
  });

  await t.test('the end of the epoch', async () => {
    await store.follow(SOURCE, { until: END });
    assertCheckpoint(store, checkpoints[0]);
    assertSound(store);
  });

  await t.test('back inside the window and forward again', async () => {
    store.rollback(store.locate(`height:${checkpoints[0].blockNo - 2000}`));
    await store.follow(SOURCE, { until: END });
    assertCheckpoint(store, checkpoints[0]);
  });

  await t.test('all the way back to the origin, while nothing is pruned yet', async (t) => {
    const young = await opener(t)({ network: 'mainnet', genesis: GENESIS });
    await young.follow(SOURCE, { until: { kind: 'height', height: 1500 } });
    assert.equal(young.rollback(null), 1501);
    assert.equal(young.digest().utxos, 0);
    assert.equal(young.fold.head, null);
    await young.follow(SOURCE, { until: { kind: 'slot', slot: 0 } });
    assert.equal(young.digest().digest, genesis.digest);
  });
});

test('genesis files that are absent, or not of this chain', needsFixtures, async (t) => {
  await t.test('absent', async (t) => {
    await assert.rejects(opener(t)({ network: 'mainnet' }), { code: 'GENESIS_NEEDED' });
    await assert.rejects(opener(t)({ network: 'mainnet', genesis: fixtures('cardano', 'blocks') }), { code: 'GENESIS_NEEDED' });
    await assert.rejects(opener(t)({ network: 'mainnet', genesis: fixtures('nowhere') }), { code: 'GENESIS_NEEDED' });
  });

  await t.test('absent, and not needed where no unspent set is kept', async (t) => {
    const { config } = loadConfig({ flags: { set: ['utxo.enabled=false'] }, env: {} });
    const store = await opener(t)({ network: 'mainnet', config });
    await store.follow(SOURCE, { until: { kind: 'height', height: 1500 } });
    assert.equal(store.fold.head?.height, 1500);
    assert.deepEqual(
      store.engine.columns.filter(({ name }) => name.startsWith('utxo')),
      [],
    );
  });

  await t.test('of another network', async (t) => {
    await assert.rejects(opener(t)({ network: 'mainnet', genesis: genesisText('preprod') }), { code: 'GENESIS_WRONG' });
  });

  await t.test('of the right magic and the wrong content: refused by the first block, nothing written', async (t) => {
    const { byron, shelley } = genesisText('mainnet');
    const changed = byron.replace(/"maxTxSize"\s*:\s*"4096"/, '"maxTxSize":"4097"');
    assert.notEqual(changed, byron);
    const store = await opener(t)({ network: 'mainnet', genesis: { byron: changed, shelley } });
    await assert.rejects(store.follow(SOURCE, { until: END }), { code: 'GENESIS_WRONG' });
    assert.equal(store.fold.head, null);
    assert.equal(store.digest().utxos, 0);
  });

  await t.test('not JSON', async (t) => {
    const { shelley } = genesisText('mainnet');
    await assert.rejects(opener(t)({ network: 'mainnet', genesis: { byron: '{', shelley } }), { code: 'GENESIS_WRONG' });
  });
});
