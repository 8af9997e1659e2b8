/**
 * Stores of earlier formats: refused with what to do, upgraded row for row to what
 * a store of this version holds, and gone on with wherever that was interrupted.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { readAnyIdentity, writeIdentity } from '../../src/engine/directory.ts';
import { openEngineIn } from '../../src/engine/open.ts';
import { placesEnd } from '../../src/projections/coin.ts';
import { writeElsewhere } from '../../src/projections/history/elsewhere.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { upgradeStore } from '../../src/store/upgrade/upgrade.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { DevnetStore } from '../support/devnet-store.ts';
import { makeOld, rowsOf, type StoreRows } from '../support/old-store.ts';
import { RegtestAccount } from '../support/regtest-account.ts';

const root = mkdtempSync(join(tmpdir(), 'unspent-upgrade-'));
after(() => rmSync(root, { recursive: true, force: true }));
const { config } = loadConfig({ env: {} });

const coded = (code: Parameters<typeof isUnspentError>[1], pattern: RegExp) => (error: unknown) => {
  assert.ok(isUnspentError(error, code), `${error}`);
  assert.match((error as Error).message, pattern);
  return true;
};

const rowsIn = ({ engine }: OpenStore): StoreRows => rowsOf({ columns: engine.columns, scan: (name) => engine.scan(name) });

/** Again and again, interrupted every two batches. */
async function upgradeInPieces(data: string, whenBegun: () => Promise<void>): Promise<number> {
  let interruptions = 0;
  for (;;) {
    const stop = new AbortController();
    let batches = 0;
    const onProgress = (): void => {
      if (++batches === 2) stop.abort();
    };
    try {
      const { resumed } = await upgradeStore({ data, config, batchBytes: 8000, signal: stop.signal, onProgress });
      assert.equal(resumed, interruptions > 0);
      return interruptions;
    } catch (error) {
      assert.ok(coded('INTERRUPTED', /it goes on/)(error));
      if (interruptions++ === 0) await whenBegun();
    }
  }
}

const KINDS = ['rocks', 'sqlite'] as const;
/** What a store of schema 1 could keep, all that a Cardano store can keep now, and undo records that carry outputs. */
const ALL = ['policy', 'asset', 'datumHash', 'referenceScript'].map((index) => `utxo.index.${index}=true`);
const CARDANO = [
  { schema: 1, what: 'plain', set: [] },
  { schema: 2, what: 'plain', set: [] },
  {
    schema: 2,
    what: 'with all there is',
    set: [...ALL, 'utxo.balances=true', 'utxo.history=true', 'proofs.setHash=true', 'proofs.csmt=true'],
  },
  { schema: 2, what: 'whose undo records carry outputs', set: ['utxo.delta.selfContained=true', 'utxo.store=mmr'] },
] as const;

for (const kind of KINDS) {
  for (const { schema, what, set } of CARDANO) {
    test(`a store of schema ${schema} (${what}) becomes, row for row, one of today, however often it is interrupted (${kind})`, async () => {
      const data = join(root, `${kind}-${schema}-${what}`);
      const devnet = new DevnetStore(data, 21, [`engine.kind=${kind}`, ...set]);
      devnet.mine(30);
      const wanted = await makeOld(await devnet.open(), schema, kind);
      assert.ok(wanted['utxo_spent'].length > 0 && wanted['delta'].length > 0 && wanted['utxo_place'].length > 0);
      await assert.rejects(
        openStore({ data, config, create: false }),
        coded('STORE_SCHEMA', new RegExp(`has schema ${schema}; this version reads \\d.*unspent upgrade --dry-run`)),
      );
      const before = readFileSync(join(data, 'unspent.json'), 'utf8');
      const { from, to, steps } = await upgradeStore({ data, config, dryRun: true });
      assert.deepEqual([from, to, steps.length], [schema, 3, 3 - schema]);
      assert.equal(readFileSync(join(data, 'unspent.json'), 'utf8'), before, 'saying it changes nothing');
      const interruptions = await upgradeInPieces(data, () =>
        assert.rejects(openStore({ data, config, create: false }), coded('STORE_UNFINISHED', /is being upgraded/)),
      );
      assert.ok(interruptions > 5, `${interruptions} interruptions`);
      const store = await openStore({ data, config, create: false });
      assert.deepEqual(rowsIn(store), wanted);
      assert.equal(store.verify().faultCount, 0);
      assert.equal(store.digest().digest, devnet.chain.digest());
      store.rollback(store.locate('height:3'));
      assert.equal(store.verify().faultCount, 0);
      await store.close();
      assert.deepEqual((await upgradeStore({ data, config })).steps, [], 'and then there is nothing to do');
    });
  }

  test(`a store of the Bitcoin family of schema 2 does, too (${kind})`, async () => {
    const data = join(root, `${kind}-bitcoin`);
    const account = new RegtestAccount(4);
    for (let i = 0; i < 120; i++) account.chain.mine();
    const made = loadConfig({ flags: { set: [`engine.kind=${kind}`, 'utxo.history=true', 'txs.store=embedded'] }, env: {} }).config;
    const store = await openStore({ data, network: 'bitcoin-regtest', config: made });
    account.apply(store);
    const wanted = await makeOld(store, 2, kind);
    assert.ok(!('utxo_place' in wanted) && wanted['utxo_spent'].length > 0);
    assert.ok((await upgradeInPieces(data, async () => {})) > 3);
    const upgraded = await openStore({ data, config, create: false });
    assert.deepEqual(rowsIn(upgraded), wanted);
    assert.equal(upgraded.verify().faultCount, 0);
    upgraded.rollback(upgraded.locate('height:90'));
    assert.equal(upgraded.verify().faultCount, 0);
    await upgraded.close();
  });
}

