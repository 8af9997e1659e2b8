/**
 * Transactions of the preview network whose scripts failed: to a wallet that has
 * the collateral they spend it and give some of it back, and nothing else.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { blake2b224 } from '../../../src/crypto/hash.ts';
import { describeOutput } from '../../../src/ledgers/cardano/index.ts';
import { outpointText, parseOutpoint } from '../../../src/ledgers/outpoint.ts';
import type { ChainRow } from '../../../src/projections/chain.ts';
import type { OpenStore } from '../../../src/store/store.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { stakeOwners, watchedAddress } from '../../../src/wallet/cardano/owners.ts';
import { scanCoins } from '../../../src/wallet/cardano/scan.ts';
import { changedTxs } from '../../../src/wallet/cardano/wallet-tx.ts';
import { walletBlock } from '../../../src/wallet/feed/store-feed.ts';
import { WalletFeed } from '../../../src/wallet/feed/wallet-feed.ts';
import { MemoryWalletStore } from '../../../src/wallet/memory/index.ts';
import { outcomeOf } from '../../../src/wallet/rules/status.ts';
import { type InvalidTransaction, opener, readOracle } from '../../oracle/oracle.ts';
import { fixtures, needsFixtures } from '../../support/fixtures.ts';

/** The last of the sample: the collateral of all failures was made in them. */
const CHUNKS = Array.from({ length: 20 }, (_, i) => 260 + i);
const NOW = 1_700_000_000_000;

/** A store that begins in the middle of the chain, so that not all inputs are known to it. */
async function openTail(t: TestContext): Promise<OpenStore> {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-failed-scripts-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'immutable'));
  for (const number of CHUNKS) {
    for (const part of ['chunk', 'primary', 'secondary']) {
      const name = `00${number}.${part}.gz`;
      cpSync(fixtures('cardano', 'immutable', 'preview-from-genesis', name), join(folder, 'immutable', name));
    }
  }
  const store = await opener(t)({ network: 'preview', partial: true }, { set: ['utxo.pruneDepth=4320'] });
  await store.follow(`immutable:${folder}`);
  return store;
}

function rowAt(store: OpenStore, height: number): ChainRow {
  return store.read((query) => query.blockAtHeight(height)) ?? assert.fail(`block ${height} is in the sample`);
}

/** The addresses of the collateral. */
function ownersOf(store: OpenStore, { collateralSpent }: InvalidTransaction): Uint8Array[] {
  return store.read((query) =>
    collateralSpent.map((ref) => {
      const { txId, index } = parseOutpoint(ref);
      const utxo = query.outpoint(txId, index) ?? assert.fail(`${ref} is known`);
      return describeOutput(utxo.output.raw).address;
    }),
  );
}

async function assertFailure(store: OpenStore, failed: InvalidTransaction): Promise<void> {
  const { clock } = store.network.dialect;
  const row = rowAt(store, failed.blockNo);
  const block = walletBlock(row, clock);
  const txs = store.read((query) => changedTxs(query.changes(row)));
  const tx = txs.find(({ id }) => toHex(id) === failed.txId) ?? assert.fail(`${failed.txId} is in its block`);
  assert.equal(tx.scriptsFailed, true);
  assert.deepEqual(tx.inputs.map(outpointText), failed.collateralSpent);
  assert.deepEqual(
    tx.outputs.map(({ script }) => script.length > 0),
    Array.from({ length: failed.collateralReturnIndex + 1 }, (_, i) => i === failed.collateralReturnIndex),
  );
  const scripts = new Map(
    [tx.outputs[failed.collateralReturnIndex].script, ...ownersOf(store, failed)].map((script) => [toHex(script), script]),
  );

  const wallets = new MemoryWalletStore();
  const { id } = await wallets.createWallet({ name: 'collateral', isWatchOnly: true });
  for (const script of scripts.values()) await wallets.importAddress(id, watchedAddress(script), NOW);
  const before = walletBlock(rowAt(store, failed.blockNo - 1), clock);
  assert.equal(await scanCoins(wallets, store, { walletId: id, block: before, clock, blocks: 5 }), true);
  for (const ref of failed.collateralSpent) await wallets.getCoin(id, parseOutpoint(ref), NOW);

  await wallets.rollbackToBlock(before.height + 1, { feed: 'preview', after: null, position: 'before' });
  const feed = new WalletFeed(wallets, { feed: 'preview', now: () => NOW, otherOwners: stakeOwners });
  await feed.take({ kind: 'connected', block, txs, position: 'after' }, 'before');
  const stored = await wallets.getTxDetail(id, fromHex(failed.txId));
  assert.deepEqual([stored.status, outcomeOf(stored), stored.block?.height], ['published', 'failed', failed.blockNo]);
  assert.equal(stored.ownedInputs.length, failed.collateralSpent.length);
  for (const ref of failed.collateralSpent) await assert.rejects(wallets.getCoin(id, parseOutpoint(ref), NOW), { code: 'UTXO_UNKNOWN' });
  const coins = (await wallets.listCoins(id, { now: NOW })).map(({ outpoint, amount }) => `${outpointText(outpoint)} ${amount}`);
  const indexed = store.read((query) =>
    [...scripts.values()]
      .flatMap((script) => [...query.at(row).byKey('address', blake2b224(script))])
      .map((utxo) => `${outpointText(utxo)} ${utxo.output.value}`),
  );
  assert.deepEqual(coins.sort(), indexed.sort());
}

test('scripts that failed on the preview network: collateral is spent, its return is a coin', needsFixtures, async (t) => {
  const store = await openTail(t);
  const failures = readOracle('preview-from-genesis.json').invalidTransactions;
  assert.equal(failures.length, 9);
  for (const failed of failures) await t.test(failed.txId.slice(0, 16), () => assertFailure(store, failed));
});
