/**
 * The button that verifies, for every kind of proof of both families: by the
 * tree that an output is unspent and that these are all of an address, by the
 * range that an output is unspent and that it is spent. Each holds, and is
 * refused once a byte is another one.
 */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { BitcoinWorld } from './bitcoin-world.ts';
import { browserTest, launch, openTab, reads, withoutChromium } from './browser.ts';
import { World } from './world.ts';

interface OutputRow {
  readonly tx_hash: string;
  readonly output_index: number;
  readonly owner_addr?: string;
  readonly spent_tx_hash?: string;
}

/** Presses the button of a structure: it holds with that root, and not with a byte changed. */
async function verify(page: Page, structure: 'CSMT' | 'MMR', root: string): Promise<void> {
  await page.click(`#proof button:has-text("${structure}")`);
  await reads(page, '.proof-verdict', 'holds');
  await reads(page, '.proof-steps', root);
  await page.click('text=Change one byte');
  await reads(page, '.proof-verdict', 'refused');
  await page.click('text=Verify it as it is');
  await reads(page, '.proof-verdict', 'holds');
}

for (const family of ['Cardano', 'Bitcoin'] as const)
  describe(`proofs of ${family} on the page`, () => {
    let world: World | BitcoinWorld;
    let browser: Browser;
    let page: Page;
    let close: () => Promise<void>;
    let outputs: readonly OutputRow[];
    let roots: { readonly csmt: string; readonly mmr: string };
    before(async () => {
      if (withoutChromium) return;
      const set = ['utxo.history=true', 'proofs.csmt=true', 'utxo.store=mmr'];
      if (family === 'Bitcoin') world = await BitcoinWorld.open(set);
      else {
        world = await World.open({ blocks: 40, set });
        await world.listen();
      }
      const ask = async <T>(path: string): Promise<T> => (await (await fetch(`${world.url}api/v1${path}`)).json()) as T;
      roots = await ask('/roots');
      const { height } = world.store.fold.head!;
      const blocks = await Promise.all([...Array(12).keys()].map((back) => ask<Changes>(`/blocks/height:${height - 3 - back}/changes`)));
      outputs = blocks.flatMap(({ created }) => created);
      browser = await launch();
      ({ page, close } = await openTab(browser, world.url));
      await reads(page, '#verdict h1', 'In sync');
    });
    after(async () => {
      await close?.();
      await browser?.close();
      await world?.close();
    });

    const open = async (place: string, heading: string): Promise<void> => {
      await page.goto(`${world.url}#/${place}`);
      await reads(page, 'h1', heading);
    };
    const openOutput = ({ tx_hash, output_index }: OutputRow): Promise<void> =>
      open(`output/${tx_hash}/${output_index}`, `${tx_hash}#${output_index}`);
    const found = (isSpent: boolean): OutputRow =>
      outputs.find((row) => (row.spent_tx_hash !== undefined) === isSpent && row.owner_addr !== undefined) ??
      assert.fail(`no output that is ${isSpent ? '' : 'un'}spent`);

    browserTest('an output is unspent: by the tree, and by the range', async () => {
      await openOutput(found(false));
      await verify(page, 'CSMT', roots.csmt);
      await verify(page, 'MMR', roots.mmr);
      await assertAccessible(page, 'a proof of the range');
    });

    browserTest('an output is spent: by the range alone', async () => {
      await openOutput(found(true));
      assert.equal(await page.locator('#proof button').count(), 1);
      await verify(page, 'MMR', roots.mmr);
    });

    browserTest('these are all unspent outputs of an address', async () => {
      const { owner_addr: address } = found(false);
      await open(`address/${address}`, address!);
      await verify(page, 'CSMT', roots.csmt);
      await assertAccessible(page, 'a proof of an address');
    });
  });

interface Changes {
  readonly created: readonly OutputRow[];
}