test('a key that is not that of its output stays where it is, and is found', async () => {
  const data = join(root, 'damaged');
  const devnet = new DevnetStore(data, 24);
  devnet.mine(5);
  const opened = await devnet.open();
  const [[name]] = opened.engine.scan('utxo_unspent');
  await makeOld(opened, 2, 'rocks');
  const columns = readAnyIdentity(data)!['columns'] as string[];
  const old = await openEngineIn(
    join(data, 'db'),
    opened.engine.columns.filter((column) => columns.includes(column.name)),
    { createIfMissing: false },
  );
  const value = Uint8Array.from(old.get('utxo_unspent', name)!);
  value[placesEnd(value, 0) + 4] ^= 1;
  const batch = old.batch();
  batch.put('utxo_unspent', name, value);
  batch.commit();
  await old.close();
  await upgradeStore({ data, config });
  const store = await openStore({ data, config, create: false });
  assert.deepEqual(Uint8Array.from(store.engine.get('utxo_unspent', name)!), value);
  assert.ok(store.verify().faults.some(({ column, what }) => column === 'utxo_unspent' && /index keys/.test(what)));
  await store.close();
});

test('a store whose history is in a published copy alone is refused, and is what it was', async () => {
  const data = join(root, 'elsewhere');
  const devnet = new DevnetStore(data, 25, ['utxo.history=true']);
  devnet.mine(3);
  const opened = await devnet.open();
  const batch = opened.engine.batch();
  writeElsewhere(batch, 2);
  batch.commit();
  await makeOld(opened, 2, 'rocks');
  const before = readFileSync(join(data, 'unspent.json'), 'utf8');
  await assert.rejects(upgradeStore({ data, config }), coded('UNSUPPORTED', /only in a published copy.*sync a new store/));
  assert.equal(readFileSync(join(data, 'unspent.json'), 'utf8'), before);
  // And its database has no column more: it can be opened with the ones it had.
  const columns = readAnyIdentity(data)!['columns'] as string[];
  const had = opened.engine.columns.filter((column) => columns.includes(column.name));
  await (await openEngineIn(join(data, 'db'), had, { createIfMissing: false })).close();
});

test('what there is no way for is refused before anything is changed', async () => {
  const data = join(root, 'other');
  const devnet = new DevnetStore(data, 22, ['utxo.balances=true']);
  devnet.mine(2);
  await (await devnet.open()).close();
  const identity = readAnyIdentity(data)!;
  writeIdentity(data, { ...identity, schema: 1 });
  await assert.rejects(upgradeStore({ data, config }), coded('UNSUPPORTED', /where it keeps balance/));
  writeIdentity(data, { ...identity, schema: 99 });
  await assert.rejects(upgradeStore({ data, config }), coded('STORE_SCHEMA', /has schema 99; this version reads 3$/));
  await assert.rejects(upgradeStore({ data: join(root, 'none'), config }), coded('STORE_MISSING', /there is no store/));
  writeIdentity(data, identity);
  assert.deepEqual((await upgradeStore({ data, config })).steps, []);
});
