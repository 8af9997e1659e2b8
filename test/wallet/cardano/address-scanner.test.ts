/**
 * Addresses that come when the chain is long already: their coins are found in
 * the indexes, also those of transactions that the store cannot undo any more and
 * that the wallet knows in full, by whoever feeds the wallets next.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { cardanoNetwork, formatAddress } from '../../../src/ledgers/cardano/index.ts';
import { feedWallets } from '../../../src/server/wallets/feed-wallets.ts';
import type { OpenStore } from '../../../src/store/store.ts';
import { fromHex } from '../../../src/util/bytes.ts';
import { CardanoWallets } from '../../../src/wallet/cardano/cardano-wallets.ts';
import { coinJson } from '../../../src/wallet/documents.ts';
import type { WalletInfo } from '../../../src/wallet/records.ts';
import { applyDevnet, coinLine, DevnetStore } from '../../support/devnet-store.ts';
import { WalletFiles } from '../sql/wallet-files.ts';

const root = mkdtempSync(join(tmpdir(), 'unspent-address-scanner-'));
after(() => rmSync(root, { recursive: true, force: true }));

const files = new WalletFiles();
after(() => files[Symbol.dispose]());

describe('new addresses of wallets on Cardano', () => {
  it('bring their coins, however old, and are scanned once', async (t) => {
    const devnet = new DevnetStore(join(root, 'data'), 3, ['utxo.pruneDepth=5', 'utxo.rollbackWindow=5']);
    devnet.mine(25);
    const store = await devnet.open();
    t.after(() => store.close());
    const database = await files.openFresh();
    t.after(() => database.close());
    const scan = t.mock.method(database, 'applyScanBatch');
    const wallets = new CardanoWallets(database, cardanoNetwork('devnet'), store.config.wallet);
    const [first, second, third, ...others] = devnet.addresses().filter((address) => address.startsWith('addr'));
    const wallet = await wallets.createWatching('shop', { addresses: [first, second] });
    await feedWallets(wallets, store);
    await assertCoins(devnet, wallets, wallet, [first, second]);
    assert.equal(scan.mock.callCount(), 1);

    // The feed brings whole transactions; later the store has forgotten what they spent.
    devnet.mine(20);
    applyDevnet(store, devnet.chain);
    await feedWallets(wallets, store);
    await pruned(store);
    assert.equal(scan.mock.callCount(), 1, 'another feeder has nothing to scan');
    await wallets.watchMore('shop', { addresses: [third, ...others] });
    await feedWallets(wallets, store);
    await assertCoins(devnet, wallets, wallet, [first, second, third, ...others]);
    assert.equal(scan.mock.callCount(), 2);

    const unpaid = formatAddress(fromHex(`60${'ab'.repeat(28)}`));
    await wallets.watchMore('shop', { addresses: [unpaid] });
    await feedWallets(wallets, store);
    await feedWallets(wallets, store);
    assert.equal(scan.mock.callCount(), 4, 'one that nothing has paid is scanned by each feeder');
    devnet.chain.fork(3);
    applyDevnet(store, devnet.chain);
    await feedWallets(wallets, store);
    await giveUpWaiting(wallets, wallet);
    await assertCoins(devnet, wallets, wallet, [first, second, third, ...others]);
  });
});

async function pruned(store: OpenStore): Promise<void> {
  while (store.prune().blocks > 0);
}

async function giveUpWaiting({ store }: CardanoWallets, { id }: WalletInfo): Promise<void> {
  for (;;) {
    const [waiting] = await store.listTxs(id, 'unmined');
    if (waiting === undefined) return;
    await store.invalidateTx(id, waiting.tx.id);
  }
}

async function assertCoins(devnet: DevnetStore, wallets: CardanoWallets, wallet: WalletInfo, addresses: readonly string[]): Promise<void> {
  const coins = await wallets.store.listCoins(wallet.id, { now: 0 });
  assert.deepEqual(coins.map((coin) => coinLine(coinJson(wallets.notation, wallet, coin))).sort(), devnet.lines(addresses));
}
