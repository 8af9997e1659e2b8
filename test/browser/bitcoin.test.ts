/**
 * The page over a chain of the Bitcoin family: the same views, without what
 * such chains do not have, and amounts in the coin that people name.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import type { Browser } from 'playwright-core';
import { GUEST_SCRIPT, RegtestDevnet } from '../../src/chains/bitcoin/regtest/index.ts';
import { serveP2p } from '../../src/chains/bitcoin/responder/index.ts';
import { loadConfig } from '../../src/config/load.ts';
import { bitcoinNetwork, formatAddress, formatId } from '../../src/ledgers/bitcoin/index.ts';
import { type Served, serve } from '../../src/server/serve.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { until } from '../support/patience.ts';
import { browserTest, launch, openTab, reads, withoutChromium } from './browser.ts';
import { assertNarrow } from './measure.ts';

const NETWORK = 'bitcoin-regtest';
/** Coinbases can be spent after a hundred. */
const RIPE = 104;

describe('the page of a Bitcoin chain', () => {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-page-btc-'));
  const stop = new AbortController();
  const address = formatAddress(bitcoinNetwork(NETWORK), GUEST_SCRIPT)!;
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  let [store, served, browser]: [OpenStore | null, Served | null, Browser | null] = [null, null, null];

  before(async () => {
    if (withoutChromium) return;
    const devnet = new RegtestDevnet({ seed: 1 });
    ends.push(() => devnet.close());
    devnet.mine(RIPE);
    devnet.fund(GUEST_SCRIPT, 123_456_789n);
    devnet.mine(4);
    const responder = await serveP2p(devnet, { port: 0 });
    ends.push(() => responder.close());
    store = await openStore({ data: join(folder, 'data'), network: NETWORK, config: loadConfig({}).config });
    ends.push(() => store?.close());
    const following = store.follow(`p2p://127.0.0.1:${responder.port}`, { follow: true, signal: stop.signal });
    ends.push(() => following);
    await until(() => store?.fold.head?.height === devnet.height, 'the store is at the tip');
    served = await serve(store, { port: 0, follows: true });
    browser = await launch();
    ends.push(() => browser?.close());
  });
  after(async () => {
    await served?.close();
    stop.abort();
    for (const end of ends.reverse()) await end();
  });

  /** What the page should say of the address: others on this chain may have paid to it too. */
  const holdings = async (): Promise<string> => {
    const response = await fetch(`${served!.url}api/v1/addresses/${address}/balance`);
    const { utxo_count, amounts } = (await response.json()) as { utxo_count: number; amounts: { quantity: string }[] };
    assert.ok(utxo_count > 0 && BigInt(amounts[0].quantity) >= 123_456_789n);
    const digits = amounts[0].quantity.padStart(9, '0');
    return `BTC${digits.slice(0, -8)}.${digits.slice(-8)}Unspent outputs${utxo_count}`;
  };

  browserTest('names the coin, and shows no assets, slots or epochs', async () => {
    const { page, close } = await openTab(browser!, served!.url);
    await reads(page, '#verdict h1', 'In sync');
    await reads(page, '.tiles', 'Total BTC');
    await reads(page, '#network', NETWORK);
    assert.equal(await page.getAttribute('#query', 'placeholder'), 'Address, tx#index, transaction, block');
    assert.doesNotMatch((await page.textContent('main')) ?? '', /ada\b|slot|epoch|Coins|Assets/i);

    await page.goto(`${served!.url}#/address/${address}`);
    await reads(page, '.facts', await holdings());
    const headings = 'table.rows thead th';
    assert.deepEqual(await page.locator(headings).allTextContents(), ['Output', 'BTC', 'Block']);
    assert.equal(await page.locator('tbody tr:first-child td').count(), 3);

    await page.goto(`${served!.url}#/block/${formatId(store!.fold.head!.hash)}`);
    await reads(page, '.facts', /Height\d+Time/);
    await reads(page, 'main', 'Created');
    assert.doesNotMatch((await page.textContent('main')) ?? '', /ada\b|slot|epoch|Coins|Assets/i);
    await close();
  });

  browserTest('named by its address, the view knows the chain before it is drawn', async () => {
    const { page, close } = await openTab(browser!, `${served!.url}#/address/${address}`, {
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
    });
    await reads(page, '.facts', await holdings());
    assert.equal(await page.getAttribute('tbody td.number', 'data-label'), 'BTC');
    await assertNarrow(page);
    await close();
  });
});
