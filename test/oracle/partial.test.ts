/**
 * Stores that begin in the middle of a chain: inputs from before are counted,
 * never guessed, and going back and forward again is exact all the same.
 */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { OpenStore } from '../../src/store/store.ts';
import { toHex } from '../../src/util/bytes.ts';
import { fixtures, needsFixtures } from '../support/fixtures.ts';
import { assertSound, chunks, opener } from './oracle.ts';

const BACK = 500;

/** A folder with this one chunk of a network, its indexes too. */
function oneChunk(t: TestContext, network: string, chunk: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-chunk-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const kind of ['chunk', 'primary', 'secondary']) {
    const name = `${chunk}.${kind}.gz`;
    copyFileSync(fixtures('cardano', 'immutable', network, name), join(folder, name));
  }
  return `immutable:${folder}`;
}

const headOf = ({ fold }: OpenStore) => ({ ...fold.head, hash: toHex(fold.head?.hash ?? new Uint8Array()) });

const CASES = [
  { network: 'mainnet', chunk: '00500', blocks: 1078, last: 4_803_226, txs: 701 },
  { network: 'mainnet', chunk: '06189', blocks: 1054, last: 10_783_373, txs: 6846 },
  { network: 'preprod', chunk: '01285', blocks: 864, last: 911_275, txs: 233 },
] as const;

for (const { network, chunk, blocks, last, txs } of CASES) {
  test(`${network} chunk ${chunk} by itself`, needsFixtures, async (t) => {
    const source = oneChunk(t, network, chunk);
    const store = await opener(t)({ network, partial: true });
    const pumped = await store.follow(source);
    assert.deepEqual([pumped.blocks, pumped.txs, store.fold.head?.height], [blocks, txs, last]);
    const head = headOf(store);
    assert.ok(head.missing !== undefined && head.missing > 0);
    // What was created, less what was spent and found.
    assert.equal(head.utxos, pumped.created - pumped.spent);
    assertSound(store);
    const after = store.digest();
    assert.equal(store.rollback(store.locate(`height:${last - BACK}`)), BACK);
    assertSound(store);
    assert.ok((store.fold.head?.missing ?? 0) < head.missing);
    const before = store.digest();
    assert.notEqual(before.digest, after.digest);

    const fresh = await opener(t)({ network, partial: true }, { syncGroupBlocks: 1 });
    await fresh.follow(source, { until: { kind: 'height', height: last - BACK } });
    assert.deepEqual(fresh.digest(), before, 'a store that never went further');
    assert.deepEqual(headOf(fresh), headOf(store));

    await store.follow(source);
    assert.deepEqual(store.digest(), after);
    assert.deepEqual(headOf(store), head);
    assertSound(store);
    t.diagnostic(`${head.utxos} unspent, ${head.missing} inputs from before`);
  });
}

test('without saying so, a chain cannot begin in the middle', needsFixtures, async (t) => {
  const store = await opener(t)({ network: 'preprod' });
  await assert.rejects(store.follow(chunks('preprod')), { code: 'NOT_FROM_GENESIS' });
  assert.equal(store.fold.head, null);
});
