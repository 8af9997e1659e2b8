/**
 * Stores of earlier formats: refused with what to do, upgraded row for row to what
 * a store of this version holds, and gone on with wherever that was interrupted.
 * A store of schema 1 is made on the spot: a store of today, with the indexes of
 * outputs in its rows as narrow as they were.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { readAnyIdentity, writeIdentity } from '../../src/engine/directory.ts';
import type { Row } from '../../src/engine/engine.ts';
import { type Delta, readDelta } from '../../src/state/delta.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { upgradeStore } from '../../src/store/upgrade/upgrade.ts';
import { ByteWriter } from '../../src/util/byte-writer.ts';
import { concatBytes, toHex, utf8 } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { DevnetStore } from '../support/devnet-store.ts';

const root = mkdtempSync(join(tmpdir(), 'unspent-upgrade-'));
after(() => rmSync(root, { recursive: true, force: true }));
const { config } = loadConfig({ env: {} });

const coded = (code: Parameters<typeof isUnspentError>[1], pattern: RegExp) => (error: unknown) => {
  assert.ok(isUnspentError(error, code), `${error}`);
  assert.match((error as Error).message, pattern);
  return true;
};

function rowsOf({ engine }: OpenStore): Record<string, string[]> {
  return Object.fromEntries(
    engine.columns.map(({ name }) => [name, Array.from(engine.scan(name), ([key, value]) => `${toHex(key)}=${toHex(value)}`)]),
  );
}

const without = (bytes: Uint8Array, at: number): Uint8Array => concatBytes(bytes.subarray(0, at), bytes.subarray(at + 2));

/** As schema 1 had it: an outpoint of 34 bytes, written apart from the code that reads it. */
function oldDelta({ missing, txs, spent, undo }: Delta): Uint8Array {
  const w = new ByteWriter();
  w.u8(0);
  w.varint(missing);
  w.varint(txs.length);
  for (const { id, valid, kind, firstIndex, count } of txs) {
    w.u8((valid ? 0 : 1) | { tx: 0, grant: 2, more: 4 }[kind]);
    w.run(id);
    w.varint(firstIndex);
    w.varint(count);
  }
  w.varint(spent.length);
  for (const { key } of spent) w.run(without(key, 32));
  w.varint(undo.size);
  for (const [name, bytes] of undo) {
    w.u8(name.length);
    w.run(utf8(name));
    w.varint(bytes.length);
    w.run(bytes);
  }
  return Uint8Array.from(w.view());
}

const OLD: Readonly<Record<string, (row: Row) => Row>> = {
  utxo_unspent: ([key, value]) => [without(key, 32), value],
  utxo_spent: ([key, value]) => [without(key, 32), without(value, 32)],
  utxo_address: ([key, value]) => [without(key, 40), value],
  utxo_payment: ([key, value]) => [without(key, 40), value],
  utxo_stake: ([key, value]) => [without(key, 40), value],
  delta: ([key, value]) => [key, oldDelta(readDelta(value, 'a delta'))],
};

async function makeOld(data: string, devnet: DevnetStore): Promise<Record<string, string[]>> {
  const store = await devnet.open();
  const rows = rowsOf(store);
  for (const [name, old] of Object.entries(OLD)) {
    const all = [...store.engine.scan(name)];
    store.engine.clear(name);
    const batch = store.engine.batch();
    for (const row of all) batch.put(name, ...old(row));
    batch.commit();
  }
  await store.close();
  writeIdentity(data, { ...readAnyIdentity(data)!, schema: 1 });
  return rows;
}

for (const kind of ['rocks', 'sqlite']) {
  test(`a store of schema 1 becomes, row for row, one of today, however often it is interrupted (${kind})`, async () => {
    const data = join(root, kind);
    const devnet = new DevnetStore(data, 21, [`engine.kind=${kind}`]);
    devnet.mine(30);
    const wanted = await makeOld(data, devnet);
    assert.ok(wanted['utxo_spent'].length > 0 && wanted['delta'].length > 0);
    await assert.rejects(
      openStore({ data, config, create: false }),
      coded('STORE_SCHEMA', /has schema 1; this version reads \d.*unspent upgrade --dry-run/),
    );
    const before = readFileSync(join(data, 'unspent.json'), 'utf8');
    const { from, to, steps } = await upgradeStore({ data, config, dryRun: true });
    assert.deepEqual([from, to, steps.length], [1, 2, 1]);
    assert.equal(readFileSync(join(data, 'unspent.json'), 'utf8'), before, 'saying it changes nothing');

    let interruptions = 0;
    for (let isDone = false; !isDone; ) {
      const stop = new AbortController();
      let batches = 0;
      const onProgress = (): void => {
        if (++batches === 2) stop.abort();
      };
      try {
        const { resumed } = await upgradeStore({ data, config, batchBytes: 8000, signal: stop.signal, onProgress });
        assert.equal(resumed, interruptions > 0);
        isDone = true;
      } catch (error) {
        assert.ok(coded('INTERRUPTED', /it goes on/)(error));
        if (interruptions++ === 0)
          await assert.rejects(openStore({ data, config, create: false }), coded('STORE_UNFINISHED', /is being upgraded/));
      }
    }
    assert.ok(interruptions > 5, `${interruptions} interruptions`);
    const store = await openStore({ data, config, create: false });
    assert.deepEqual(rowsOf(store), wanted);
    assert.equal(store.verify().faultCount, 0);
    assert.equal(store.digest().digest, devnet.chain.digest());
    store.rollback(store.locate('height:3'));
    assert.equal(store.verify().faultCount, 0);
    await store.close();
    assert.deepEqual((await upgradeStore({ data, config })).steps, [], 'and then there is nothing to do');
  });
}

test('what there is no way for is refused before anything is changed', async () => {
  const data = join(root, 'other');
  const devnet = new DevnetStore(data, 22, ['utxo.balances=true']);
  devnet.mine(2);
  await (await devnet.open()).close();
  const identity = readAnyIdentity(data)!;
  writeIdentity(data, { ...identity, schema: 1 });
  await assert.rejects(upgradeStore({ data, config }), coded('UNSUPPORTED', /where it keeps balance/));
  writeIdentity(data, { ...identity, schema: 99 });
  await assert.rejects(upgradeStore({ data, config }), coded('STORE_SCHEMA', /has schema 99; this version reads 2$/));
  await assert.rejects(upgradeStore({ data: join(root, 'none'), config }), coded('STORE_MISSING', /there is no store/));
  writeIdentity(data, identity);
  assert.deepEqual((await upgradeStore({ data, config })).steps, []);
});
