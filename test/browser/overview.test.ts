/**
 * The overview in a real browser, over a devnet that is followed through a
 * socket: it judges, draws, moves with the chain in both directions, notices
 * when nobody answers and comes back by itself.
 */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { Browser } from 'playwright-core';
import { count } from '../../src/server/page/client/format.ts';
import { toHex } from '../../src/util/bytes.ts';
import { eventually } from '../support/patience.ts';
import { becomes, browserTest, launch, openTab, reads, withoutChromium } from './browser.ts';
import { assertNarrow, chartPixels, faintTexts } from './measure.ts';
import { World } from './world.ts';

const TIP = '#our-tip .big';
const REFRESH_SECONDS = 3;
/** Timers by which the page asks without being told to, from before and after it knows how often to: off where events alone must do. */
const WITHOUT_ASKING = `const every = setInterval; window.timers = []; window.setInterval = (body, ms, ...rest) => {
  window.timers.push(ms);
  return ms === 2000 || ms === ${1000 * REFRESH_SECONDS} ? 0 : every(body, ms, ...rest);
};`;

describe('the overview', () => {
  let world: World;
  let browser: Browser;
  before(async () => {
    if (withoutChromium) return;
    world = await World.open({ blocks: 400, set: [`status.refreshSeconds=${REFRESH_SECONDS}`] });
    await world.listen();
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  const height = (): string => count(world.store.fold.head!.height);

  browserTest('says whether all is well, and what it rests on', async () => {
    const { page, close } = await openTab(browser, world.url);
    await reads(page, '#verdict h1', 'In sync');
    const { utxos, value, hash } = world.store.fold.head!;
    await reads(page, TIP, height());
    assert.equal(await page.textContent('#source-tip .big'), height());
    const { slot } = world.store.fold.head!;
    assert.ok(slot > 1000, 'a number with a comma in it');
    await reads(page, '#source-tip', `${height()}slot ${count(slot)}n2n://`);
    // A devnet has a time of its own; its blocks were not made a year ago.
    await reads(page, '#our-tip', /made \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
    assert.equal(await page.getAttribute('#our-tip a', 'title'), toHex(hash));
    await reads(page, '#network', 'devnet');
    await reads(page, '.tiles', `Unspent outputs${count(utxos)}`);
    await reads(page, '.tiles', `Total tADA${count(value / 1_000_000n)}.${String(value % 1_000_000n).padStart(6, '0')}`);
    await reads(page, '#columns', 'utxo_unspent');
    await reads(page, '#kept', 'index.asset');
    await reads(page, '#source', /n2n:\/\/127\.0\.0\.1:\d+/);
    await reads(page, '#window', /Can undo\d+ blocks/);
    assert.equal(await page.title(), 'In sync – Unspent');
    await close();
  });

  browserTest('draws its charts', async () => {
    const { page, close } = await openTab(browser, world.url);
    await eventually(async () => {
      await world.mine(1);
      await page.waitForTimeout(500);
      const pixels = await chartPixels(page);
      assert.deepEqual(Object.keys(pixels), ['Lag', 'Blocks per second', 'Time per step', 'Requests']);
      for (const [title, amount] of Object.entries(pixels)) assert.ok(amount >= 20, `${title} has ${amount} pixels of its lines`);
    });
    await close();
  });

  browserTest('asks for little while nothing happens', async () => {
    const { page, close } = await openTab(browser, world.url);
    await reads(page, '#columns', 'utxo_unspent');
    await reads(page, '.strip .scale span:last-child', new RegExp(`^${height()}:`));
    await page.waitForLoadState('load');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const begun = performance.now();
    const kinds = (): string[] => [...new Set(asked)].sort();
    await page.waitForTimeout(5000);
    await eventually(() => assert.deepEqual(kinds(), ['/api/v1/status', '/api/v1/status/history']));
    // Fewer on a machine that is busy, never more.
    const seconds = (performance.now() - begun) / 1000;
    assert.ok(asked.length <= Math.ceil((8 * seconds) / 5), `in ${seconds} s: ${asked.join()}`);
    await close();
  });

  browserTest('moves when blocks come, by events alone', async () => {
    const { page, close } = await openTab(browser, world.url, { init: WITHOUT_ASKING });
    await reads(page, TIP, height());
    const timers = (await page.evaluate('window.timers')) as number[];
    assert.equal(timers.at(-1), 1000 * REFRESH_SECONDS, 'it asks again as often as the server was told');
    await reads(page, '#line', 'live');
    for (let i = 0; i < 3; i++) {
      await world.mine(1 + i);
      await reads(page, TIP, height());
      await reads(page, '.strip .scale span:last-child', new RegExp(`^${height()}:`));
    }
    await close();
  });

  browserTest('goes back and on with the chain, and keeps what happened in sight', async () => {
    const { page, close } = await openTab(browser, world.url);
    await reads(page, TIP, height());
    // After a rollback there are fewer, until new ones have come.
    const barsAre = async (): Promise<void> => {
      const chain = world.devnet.blocks.map((block) => toHex(block.hash).slice(0, 8)).join(' ');
      const shown = '[...document.querySelectorAll(".strip li:not(.gone)")].map((li) => li.dataset.hash.slice(0, 8)).join(" ")';
      const bars = await becomes(page, shown, (value) => value !== '' && chain.endsWith(String(value)));
      assert.ok(bars.fits && String(bars.value).length > 9 * 50, `the bars are ${bars.value}, the chain ends with ${chain.slice(-90)}`);
    };
    await barsAre();

    const { height: before } = world.store.fold.head!;
    world.devnet.rollback(3);
    await world.settled();
    assert.equal(world.store.fold.head!.height, before - 3);
    await reads(page, TIP, height());
    await reads(page, '#rollbacks li:first-child', /^3 blocksto /);
    await barsAre();
    await world.mine(2);
    await reads(page, TIP, count(before - 1));

    await world.fork(5);
    await reads(page, TIP, count(before));
    await reads(page, '#rollbacks li:first-child', /^5 blocksto /);
    await reads(page, '#rollbacks li:nth-child(2)', /^3 blocksto /);
    await barsAre();
    await reads(page, '#verdict h1', 'In sync');
    await close();
  });

  browserTest('says when nobody answers, and comes back by itself', async () => {
    const { page, close } = await openTab(browser, world.url);
    await reads(page, '#line', 'live');
    const port = Number(new URL(world.url).port);
    await world.stopListening();
    await reads(page, '#line', 'connection lost');
    await reads(page, '#verdict h1', 'Connection lost');
    assert.equal(await page.getAttribute('#verdict', 'data-tone'), 'bad');
    await world.mine(2);
    await world.listen({ port });
    await reads(page, '#line', 'live');
    await reads(page, '#verdict h1', 'In sync');
    await reads(page, TIP, height());
    await world.mine(1);
    await reads(page, TIP, height());
    // That nobody answered is on the console; nothing else may be.
    await close(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY|ERR_CONNECTION_RESET/);
  });

  browserTest('is dark or light: as the system, as chosen, and the choice is kept', async () => {
    const { page, close } = await openTab(browser, world.url, { colorScheme: 'dark' });
    const ground = (): Promise<number> => page.evaluate('Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])');
    await reads(page, '#verdict h1', 'In sync');
    assert.ok((await ground()) < 40, 'dark');
    await page.click('#theme');
    assert.ok((await ground()) > 215, 'light');
    await page.reload();
    assert.ok((await ground()) > 215, 'still light');
    await page.click('#theme');
    assert.ok((await ground()) < 40, 'dark again');
    await page.emulateMedia({ colorScheme: 'light' });
    assert.ok((await ground()) > 215, 'as the system');
    await close();
  });

  browserTest('can be read: contrast, landmarks, names, one heading', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, close } = await openTab(browser, world.url, { colorScheme });
      await reads(page, '#verdict h1', 'In sync');
      await reads(page, '#columns', 'utxo_unspent');
      assert.deepEqual(await faintTexts(page), [], colorScheme);
      for (const role of ['banner', 'main', 'search', 'contentinfo'] as const) assert.equal(await page.getByRole(role).count(), 1, role);
      assert.equal(await page.locator('h1').count(), 1);
      const unnamed = 'a, button, input';
      assert.deepEqual(
        await page.evaluate(
          `[...document.querySelectorAll('${unnamed}')].filter((e) => !(e.textContent.trim() || e.ariaLabel || e.labels?.length)).map((e) => e.outerHTML)`,
        ),
        [],
      );
      await reads(page, '#verdict [aria-live="polite"]', 'In sync. Every block the source has is here.');
      await close();
    }
  });

  browserTest('fits a phone', async () => {
    const { page, close } = await openTab(browser, world.url, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    await reads(page, '#verdict h1', 'In sync');
    await reads(page, '#columns', 'utxo_unspent');
    await page.waitForSelector('.chart canvas');
    await assertNarrow(page);
    await close();
  });

  browserTest('is worked by keyboard', async () => {
    const { page, close } = await openTab(browser, world.url);
    await reads(page, TIP, height());
    const focused = (): Promise<string> => page.evaluate('document.activeElement.id || document.activeElement.className');
    await page.keyboard.press('/');
    assert.equal(await focused(), 'query');
    assert.equal(await page.inputValue('#query'), '');
    await page.keyboard.press('Escape');
    assert.notEqual(await focused(), 'query');
    await page.reload();
    await reads(page, TIP, height());
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'skip');
    assert.notEqual(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none');
    await page.keyboard.press('Enter');
    // Following a link takes the browser a moment; the next key must not come before.
    const followed = await becomes(page, 'location.hash', (hash) => hash === '#main');
    assert.ok(followed.fits, `the skip link leads to ${followed.value}`);
    // What is drawn meanwhile does not take the place away.
    await world.mine(1);
    await reads(page, TIP, height());
    await page.keyboard.press('Tab');
    assert.ok(await page.evaluate('document.activeElement.closest("main") !== null'), 'the skip link leads into the content');
    assert.equal(await page.locator('#verdict').count(), 1, 'and not away from it');
    await close();
  });

  browserTest('keeps the focus, whatever is drawn again', async () => {
    const { page, close } = await openTab(browser, world.url);
    await reads(page, TIP, height());
    await reads(page, '.strip .scale span:last-child', new RegExp(`^${height()}:`));
    for (const selector of ['#our-tip a', '#window a', '.strip li:last-child a']) {
      await page.focus(selector);
      await page.evaluate(`window.held = document.querySelector('${selector}')`);
      await world.mine(1);
      await reads(page, TIP, height());
      await reads(page, '.strip .scale span:last-child', new RegExp(`^${height()}:`));
      assert.ok(await page.evaluate(`document.activeElement === document.querySelector('${selector}')`), selector);
    }
    assert.equal(
      await page.getAttribute('.strip li:last-child a', 'aria-label').then((label) => label?.split(',')[0]),
      `Block ${height()}`.split(',')[0],
    );
    await close();
  });
});
