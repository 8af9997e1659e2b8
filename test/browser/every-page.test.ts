/**
 * Every kind of page of both families, wide in the light and on a phone in the
 * dark: rules of accessibility, the order a screen reader has, nothing outside
 * of the screen, nothing on the console. What is not there has a page, too.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { BitcoinWorld } from './bitcoin-world.ts';
import { becomes, browserTest, launch, openTab, reads, type TabOptions, withoutChromium } from './browser.ts';
import { runExamples } from './examples.ts';
import { assertNarrow, assertStill, SHIFT_OBSERVER } from './measure.ts';
import { mintTokens } from './minted.ts';
import { assertReadable } from './reading-order.ts';
import { World } from './world.ts';

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const SCREENS: Readonly<Record<string, TabOptions>> = {
  'wide, in the light': { colorScheme: 'light' },
  'on a phone, in the dark': { ...PHONE, colorScheme: 'dark' },
};
const NOWHERE = 'ab'.repeat(32);

/** A page, with a text of it that is there when it is drawn. */
type Places = Readonly<Record<string, readonly [place: string, wanted: RegExp | string]>>;

/** What is not there is asked for all the same, and the browser says so on its console. */
const NOT_THERE = /status of (400|404)/;

async function assertPages(browser: Browser, url: string, places: Places, options: TabOptions): Promise<void> {
  const { page, close } = await openTab(browser, url, { ...options, init: SHIFT_OBSERVER });
  await reads(page, '#verdict h1', 'In sync');
  const failed: string[] = [];
  for (const [name, [place, wanted]] of Object.entries(places)) {
    try {
      // The page before may have the same words: it must be gone first.
      if (place !== '') await page.evaluate('document.querySelector("main > *").dataset.before = ""');
      await page.goto(`${url}#/${place}`);
      await becomes(page, 'document.querySelector("main [data-before], main .loading") === null', (isGone) => isGone === true);
      await reads(page, 'main', wanted);
      await assertStill(page);
      await assertAccessible(page, name);
      await assertReadable(page, name);
      if (options.isMobile === true) await assertNarrow(page);
    } catch (error) {
      failed.push(`${name}: ${(error as Error).message}`);
    }
  }
  assert.deepEqual(failed, []);
  await close(NOT_THERE);
}

/** Pages of both families. */
function common(tip: number): Places {
  return {
    overview: ['', 'Newest transactions'],
    blocks: ['blocks', 'Older'],
    'the overview of the past': [`?at=${tip - 3}`, 'The chain as of block'],
    'blocks of the past': [`blocks?at=${tip - 3}`, 'Blocks up to'],
    rollbacks: ['rollbacks', 'undone'],
    block: [`block/height:${tip - 2}`, 'Created'],
    'a transaction that is not there': [`tx/${NOWHERE}`, 'There is no such thing in the store'],
    'what is no address': ['address/nonsense', 'is no address'],
    'what is no page': ['nonsense/1', 'There is no such page'],
    'what nothing can be made of': ['search/nonsense', /nonsense/],
    'a block that is to come': [`block/height:${tip}?at=${tip - 3}`, 'Not there yet'],
  };
}

/** The same pages as of a block at which they were there. */
function inThePast(height: number, places: Places): Places {
  return Object.fromEntries(
    Object.entries(places).map(([name, [place, wanted]]) => [`${name} of the past`, [`${place}?at=${height}`, wanted]]),
  );
}

