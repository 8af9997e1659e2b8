/**
 * The pictures in the docs, taken of a chain that has run for a while, with
 * forks and readers. Only when asked to (UNSPENT_TEST_UPDATE=1) or when one is
 * missing: it takes two minutes, and pictures differ each time.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { formatAddress } from '../../src/ledgers/cardano/index.ts';
import { fromHex } from '../../src/util/bytes.ts';
import { launch, openTab, reads, type TabOptions, withoutChromium } from './browser.ts';
import { World } from './world.ts';

const folder = resolve(import.meta.dirname, '../../docs/images');
const RUN_MS = 75_000;
/** The opening of the page is itself some work for the server. */
const SETTLE_MS = 10_000;
const PHONE = { viewport: { width: 360, height: 780 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
const PICTURES: Readonly<Record<string, { readonly tab: TabOptions; readonly whole: boolean; readonly place: 'overview' | 'address' }>> = {
  'page-light': { tab: { colorScheme: 'light' }, whole: true, place: 'overview' },
  'page-dark': { tab: { colorScheme: 'dark' }, whole: true, place: 'overview' },
  'page-phone': { tab: { colorScheme: 'light', ...PHONE }, whole: false, place: 'overview' },
  'page-search': { tab: { colorScheme: 'light' }, whole: false, place: 'address' },
};

const fileOf = (name: string): string => join(folder, `${name}.png`);
const wanted = process.env['UNSPENT_TEST_UPDATE'] !== undefined || !Object.keys(PICTURES).every((name) => existsSync(fileOf(name)));
const why = withoutChromium || (wanted ? false : 'the pictures are there; UNSPENT_TEST_UPDATE=1 takes them again');

describe('pictures for the docs', () => {
  let world: World;
  let browser: Browser;
  const stop = new AbortController();
  let reading: Promise<void>;
  before(async () => {
    if (why) return;
    world = await World.open({ blocks: 2500, forks: { everyBlocks: 22, depthMax: 6 } });
    await world.listen();
    world.devnet.setInterval(600);
    browser = await launch();
    reading = readUntil(world, stop.signal);
    await sleep(RUN_MS);
  });
  after(async () => {
    stop.abort();
    await reading;
    await browser?.close();
    await world?.close();
  });

  for (const [name, { tab, whole, place }] of Object.entries(PICTURES)) {
    test(name, { skip: why }, async () => {
      const { page, close } = await openTab(browser, world.url, tab);
      await reads(page, '#verdict h1', 'In sync');
      await reads(page, '#columns', 'utxo_unspent');
      await reads(page, '#rollbacks', /ago/);
      await page.waitForSelector('.chart canvas');
      if (place === 'address') {
        const address = formatAddress(fromHex(somebody(world)));
        await page.fill('#query', address);
        await page.press('#query', 'Enter');
        await reads(page, 'h1', address);
      }
      await page.waitForTimeout(SETTLE_MS);
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: fileOf(name), fullPage: whole });
      await close();
    });
  }
});

/** Few enough kinds of assets to be taken in at a glance. */
function somebody({ devnet }: World): string {
  const counts = new Map<string, number>();
  for (const { addressHex, assets } of devnet.utxos.values()) counts.set(addressHex, (counts.get(addressHex) ?? 0) + assets.size);
  return [...counts].filter(([, assets]) => assets > 0).sort((a, b) => a[1] - b[1])[0][0];
}

/** Readers that come and go, so that there is something to see of them. */
async function readUntil({ url, devnet }: World, signal: AbortSignal): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    const utxos = [...devnet.utxos.values()];
    const requests = Math.round(14 + 9 * Math.sin(turn / 19) + 4 * Math.sin(turn / 3));
    for (let i = 0; i < requests; i++) {
      const { key, addressHex } = utxos[(turn * 31 + i * 7) % utxos.length];
      const path = i % 4 === 0 ? `addresses/${addressHex}/utxos?limit=100` : `utxos/${key.replace('#', '/')}`;
      await (await fetch(`${url}api/v1/${path}`)).arrayBuffer();
    }
    await sleep(1000 / 4);
  }
}
