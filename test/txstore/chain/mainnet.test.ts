/**
 * SD69: the first 255 real blocks of Bitcoin with R = W = 20, rolled back by 19
 * and applied again, beside a store that never deletes a record.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { bitcoinLedger, bitcoinNetwork, genesisBlock } from '../../../src/ledgers/bitcoin/index.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import { eachRecord } from '../../../src/txstore/embedded/reads.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { readRun } from '../../ledgers/bitcoin/samples.ts';
import { needsFixtures } from '../../support/fixtures.ts';
import { assertCode } from '../../support/harness.ts';

const R = 20;
const network = bitcoinNetwork('bitcoin');

async function openWith(data: string, retention: number): Promise<OpenStore> {
  const settings = { 'txs.store': 'embedded', 'txs.retention': retention, 'txs.window': R };
  return openStore({ data, network: 'bitcoin', settings });
}

describe('SD69: real blocks of Bitcoin', needsFixtures, () => {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-txs-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('rolled back by 19 and on again: no parent is missing, the set is the one without pruning', async () => {
    const ledger = bitcoinLedger(network);
    const blocks = [genesisBlock(network), ...readRun('btcd-blocks1-255.dat')].map((raw, height) => ledger.decode(raw, height));
    const pruned = await openWith(join(folder, 'pruned'), R);
    const whole = await openWith(join(folder, 'whole'), 0);
    const ids = (store: OpenStore): Set<string> => new Set([...eachRecord(store.engine)].map(({ txId }) => toHex(txId)));
    const goneNow = (): string[] => {
      const prunedIds = ids(pruned);
      return [...ids(whole)].filter((txId) => !prunedIds.has(txId)).sort();
    };
    const assertSound = (): void => {
      for (const store of [pruned, whole]) assert.deepEqual(store.verify().faults, []);
      assert.equal(pruned.digest().digest, whole.digest().digest);
    };
    for (const block of blocks) {
      for (const store of [pruned, whole]) store.fold.apply([block]);
      if (block.height > 0) await pruned.txs!.pass();
    }
    assertSound();
    const gone = goneNow();
    // 170 to 248: payments whose outputs were all spent long ago. The coins they are of are not spent, and stay.
    assert.equal(gone.length, pruned.txs!.pruner.counters.get('prune_deleted_total'));
    assert.ok(gone.length > 0, 'something was deleted');
    for (let height = 254; height >= 236; height--) {
      for (const store of [pruned, whole]) store.rollback(blocks[height]);
      if (height % 6 === 2) assertSound();
    }
    const tooDeep = blocks[235 - R];
    const before = pruned.fold.head;
    assertCode(() => pruned.rollback(tooDeep), 'HORIZON');
    assert.deepEqual(pruned.fold.head, before);
    for (const block of blocks.slice(237)) {
      for (const store of [pruned, whole]) store.fold.apply([block]);
      await pruned.txs!.pass();
    }
    assertSound();
    assert.deepEqual(goneNow(), gone);
    for (const store of [pruned, whole]) await store.close();
  });
});
