/**
 * What links from elsewhere cost: pages that are opened by their own address,
 * in a browser that has nothing of ours yet. The bytes until they are complete,
 * that the browser has painted, and that nothing moves after it has.
 */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { becomes, browserTest, launch, openTab, reads, withoutChromium } from './browser.ts';
import { assertStill, SHIFT_OBSERVER } from './measure.ts';
import { World } from './world.ts';

/** Bytes over the wire, headers included. No page may have more than this. */
const BYTES_MAX = 250_000;
/** 204 kB were measured, in 76 files, the decoder among them; a tenth more. */
const TRANSACTION_BYTES_MAX = 225_000;
/** 10.3 kB and 51.5 kB were measured; a fifth more, and what titles of new pages take. */
const DOCUMENTATION_BYTES_MAX = 14_000;
const REFERENCE_BYTES_MAX = 62_000;
/** What is less was not measured: an answer from a cache has no bytes. */
const BYTES_MIN = 5_000;

/** The chain becomes known once the page has said that it is looking: whatever comes late then comes later than that. */
const LATE_STATUS = `const ask = window.fetch; window.late = 0; window.fetch = async (...given) => {
  if (/\\/status$/.test(String(given[0]?.url ?? given[0])) && window.late++ === 0)
    while (document.querySelector('main .loading') === null) await new Promise((done) => setTimeout(done, 20));
  return ask(...given);
};`;

const LOADED = `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .map(({ name, transferSize }) => [new URL(name).pathname, transferSize])`;
/** When it painted something of the content first; null: not yet. Painting comes when the browser gets to it. */
const PAINTED = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null`;

type Loaded = readonly (readonly [path: string, bytes: number])[];

/** Fails when it loads more, has painted nothing, or moves. Returns the paths of what was loaded. */
async function assertLight(page: Page, bytesMax: number): Promise<string[]> {
  const { value: paintedMs } = await becomes(page, PAINTED, (value) => value !== null);
  assert.ok(typeof paintedMs === 'number' && paintedMs > 0, `${page.url()} was painted at ${paintedMs}`);
  await page.waitForLoadState('load');
  // Once each: what is asked for again with time is more where the machine is slow.
  const loaded = [...new Map([...((await page.evaluate(LOADED)) as Loaded)].reverse())];
  const bytes = loaded.reduce((sum, [, each]) => sum + each, 0);
  const largest = loaded.toSorted((a, b) => b[1] - a[1]).slice(0, 5);
  assert.ok(
    bytes > BYTES_MIN && bytes < bytesMax && bytesMax <= BYTES_MAX,
    `${bytes} bytes for ${page.url()}, most: ${largest.join(', ')}`,
  );
  await assertStill(page);
  return loaded.map(([path]) => path);
}

describe('the first load of a link from elsewhere', () => {
  let world: World;
  let browser: Browser;
  let scripted: string;
  before(async () => {
    if (withoutChromium) return;
    world = await World.open({ blocks: 60, scripts: true, set: ['utxo.history=true'] });
    await world.listen();
    type Tx = { readonly tx_hash: string; readonly redeemers?: readonly object[] };
    const ids = world.devnet.blocks.slice(-40, -5).flatMap((block) => block.txs.map(({ id }) => id));
    const ask = async (id: string): Promise<Tx> => (await (await fetch(`${world.url}api/v1/txs/${id}`)).json()) as Tx;
    const txs = await Promise.all(ids.map(ask));
    scripted = txs.find(({ redeemers }) => redeemers !== undefined)!.tx_hash;
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  browserTest('a transaction whose data is decoded', async () => {
    const { page, close } = await openTab(browser, `${world.url}#/tx/${scripted}`, { init: SHIFT_OBSERVER + LATE_STATUS });
    await reads(page, '#redeemers', /constructor|list|map|CBOR/);
    assert.ok(Number(await page.evaluate('window.late')) > 0, 'the status was held back');
    const paths = await assertLight(page, TRANSACTION_BYTES_MAX);
    assert.ok(
      paths.some((path) => path.endsWith('_data-reader.js')),
      'the decoder is among them',
    );
    await close();
  });

  browserTest('the documentation', async () => {
    const { page, close } = await openTab(browser, `${world.url}docs/`, { init: SHIFT_OBSERVER });
    await reads(page, 'h1', /\w/);
    const paths = await assertLight(page, DOCUMENTATION_BYTES_MAX);
    assert.ok(!paths.some((path) => path.endsWith('/search-index.js')), 'the index comes with the first search');
    await close();
  });

  browserTest('the reference of the API', async () => {
    const { page, close } = await openTab(browser, `${world.url}docs/api`, { init: SHIFT_OBSERVER });
    await reads(page, 'article h2, article h3', /\w/);
    await assertLight(page, REFERENCE_BYTES_MAX);
    await close();
  });
});
