/**
 * A wallet of Cardano in a real browser: balance with assets, coins with their
 * reservations, history with a transaction whose scripts failed, the addresses
 * that it watches; and a block is shown as it comes.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { cardanoNetwork } from '../../src/ledgers/cardano/index.ts';
import { serve } from '../../src/server/serve.ts';
import { feedWallets } from '../../src/server/wallets/feed-wallets.ts';
import { walletPageUrl } from '../../src/server/wallets/wallet-token.ts';
import { openCardanoWallets } from '../../src/wallet/cardano/cardano-wallets.ts';
import { applyDevnet, DevnetStore } from '../support/devnet-store.ts';
import { browserTest, launch, openTab, reads } from './browser.ts';
import { assertNarrow, faintTexts } from './measure.ts';

describe('wallets of Cardano', () => {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-page-wallets-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  browserTest('are shown with assets, reservations, failed scripts and addresses, live', async (t) => {
    const devnet = new DevnetStore(join(folder, 'data'), 1);
    devnet.mine(30);
    const store = await devnet.open();
    t.after(() => store.close());
    const wallets = await openCardanoWallets(`sqlite:${join(store.data, 'wallets.sqlite')}`, cardanoNetwork('devnet'), store.config.wallet);
    t.after(() => wallets.store.close());
    const addresses = devnet.addresses().filter((address) => address.startsWith('addr'));
    const wallet = await wallets.createWatching('shop', { addresses });
    await feedWallets(wallets, store);
    const [coin] = (await wallets.store.listCoins(wallet.id, { now: Date.now() })).filter(({ assets }) => assets.length > 0);
    await wallets.store.leaseCoins(wallet.id, [coin.outpoint], { id: new Uint8Array(32).fill(7), now: Date.now(), durationMs: 600_000 });
    const served = await serve(store, { port: 0 });
    t.after(() => served.close());
    const browser = await launch();
    t.after(() => browser.close());

    const { page, close } = await openTab(browser, walletPageUrl(served.url, { wallet: store.config.wallet, data: store.data }));
    await reads(page, 'table', 'shop');
    await page.click('text=shop');
    await reads(page, 'main', 'Spendable now');
    await reads(page, '.balance-main', 'tADA');
    assert.ok((await page.locator('.balance-assets .asset').count()) > 0, 'the balance has assets');
    await reads(page, 'main', `Addresses (${addresses.length})`);
    await reads(page, '.history', 'scripts failed');
    await reads(page, 'main', 'Reserved coins');
    assert.ok((await page.locator('td .asset').count()) > 0, 'coins have assets');
    assert.deepEqual(await faintTexts(page), []);
    devnet.mine(1);
    applyDevnet(store, devnet.chain);
    await feedWallets(wallets, store);
    await reads(page, 'main .note', `At block ${devnet.chain.tip!.height}`);
    await page.setViewportSize({ width: 360, height: 780 });
    await assertNarrow(page);
    await close();
  });
});
