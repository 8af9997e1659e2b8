/**
 * The pictures in the docs, taken of a chain that has run for a while, with
 * forks and readers. Only when asked to (UNSPENT_TEST_UPDATE=1) or when one is
 * missing: it takes two minutes, and pictures differ each time.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { formatAddress } from '../../src/ledgers/cardano/index.ts';
import { fromHex } from '../../src/util/bytes.ts';
import { launch, openTab, reads, type TabOptions, withoutChromium } from './browser.ts';
import { World } from './world.ts';

const folder = resolve(import.meta.dirname, '../../docs/images');
const RUN_MS = 75_000;
/** The opening of the page is itself some work for the server. */
const SETTLE_MS = 10_000;
const PHONE = { viewport: { width: 360, height: 780 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
/** What a picture is of. */
type Subject = 'overview' | 'address' | 'transaction' | 'past' | 'rollbacks' | 'reference';

const PICTURES: Readonly<Record<string, { readonly tab: TabOptions; readonly whole: boolean; readonly of: Subject }>> = {
  'page-light': { tab: { colorScheme: 'light' }, whole: true, of: 'overview' },
  'page-dark': { tab: { colorScheme: 'dark' }, whole: true, of: 'overview' },
  'page-phone': { tab: { colorScheme: 'light', ...PHONE }, whole: false, of: 'overview' },
  'page-search': { tab: { colorScheme: 'light' }, whole: false, of: 'address' },
  'page-transaction': { tab: { colorScheme: 'light' }, whole: false, of: 'transaction' },
  'page-past': { tab: { colorScheme: 'dark' }, whole: false, of: 'past' },
  'page-rollback': { tab: { colorScheme: 'light', viewport: { width: 1280, height: 700 } }, whole: false, of: 'rollbacks' },
  'page-reference': { tab: { colorScheme: 'light' }, whole: false, of: 'reference' },
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
    world = await World.open({
      blocks: 2500,
      scripts: true,
      forks: { everyBlocks: 22, depthMax: 6 },
      set: ['utxo.history=true', 'proofs.csmt=true'],
    });
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

  for (const [name, { tab, whole, of }] of Object.entries(PICTURES)) {
    test(name, { skip: why }, async () => {
      const { page, close } = await openTab(browser, world.url, tab);
      await reads(page, '#verdict h1', 'In sync');
      await reads(page, '#columns', 'utxo_unspent');
      await reads(page, '#rollbacks', /ago/);
      await page.waitForSelector('.chart canvas');
      await VIEWS[of](page, world);
      await page.waitForTimeout(SETTLE_MS);
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: fileOf(name), fullPage: whole });
      await close();
    });
  }
});

const VIEWS: Readonly<Record<Subject, (page: Page, world: World) => Promise<void>>> = {
  overview: async () => undefined,
  address: async (page, world) => {
    const address = formatAddress(fromHex(somebody(world)));
    await page.fill('#query', address);
    await page.press('#query', 'Enter');
    await reads(page, 'h1', address);
  },
  transaction: async (page, world) => {
    const several = ({ valid, spends, creates }: { valid: boolean; spends: readonly object[]; creates: readonly object[] }): boolean =>
      valid && spends.length > 2 && creates.length > 2 && creates.length < 7;
    const { id } = world.devnet.blocks
      .slice(-200, -10)
      .flatMap(({ txs }) => txs)
      .find(several)!;
    await page.goto(`${world.url}#/tx/${id}`);
    await page.waitForSelector('.flow-drawing');
  },
  past: async (page, world) => {
    const address = formatAddress(fromHex(somebody(world)));
    await page.goto(`${world.url}#/address/${address}?at=${world.devnet.blocks.length - 120}`);
    await page.waitForSelector('.balance-drawing');
  },
  rollbacks: async (page, world) => {
    await page.goto(`${world.url}#/rollbacks`);
    await page.waitForSelector('.before-after');
  },
  reference: async (page, world) => {
    const article = '#get-api-v1-addresses-address-balance';
    await page.goto(`${world.url}docs/api${article}`);
    await page.click(`${article} button[type=submit]`);
    await page.waitForSelector(`${article} pre`);
  },
};

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
