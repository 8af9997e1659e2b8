/**
 * SD69: the first 255 real blocks of Bitcoin with R = W = 20, rolled back by 19
 * and applied again, beside a store that never deletes a record.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { bitcoinLedger, bitcoinNetwork, genesisBlock } from '../../../src/ledgers/bitcoin/index.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import { verifyTxs } from '../../../src/store/verify/verify-txs.ts';
import { eachRecord } from '../../../src/txstore/embedded/reads.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { readRun } from '../../ledgers/bitcoin/samples.ts';
import { needsFixtures } from '../../support/fixtures.ts';
import { assertCode } from '../../support/harness.ts';
import { PostgresServer, withoutPostgres } from '../../support/sql/postgres-server.ts';
import { makeTxSchema } from '../sql/databases.ts';

const R = 20;
const network = bitcoinNetwork('bitcoin');

/** `engine` null: records in a database. */
interface Place {
  readonly name: string;
  readonly engine: 'rocks' | 'sqlite' | null;
  readonly url: (folder: string, name: string) => Promise<string>;
}

const server = withoutPostgres ? null : await PostgresServer.start(makeTxSchema);
after(() => server?.stop());

const PLACES: readonly Place[] = [
  { name: 'on RocksDB', engine: 'rocks', url: async () => 'embedded' },
  { name: 'on the engine of SQLite', engine: 'sqlite', url: async () => 'embedded' },
  { name: 'in SQLite', engine: null, url: async (folder, name) => `sqlite:${join(folder, `${name}.sqlite`)}` },
  ...(server === null ? [] : [{ name: 'in PostgreSQL', engine: null, url: () => server.freshUrl() }]),
];

async function openWith({ engine, url }: Place, folder: string, name: string, retention: number): Promise<OpenStore> {
  const place = engine === null ? { 'utxo.history': true } : { 'engine.kind': engine };
  const settings = { ...place, 'txs.store': await url(folder, name), 'txs.retention': retention, 'txs.window': R };
  return openStore({ data: join(folder, name), network: 'bitcoin', settings });
}

/** Ids of all records. */
async function idsOf({ txs, engine }: OpenStore): Promise<Set<string>> {
  if (txs!.place.kind === 'embedded') return new Set([...eachRecord(engine)].map(({ txId }) => toHex(txId)));
  const ids = new Set<string>();
  for await (const { txId } of txs!.place.records.records()) ids.add(toHex(txId));
  return ids;
}

describe('SD69: real blocks of Bitcoin', needsFixtures, () => {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-txs-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  for (const place of PLACES)
    test(`${place.name}, rolled back by 19 and on again: no parent is missing, the set is the one without pruning`, async () => {
      const own = join(folder, place.name.replaceAll(' ', '-'));
      mkdirSync(own);
      await thereAndBack(await openWith(place, own, 'pruned', R), await openWith(place, own, 'whole', 0));
    });
});

async function thereAndBack(pruned: OpenStore, whole: OpenStore): Promise<void> {
  const ledger = bitcoinLedger(network);
  const blocks = [genesisBlock(network), ...readRun('btcd-blocks1-255.dat')].map((raw, height) => ledger.decode(raw, height));
  const stores = [pruned, whole];
  const caughtUp = async (): Promise<void> => {
    for (const { txs } of stores) await txs!.catchUp();
  };
  const goneNow = async (): Promise<string[]> => {
    const [kept, all] = [await idsOf(pruned), await idsOf(whole)];
    return [...all].filter((txId) => !kept.has(txId)).sort();
  };
  const assertSound = async (): Promise<void> => {
    await caughtUp();
    for (const store of stores) {
      assert.deepEqual(store.verify().faults, []);
      assert.deepEqual((await verifyTxs(store)).faults, []);
    }
    assert.equal(pruned.digest().digest, whole.digest().digest);
  };
  const apply = async (block: (typeof blocks)[number]): Promise<void> => {
    for (const store of stores) store.fold.apply([block]);
    if (block.height === 0) return;
    await caughtUp();
    await pruned.txs!.pass();
  };
  for (const block of blocks) await apply(block);
  await assertSound();
  const gone = await goneNow();
  // 170 to 248: payments whose outputs were all spent long ago. The coins they are of are not spent, and stay.
  assert.equal(gone.length, pruned.txs!.pruner.counters.get('prune_deleted_total'));
  assert.ok(gone.length > 0, 'something was deleted');
  for (let height = 254; height >= 236; height--) {
    for (const store of stores) store.rollback(blocks[height]);
    if (height % 6 === 2) await assertSound();
  }
  const tooDeep = blocks[235 - R];
  const before = pruned.fold.head;
  assertCode(() => pruned.rollback(tooDeep), 'HORIZON');
  assert.deepEqual(pruned.fold.head, before);
  for (const block of blocks.slice(237)) await apply(block);
  await assertSound();
  assert.deepEqual(await goneNow(), gone);
  for (const store of stores) await store.close();
}