describe('every page of a Cardano chain', () => {
  let world: World;
  let browser: Browser;
  let places: Places;
  before(async () => {
    if (withoutChromium) return;
    world = await World.open({ blocks: 80, scripts: true, set: ['utxo.history=true', 'proofs.csmt=true'] });
    const tokens = mintTokens(world.devnet);
    await world.mine(8);
    await world.listen();
    await world.fork(3);
    const tip = world.store.fold.head!.height;
    type Row = Readonly<Record<string, string>> & { readonly redeemers?: readonly object[]; readonly outputs: readonly Row[] };
    const ask = async (path: string): Promise<Row> => (await (await fetch(`${world.url}api/v1${path}`)).json()) as Row;
    const ids = world.devnet.blocks.slice(-50, -6).flatMap((block) => block.txs.map(({ id }) => id));
    const txs = await Promise.all(ids.map((id) => ask(`/txs/${id}`)));
    const outputs = txs.flatMap((tx) => tx.outputs);
    const outputWith = (field: string): Row => outputs.find((row) => row[field] !== undefined && row['spent_tx_hash'] === undefined)!;
    const [stake, datum, script] = ['owner_stake_addr', 'inline_datum', 'reference_script_hash'].map(outputWith);
    const seen = outputs.find((row) => row['data_hash'] !== undefined && row['inline_datum'] === undefined)!;
    const run = txs.find(({ redeemers }) => redeemers !== undefined)!;
    const rich = outputs.reduce((most, row) => (BigInt(row['lovelace_amount']) > BigInt(most['lovelace_amount']) ? row : most));
    places = {
      ...common(tip),
      'a transaction of much': [`tx/${rich['tx_hash']}`, 'flow into'],
      'a transaction with scripts': [`tx/${run['tx_hash']}`, 'Redeemers'],
      'a transaction with metadata': [`tx/${tokens.txId}`, 'Label 721'],
      address: [`address/${stake['owner_addr']}`, 'Unspent outputs'],
      'an address of the past': [`address/${stake['owner_addr']}?at=${tip - 1}`, 'Unspent outputs'],
      'a stake address': [`stake/${stake['owner_stake_addr']}`, 'Balance over time'],
      'a credential': [`credential/${stake['owner_payment_credential']}`, 'Unspent outputs'],
      'an output with a datum': [`output/${datum['tx_hash']}/${datum['output_index']}`, 'Inline datum'],
      'an output with a script': [`output/${script['tx_hash']}/${script['output_index']}`, 'What the script is'],
      'a datum': [`datum/${seen['data_hash']}`, 'Datum'],
      'a script': [`script/${script['reference_script_hash']}`, 'Script'],
      'an asset': [`asset/${tokens.nft}`, 'Addresses that hold it'],
      'a policy': [`policy/${tokens.policy}`, 'Policy'],
      'the mempool, which there is none of': ['mempool', 'There is no such page on this chain'],
      wallets: ['wallets', /[Ww]allets/],
      ...inThePast(tip - 1, {
        'an asset': [`asset/${tokens.nft}`, 'Addresses that hold it'],
        'a policy': [`policy/${tokens.policy}`, 'Policy'],
        'a stake address': [`stake/${stake['owner_stake_addr']}`, 'Unspent outputs'],
        'a credential': [`credential/${stake['owner_payment_credential']}`, 'Unspent outputs'],
        'an output': [`output/${datum['tx_hash']}/${datum['output_index']}`, 'Inline datum'],
        'a datum': [`datum/${seen['data_hash']}`, 'Datum'],
        'a script': [`script/${script['reference_script_hash']}`, 'Script'],
        'a transaction': [`tx/${rich['tx_hash']}`, 'flow into'],
        'a block': [`block/height:${tip - 2}`, 'Created'],
      }),
    };
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  for (const [name, options] of Object.entries(SCREENS)) browserTest(name, () => assertPages(browser, world.url, places, options));

  browserTest('the documentation and the reference', async () => {
    for (const options of Object.values(SCREENS)) {
      const { page, close } = await openTab(browser, `${world.url}docs/`, options);
      for (const path of ['', 'operating.html', 'start/dapp.html', 'api']) {
        await page.goto(`${world.url}docs/${path}`);
        await reads(page, 'h1', /\w/);
        await assertAccessible(page, `/docs/${path}`);
        await assertReadable(page, `/docs/${path}`);
        if (options.isMobile === true)
          assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `/docs/${path} moves sideways`);
      }
      await close();
    }
  });

  browserTest('every example of the reference is answered, where everything is kept', async () => {
    const { answers, close } = await runExamples(browser, world.url);
    assert.ok(answers.length > 40, `${answers.length} were run`);
    // What is named is there, so it is not absent; the rest is not kept, or has a token of its own.
    const others = answers.filter(([, status]) => status !== '200').map(([path, status]) => `${status} ${path}`);
    assert.deepEqual(others, [
      '501 /api/v1/utxo/mmr/root',
      '501 /api/v1/utxo/mmr/proof/{tx}/{index}',
      '501 /api/v1/utxo/mmr/leaf-index/{tx}/{index}',
      '404 /api/v1/csmt/absence',
      '401 /api/v1/wallets/',
    ]);
    await close(/status of (401|404|501)/);
  });

  browserTest('the documentation is searched by keys alone, on the server and in a folder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'unspent-docs-'));
    try {
      await promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../tools/docs/write.ts'), folder]);
      for (const site of [`${world.url}docs/`, `${pathToFileURL(folder)}/index.html`]) {
        // What a page of a folder may load is that folder, and nothing else.
        const { page, close } = await openTab(browser, site);
        await page.keyboard.press('/');
        await page.keyboard.type('horizon rollb');
        const found = await becomes(page, 'document.querySelectorAll("#found a").length', (links) => Number(links) > 1);
        assert.ok(found.fits, `${site} found ${found.value}`);
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('ArrowUp');
        const link = (await page.evaluate('document.activeElement.href')) as string;
        assert.equal(link, await page.evaluate('document.querySelector("#found a").href'), 'the keys move through what was found');
        await page.keyboard.press('Enter');
        await page.waitForURL(link);
        const { hash } = new URL(link);
        assert.ok(await page.evaluate(`document.getElementById(${JSON.stringify(hash.slice(1))}) !== null`), `${link} is there`);
        await close();
      }
      // In a folder every route is a page, which asks nobody.
      const { page, close } = await openTab(browser, `${pathToFileURL(folder)}/index.html`);
      await page.goto(`${pathToFileURL(folder)}/reference/http.html`);
      await page.click('text=Every route');
      await reads(page, 'h1', 'HTTP reference');
      assert.ok((await page.locator('article.route').count()) > 40);
      assert.equal(await page.locator('form.try').count(), 0);
      await assertAccessible(page, 'the routes in a folder');
      await close();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('every page of a Bitcoin chain', () => {
  let world: BitcoinWorld;
  let browser: Browser;
  let places: Places;
  before(async () => {
    if (withoutChromium) return;
    world = await BitcoinWorld.open(['proofs.csmt=true']);
    world.devnet.fork(2);
    await world.settled();
    const tip = world.store.fold.head!.height;
    const txs = await world.ask<{ tx_hash: string; tx_index: number }[]>('api/v1/txs?limit=20');
    const paid = txs.find(({ tx_index: index }) => index > 0)!.tx_hash;
    const coinbase = txs.find(({ tx_index: index }) => index === 0)!.tx_hash;
    places = {
      ...common(tip),
      'a transaction': [`tx/${paid}`, 'What outputs ask for'],
      'a reward': [`tx/${coinbase}`, 'a reward of mining'],
      address: [`address/${world.address}`, 'Unspent outputs'],
      'an address of the past': [`address/${world.address}?at=${tip - 1}`, 'Unspent outputs'],
      'an output': [`output/${paid}/0`, 'What it asks for'],
      ...inThePast(tip, { 'an output': [`output/${paid}/0`, 'What it asks for'], 'a transaction': [`tx/${paid}`, 'What outputs ask for'] }),
      mempool: ['mempool', 'Transactions that wait'],
    };
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  for (const [name, options] of Object.entries(SCREENS)) browserTest(name, () => assertPages(browser, world.url, places, options));
});
