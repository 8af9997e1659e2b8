/**
 * The panel of roots in a real browser: there where something has a root, right
 * for the newest block, copied whole, and not seen where nothing has one.
 */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { Browser } from 'playwright-core';
import { browserTest, launch, openTab, reads, withoutChromium } from './browser.ts';
import { assertNarrow } from './measure.ts';
import { World } from './world.ts';

describe('the roots on the page', () => {
  let world: World;
  let browser: Browser;
  before(async () => {
    if (withoutChromium) return;
    world = await World.open({ blocks: 40, set: ['proofs.csmt=true', 'proofs.setHash=true'] });
    await world.listen();
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  browserTest('are those of the newest block, and move with it', async () => {
    const { page, close } = await openTab(browser, world.url);
    await reads(page, '#roots', `CSMT${world.store.roots().csmt}`);
    await world.mine(2);
    const { csmt, setHash } = world.store.roots();
    await reads(page, '#roots', `CSMT${csmt}`);
    await reads(page, '#roots', `Set hash${setHash}`);
    await reads(page, '#roots', `At block${world.store.fold.head!.height}`);
    assert.equal(await page.locator('#roots .copy').count(), 2);
    await close();
  });

  browserTest('fit on a phone', async () => {
    const { page, close } = await openTab(browser, world.url, { viewport: { width: 360, height: 800 } });
    await reads(page, '#roots', 'CSMT');
    await assertNarrow(page);
    await close();
  });

  browserTest('are not there where nothing has one', async () => {
    const plain = await World.open({ blocks: 5 });
    await plain.listen();
    const { page, close } = await openTab(browser, plain.url);
    await reads(page, '#our-tip .big', '4');
    await page.waitForTimeout(300);
    assert.equal(await page.locator('#roots').isVisible(), false);
    await close();
    await plain.close();
  });
});
