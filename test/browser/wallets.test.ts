/**
 * Wallets in a real browser: nothing without their token, which never leaves the
 * tab but in a header; balance, coins with reservations, replacements and a
 * reorganisation as they are drawn; and all of it live.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { loadConfig } from '../../src/config/load.ts';
import { type Served, serve } from '../../src/server/serve.ts';
import { openStore } from '../../src/store/store.ts';
import { openWalletStore } from '../../src/wallet/open.ts';
import type { WalletStore } from '../../src/wallet/store.ts';
import { SHOWN_HEIGHT, SHOWN_WALLET, tellShownWallet } from '../wallet/support/shown-wallet.ts';
import { blockAt, idOf, outpointOf, type World } from '../wallet/support/world.ts';
import { assertAccessible } from './axe.ts';
import { becomes, browserTest, launch, openTab, reads, type Tab, type TabOptions, withoutChromium } from './browser.ts';
import { assertNarrow, faintTexts } from './measure.ts';

const TOKEN = 'of-the-wallets';
const PHONE = { viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true };

/** The texts of all elements, with single spaces. */
const textsOf = (page: Page, selector: string): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((e) => e.textContent.replace(/\\s+/g, ' ').trim())`);

describe('wallets', () => {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-page-wallets-'));
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  let [served, browser, wallets, world]: [Served?, Browser?, WalletStore?, World?] = [];
  before(async () => {
    if (withoutChromium) return;
    const data = join(folder, 'data');
    const { config } = loadConfig({ flags: { set: [`wallet.token=${TOKEN}`] }, env: {} });
    const store = await openStore({ data, network: 'bitcoin-regtest', config });
    ends.push(() => store.close());
    wallets = await openWalletStore(`sqlite:${join(data, 'wallets.sqlite')}`);
    ends.push(() => wallets?.close());
    world = await tellShownWallet(wallets, Date.now());
    served = await serve(store, { port: 0 });
    ends.push(() => served?.close());
    browser = await launch();
    ends.push(() => browser?.close());
  });
  after(async () => {
    for (const end of ends.reverse()) await end();
  });

  const openWallet = async (options: TabOptions = {}): Promise<Tab> => {
    const tab = await openTab(browser!, `${served!.url}#wallet-token=${encodeURIComponent(TOKEN)}`, options);
    await reads(tab.page, 'main', SHOWN_WALLET);
    await tab.page.goto(`${served!.url}#/wallet/${SHOWN_WALLET}`);
    await reads(tab.page, 'main', 'Reorganisations');
    return tab;
  };

  browserTest('are shown only with their token, which is asked for, kept for the tab, and forgotten when told', async () => {
    const { page, close } = await openTab(browser!, served!.url);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.click('#wallets');
    await reads(page, 'h1', 'Wallets are shown only with their token');
    assert.ok(!asked.some((url) => url.includes('/wallets')), 'nobody is asked without one');
    await page.fill('#token', 'wrong');
    await page.click('text=Open');
    await reads(page, '[role=alert]', 'is refused');
    await page.fill('#token', TOKEN);
    await page.click('text=Open');
    await reads(page, 'table', SHOWN_WALLET);
    await page.reload();
    await reads(page, 'table', SHOWN_WALLET);
    await page.click('text=Forget the token');
    await reads(page, 'h1', 'Wallets are shown only with their token');
    assert.equal(await page.locator('[role=alert]').count(), 0);
    assert.ok(!asked.some((url) => decodeURIComponent(url).includes(TOKEN)), 'the token is in no address');
    await close(/status of 401/);
  });

  browserTest('a link brings the token along, and it does not stay in the address', async () => {
    const { page, close } = await openTab(browser!, `${served!.url}#wallet-token=${encodeURIComponent(TOKEN)}`);
    await reads(page, 'table', SHOWN_WALLET);
    assert.equal(page.url(), `${served!.url}#/wallets`);
    await assertAccessible(page, 'wallets');
    await page.click(`text=${SHOWN_WALLET}`);
    await reads(page, 'h1', SHOWN_WALLET);
    await reads(page, 'main', 'Reorganisations');
    await assertAccessible(page, 'a wallet');
    await page.goBack();
    await reads(page, 'h1', 'Wallets');
    await close();
  });

  browserTest('balance with its parts, and coins with who has reserved them', async () => {
    const { page, close } = await openWallet();
    assert.deepEqual(await textsOf(page, '.balance-main > div, .balance-parts > div'), [
      'Total0.38702000 BTC',
      'Spendable now0.18000000 BTC',
      'Reserved0.20697000 BTC',
      'Confirmed0.38697000 BTC',
      'Own, unconfirmed0.00000000 BTC',
      'From others, unconfirmed0.00005000 BTC',
      'Immature0.00000000 BTC',
    ]);
    const rows = await textsOf(page, 'tr[data-row]');
    assert.equal(rows.length, 2 + 4);
    assert.match(rows[0], /0\.19997000 BTC.*it is released$/);
    assert.match(rows[1], /0\.00700000 BTC.*in (59 min|1 h 0 min)$/);
    assert.equal(rows.slice(2).filter((row) => row.endsWith('reserved')).length, 2);
    assert.match(rows[2], /0\.00005000 BTC.*in no block yet.*free$/);
    await close();
  });

  browserTest('who took whose place is drawn: an arrow for each, one of them back', async () => {
    const { page, close } = await openWallet();
    assert.deepEqual(await textsOf(page, '.replaced figcaption'), [
      'It took the place of another.',
      'Replaced 2 times; this one is the last.',
      'It was replaced, and confirmed after all.',
    ]);
    const drawn = (await page.evaluate(`[...document.querySelectorAll('.replaced')].map((figure) => [
      [...figure.querySelectorAll('li b')].map((name) => name.textContent),
      figure.querySelectorAll('.up .arc').length,
      figure.querySelectorAll('.down .arc').length,
      [...figure.querySelectorAll('circle')].map((dot) => dot.dataset.tone),
    ])`)) as unknown[];
    assert.deepEqual(drawn, [
      [['order'], 1, 0, ['ok', 'idle']],
      [['rent at last', 'rent again', 'rent'], 2, 0, ['ok', 'idle', 'idle']],
      [['gift'], 1, 1, ['idle', 'ok']],
    ]);
    // Each dot stands beside its row.
    const apart = (await page.evaluate(`[...document.querySelectorAll('.replaced')].flatMap((figure) => {
      const [dots, rows] = ['circle', 'li'].map((part) => [...figure.querySelectorAll(part)].map((e) => e.getBoundingClientRect()));
      return dots.map(({ y, height }, i) => Math.abs(y + height / 2 - rows[i].y - rows[i].height / 2));
    })`)) as number[];
    assert.ok(Math.max(...apart) < 3, `${apart}`);
    assert.equal(await page.locator('.history > li').count(), 10);
    await close();
  });

  browserTest('what a reorganisation did, before and after', async () => {
    const { page, close } = await openWallet();
    await reads(page, '.reorgs h3', '2 blocks undone: blocks 102 to 103');
    await reads(page, '.reorgs header', '4 transactions of this wallet: 1 in a block again, 1 replaced, 1 orphaned, 1 failed now.');
    const rows = (await textsOf(page, '.before-after tbody tr')).map((row) => row.replace(/[0-9a-f]{8}…[0-9a-f]{6}/g, 'tx'));
    assert.deepEqual(rows, [
      'block 103coinbase tx+50.00000000 BTCorphanedits block is gone, and its coins with it',
      'spent what was orphanedtx−0.01000000 BTCfailedwith the coinbase that it spent from',
      'block 102order tx−0.01000000 BTCreplacedby tx',
      'block 102rent at last tx−0.30003000 BTCblock 103came back',
    ]);
    assert.equal(await page.locator('.fork .gone rect.full').count(), 2);
    await close();
  });

  browserTest('what happens is shown as it happens, and the focus stays', async () => {
    const { page, close } = await openWallet();
    const link = page.locator('.history > li:last-child a').last();
    await link.focus();
    await world!.store.releaseCoin(world!.wallet, outpointOf('third sale:0'), idOf('the till'), Date.now());
    await reads(page, 'caption', /Reserved coins 1/);
    await world!.create('bonus', { pays: [{ own: 1, amount: 123_000n }], label: 'bonus', received: Date.now() });
    await reads(page, '.history > li', /\+0\.00123000 BTC.*bonus.*waits for a block/);
    const [tip, next] = [blockAt(SHOWN_HEIGHT + 1, 1), blockAt(SHOWN_HEIGHT + 1, 2)];
    await world!.store.connectBlock({ block: tip, txs: [world!.news('bonus', { block: tip })] });
    await reads(page, '.history', /bonus [0-9a-f…]+1 confirmation/);
    await world!.store.rollbackToBlock(tip.height);
    await reads(page, '.reorgs', /1 block undone: block 105.*bonus.*waits for a block.*it keeps its coins/);
    await world!.store.updateWallet(world!.wallet, { syncedTo: next });
    await world!.create('bonus', { block: next });
    await reads(page, '.reorgs', /bonus.*block 105came back at the same height/);
    const { fits } = await becomes(page, 'document.activeElement?.tagName', (tag) => tag === 'A');
    assert.ok(fits, 'the link that had the focus has it');
    await close();
  });

  browserTest('can be read in both themes and on a phone', async () => {
    for (const options of [{ colorScheme: 'light' }, { colorScheme: 'dark' }, PHONE] as const) {
      const { page, close } = await openWallet(options);
      assert.deepEqual(await faintTexts(page), []);
      await assertNarrow(page);
      await close();
    }
  });

  browserTest('where there is nothing, it says what to do', async () => {
    await wallets!.createWallet({ name: 'empty <b>', isWatchOnly: true });
    const { page, close } = await openWallet();
    await page.goto(`${served!.url}#/wallet/${encodeURIComponent('empty <b>')}`);
    await reads(page, 'h1', 'empty <b>');
    await reads(page, 'main', 'It is at no block yet: unspent start feeds wallets');
    for (const text of ['Nothing yet.', 'nothing was paid to the wallet yet', 'no block that it saw was ever undone'])
      await reads(page, 'main', text);
    await page.goto(`${served!.url}#/wallet/nobody`);
    await reads(page, '[role=alert]', /no wallet.*unspent wallet list/is);
    await close(/status of 404/);
  });
});
