/**
 * The page over a chain of the Bitcoin family: the same views, without what
 * such chains do not have, and amounts in the coin that people name. Its mempool,
 * the reference, and a store that nobody follows.
 */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { Browser } from 'playwright-core';
import { GUEST_SCRIPT } from '../../src/chains/bitcoin/regtest/index.ts';
import { formatId } from '../../src/ledgers/bitcoin/index.ts';
import { until } from '../support/patience.ts';
import { assertAccessible } from './axe.ts';
import { BitcoinWorld, NETWORK } from './bitcoin-world.ts';
import { becomes, browserTest, launch, openTab, reads, withoutChromium } from './browser.ts';
import { runExamples } from './examples.ts';
import { assertNarrow } from './measure.ts';

/** Not the end of a hash. */
const OF_CARDANO = /(?<![0-9a-f])ada\b|slot|epoch|Coins|Assets/i;

describe('the page of a Bitcoin chain', () => {
  let world: BitcoinWorld;
  let browser: Browser;
  before(async () => {
    if (withoutChromium) return;
    world = await BitcoinWorld.open();
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  /** What the page should say of the address: others on this chain may have paid to it too. */
  const holdings = async (): Promise<string> => {
    const response = await fetch(`${world.url}api/v1/addresses/${world.address}/balance`);
    const { utxo_count, amounts } = (await response.json()) as { utxo_count: number; amounts: { quantity: string }[] };
    assert.ok(utxo_count > 0 && BigInt(amounts[0].quantity) >= 123_456_789n);
    const digits = amounts[0].quantity.padStart(9, '0');
    return `Balance${digits.slice(0, -8)}.${digits.slice(-8)} BTCUnspent outputs${utxo_count}`;
  };

  browserTest('names the coin, and shows no assets, slots or epochs', async () => {
    const { page, close } = await openTab(browser, world.url);
    await reads(page, '#verdict h1', 'In sync');
    await reads(page, '.tiles', 'Total BTC');
    await reads(page, '#network', NETWORK);
    assert.equal(await page.getAttribute('#query', 'placeholder'), 'Address, tx#index, transaction, block');
    assert.doesNotMatch((await page.textContent('main')) ?? '', OF_CARDANO);

    await page.goto(`${world.url}#/address/${world.address}`);
    await reads(page, '.facts', await holdings());
    const headings = 'table.rows thead th';
    assert.deepEqual(await page.locator(headings).allTextContents(), [
      'Transaction',
      'Change, BTC',
      'Balance, BTC',
      'Block',
      'Output',
      'BTC',
      'Block',
    ]);
    assert.equal(await page.locator('tr[data-output] td').count(), 3 * (await page.locator('tr[data-output]').count()));

    await page.goto(`${world.url}#/block/${formatId(world.store.fold.head!.hash)}`);
    await reads(page, '.facts', /Height\d+Time/);
    await reads(page, 'main', 'Created');
    assert.doesNotMatch((await page.textContent('main')) ?? '', OF_CARDANO);
    await close();
  });

  browserTest('named by its address, the view knows the chain before it is drawn', async () => {
    const { page, close } = await openTab(browser, `${world.url}#/address/${world.address}`, {
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
    });
    await reads(page, '.facts', await holdings());
    assert.equal(await page.getAttribute('tr[data-output] td.number', 'data-label'), 'BTC');
    await assertNarrow(page);
    await close();
  });

  browserTest('a transaction has its fee and rate; what waits is counted by what it pays', async () => {
    const paid = formatId(world.devnet.fund(GUEST_SCRIPT, 7_654_321n));
    type Backlog = { count: number; vsize: number; bins: { count: number; vsize: number }[] };
    await until(async () => (await world.ask<Backlog>('api/v1/mempool')).count > 0, 'the mempool has it');
    const { page, close } = await openTab(browser, `${world.url}#/tx/${paid}`);
    await reads(page, '.facts', 'waits for a block');
    const { fee, weight } = await world.ask<{ fee: number; weight: number }>(`api/tx/${paid}`);
    await reads(page, '.facts', new RegExp(`Fee${fee.toLocaleString('en-US')} sat .* sat/vBSize.* ${Math.ceil(weight / 4)} vB`));
    assert.equal(await page.locator('.flow-drawing .end.fee').count(), 1);
    await assertAccessible(page, 'a transaction that waits');

    await page.click('#mempool');
    const backlog = await world.ask<Backlog>('api/v1/mempool');
    await reads(page, '.facts', `Transactions that wait${backlog.count}`);
    assert.equal(
      backlog.bins.reduce((sum, bin) => sum + bin.count, 0),
      backlog.count,
    );
    assert.equal(await page.locator('.histogram li').count(), backlog.bins.length);
    await assertAccessible(page, 'the mempool');

    world.devnet.mine(1);
    await until(async () => (await world.ask<{ confirmed: boolean }>(`api/tx/${paid}/status`)).confirmed, 'it is in a block');
    await page.goto(`${world.url}#/tx/${paid}`);
    await reads(page, '.facts', /in a blockConfirmations1/);
    await close();
  });

  browserTest('scripts are shown as what they do: what outputs ask for, and what inputs bring along', async () => {
    type Spent = { txid: string; vin: { is_coinbase: boolean; witness?: string[]; prevout: { scriptpubkey_type: string } | null }[] };
    const recent = await world.ask<{ tx_hash: string; tx_index: number }[]>('api/v1/txs?limit=50');
    const txs = await Promise.all(recent.map(({ tx_hash }) => world.ask<Spent>(`api/tx/${tx_hash}`)));
    const tx = txs.find(({ vin }) => vin.some(({ prevout }) => prevout?.scriptpubkey_type === 'v0_p2wsh'))!;
    const coinbase = txs.find(({ vin }) => vin[0].is_coinbase)!;
    const { page, close } = await openTab(browser, `${world.url}#/tx/${tx.txid}`);
    await reads(page, '#input-scripts', /witness script \d+ B(OP_\w+|-?\d+|[0-9a-f…]+)/);
    await reads(page, '#output-scripts', /OP_HASH160|OP_CHECKSIG|the hash of a/);
    await page.goto(`${world.url}#/tx/${coinbase.txid}`);
    await reads(page, '#input-scripts', /coinbase.*input script/);
    await page.goto(`${world.url}#/output/${tx.txid}/0`);
    await reads(page, '.facts', /What it asks for/);
    await page.waitForSelector('.operations li');
    await close();
  });

  browserTest('the reference: found by a word, linked by its route, tried on this very store', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, close } = await openTab(browser, `${world.url}docs/api#get-api-v1-addresses-address-balance`, { colorScheme });
      const article = '#get-api-v1-addresses-address-balance';
      await becomes(page, 'document.querySelector("#side [aria-current]")?.getAttribute("href")', (href) => href === article);
      await page.locator(`${article} button[type=submit]`).click();
      await reads(page, `${article} .result pre`, 'satoshi_amount');
      const asked = (await page.inputValue(`${article} input[name=address]`)).trim();
      assert.match(asked, /^(bcrt1|[mn2])/, 'the address is one of this chain');
      await reads(page, `${article} .result`, `curl '${world.url}api/v1/addresses/${asked}/balance'`);
      await assertAccessible(page, `the reference, ${colorScheme}`);
      // A request with a body that only reads: an output of this chain is asked for, and comes.
      const batch = '#post-api-v1-utxos';
      await page.locator(`${batch} button[type=submit]`).click();
      await reads(page, `${batch} .result pre`, 'output_index');
      const [outpoint] = JSON.parse(await page.inputValue(`${batch} textarea`)) as string[];
      await reads(page, `${batch} .result .asked`, `-d '["${outpoint}"]' '${world.url}api/v1/utxos'`);
      await page.keyboard.press('Escape');
      await page.locator('body').press('/');
      await page.keyboard.type('proof unspent');
      await reads(page, '#found', /^[1-9]\d* routes?$/);
      assert.equal(await page.locator(article).isVisible(), false);
      await close();
    }
  });

  browserTest('every example of the reference is answered', async () => {
    const { answers, close } = await runExamples(browser, world.url);
    // What this store does not keep is 501, what needs a token 401; nothing else fails.
    const failed = answers.filter(
      ([path, status]) =>
        !/^(200|501)$/.test(status) && !(path.includes('/wallets') && status === '401') && !(path.endsWith('/absence') && status === '409'),
    );
    assert.deepEqual(failed, []);
    await close(/status of (501|401|409)/);
  });

  browserTest('a store that nobody follows is shown as what it is', async () => {
    await world.rest();
    const { page, close } = await openTab(browser, world.url);
    await reads(page, '#verdict h1', 'At rest');
    await reads(page, '#verdict p', /^The chain as of block [\d,]+ of \d{4}-\d\d-\d\d /);
    const text = (await page.textContent('main')) ?? '';
    assert.doesNotMatch(text, / ago|Behind|not in sync/i);
    assert.equal(await page.locator('#source-tip').isVisible(), false);
    await assertAccessible(page, 'a store at rest');
    await close();
  });
});
