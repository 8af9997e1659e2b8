/**
 * A snapshot of preview at a checkpoint of the oracle: the store made from it
 * has the checkpoint's count, value and digest, follows the real chain from
 * there to the last checkpoint, and gives out what it was made from.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { exportSnapshot, importSnapshot } from '../../src/store/snapshots.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { needsFixtures } from '../support/fixtures.ts';
import { assertCheckpoint, assertSound, chunks, opener, readOracle } from './oracle.ts';

const SOURCE = 'preview-from-genesis';
/** Of the checkpoints: one in the middle. */
const TAKEN = 150;
const EVERYTHING = ['utxo.balances=true', 'utxo.datums=true', 'utxo.scripts=true', 'utxo.index.asset=true'];

test('a snapshot of preview', needsFixtures, async (t) => {
  const { checkpoints } = readOracle('preview-from-genesis.json');
  const [taken, last] = [checkpoints[TAKEN], checkpoints[checkpoints.length - 1]];
  const folder = mkdtempSync(join(tmpdir(), 'unspent-preview-'));
  let store: OpenStore | undefined;
  t.after(async () => {
    await store?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const whole = await opener(t)({ network: 'preview' });
  await whole.follow(chunks(SOURCE), { until: { kind: 'slot', slot: taken.slot } });
  const manifest = await exportSnapshot(whole, join(folder, 'first'));
  assert.deepEqual([manifest.utxos, manifest.value, manifest.roots.digest], [taken.utxos, taken.lovelace, taken.digest]);
  assert.ok(manifest.chunks.length > 0);

  const data = join(folder, 'store');
  const config = loadConfig({ flags: { set: EVERYTHING } }).config;
  await importSnapshot(join(folder, 'first'), { data, config });
  store = await openStore({ data, config });
  assertCheckpoint(store, taken);
  assertSound(store);
  await exportSnapshot(store, join(folder, 'again'));
  for (const name of readdirSync(join(folder, 'first')))
    assert.ok(readFileSync(join(folder, 'first', name)).equals(readFileSync(join(folder, 'again', name))), name);

  await store.follow(chunks(SOURCE));
  assertCheckpoint(store, last);
  assertSound(store);
  await whole.follow(chunks(SOURCE));
  const past = await exportSnapshot(whole, join(folder, 'last'));
  assert.equal((await exportSnapshot(store, join(folder, 'last-again'))).id, past.id);
});
