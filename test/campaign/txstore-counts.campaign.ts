/**
 * SD35, SD49 and SD66 on the embedded transaction store with the numbers of the
 * specification, which are too large for every test run. UNSPENT_CAMPAIGN_ROUNDS
 * (1,000 unless said) is how often chunks run at the same time.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMemory } from '../../src/engine/memory.ts';
import { TX_STORE_COLUMNS } from '../../src/txstore/embedded/columns.ts';
import { openEmbedded } from '../txstore/support/embedded.ts';
import { ANYBODY, blockAt, idOf, type OpenTxStore, TxWorld, withMethods } from '../txstore/support/world.ts';

const ROUNDS = Number(process.env['UNSPENT_CAMPAIGN_ROUNDS'] ?? 1000);
const UNMINED = 1000;
const BLOCK_TXS = 100_000;
const PARENTS = 64;

const open: OpenTxStore = (settings, limit) => openEmbedded(openMemory(TX_STORE_COLUMNS), settings, limit);
const outputs = [{ amount: 1n, script: ANYBODY }];

test(`SD35 a reorganisation of one block leaves ${UNMINED} that were unmined before as old as they were`, async () => {
  await using world = await TxWorld.open(open);
  const txIds = Array.from({ length: UNMINED }, (_, n) => idOf(`T${n}`));
  for (const [n, txId] of txIds.entries()) await world.store.create([{ txId, inputs: [], outputs }], 500 + n);
  await world.store.markOnBestChain(txIds, false, 2000);
  const records = await world.store.batchGet(txIds);
  assert.deepEqual(
    records.map((record) => record?.unminedSince),
    txIds.map((_, n) => 500 + n),
  );
});

test(`SD66 a block of ${BLOCK_TXS} transactions is one change; one of them unknown, and nothing is`, async () => {
  await using world = await TxWorld.open(open);
  const txs = Array.from({ length: BLOCK_TXS }, (_, index) => ({ txId: idOf(`T${index}`), index }));
  await world.store.create(
    txs.map(({ txId }) => ({ txId, inputs: [], outputs })),
    100,
  );
  const unknown = { txId: idOf('X'), index: BLOCK_TXS };
  await assert.rejects(world.store.setMined([...txs, unknown], blockAt(101), true, 101), { code: 'TX_NOT_FOUND' });
  const count = async (): Promise<number> => {
    let unmined = 0;
    for await (const _ of world.store.iterateUnmined()) unmined++;
    return unmined;
  };
  assert.equal(await count(), BLOCK_TXS);
  await world.store.setMined(txs, blockAt(101), true, 101);
  assert.equal(await count(), 0);
});

/** Parents of one grandparent, with children that they share by fours. */
async function addFamily(world: TxWorld): Promise<void> {
  await world.add('G', { at: 90, mined: 90, outputs: PARENTS + 1 });
  for (let n = 0; n < PARENTS; n++) await world.add(`P${n}`, { at: 100, mined: 100, spends: [`G:${n}`], outputs: 2 });
  for (let n = 0; n < PARENTS; n++) await world.add(`C${n}`, { at: 100, mined: 100, spends: [`P${n}:0`] });
  for (let n = 0; n < PARENTS; n += 4) await world.add(`S${n}`, { at: 100, mined: 100, spends: [0, 1, 2, 3].map((k) => `P${n + k}:1`) });
}

test(`SD49 ${ROUNDS} times 8 chunks at the same time delete what one chunk deletes`, async () => {
  const results = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    await using world = await TxWorld.open(open);
    await addFamily(world);
    const { store } = world;
    // Every answer takes another number of turns, so that chunks overtake each other differently in each round.
    const later = async <T>(answer: Promise<T>): Promise<T> => {
      for (let turns = Math.floor(Math.random() * 4); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
      return answer;
    };
    const slow = withMethods(store, {
      readParents: (due) => later(store.readParents(due)),
      readChildren: (txIds) => later(store.readChildren(txIds)),
      readTombstones: (pairs) => later(store.readTombstones(pairs)),
    });
    const settings = round === 0 ? { chunkParents: 1000, parallelChunks: 1 } : { chunkParents: PARENTS / 8, parallelChunks: 8 };
    const gone = await world.pass(388, world.newPruner(settings, { store: slow }));
    results.add(JSON.stringify([gone, await world.tombstones('G'), await world.names()]));
  }
  assert.equal(results.size, 1);
  assert.equal((JSON.parse([...results][0]) as string[][])[1].length, PARENTS);
});
