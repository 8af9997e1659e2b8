/**
 * The explorer over a chain with scripts and a history: flows, scripts, balances
 * over time, assets and their metadata, time travel, proofs, rollbacks. Every
 * page is held against axe-core, in light and dark, and none may shift while it
 * is drawn.
 */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { coins, count, largest } from '../../src/server/page/client/format.ts';
import { assertAccessible } from './axe.ts';
import { becomes, browserTest, launch, openTab, reads, type Tab, withoutChromium } from './browser.ts';
import { assertNarrow, assertStill, SHIFT_OBSERVER } from './measure.ts';
import { type MintedTokens, mintTokens } from './minted.ts';
import { assertReadable } from './reading-order.ts';
import { World } from './world.ts';

interface TxDocument {
  readonly tx_hash: string;
  readonly valid: boolean;
  readonly block: number;
  readonly fee: string;
  readonly size: number;
  readonly inputs: readonly { readonly lovelace_amount: string }[];
  readonly outputs: readonly { readonly lovelace_amount: string; readonly owner_addr: string; readonly spent_tx_hash?: string }[];
  readonly collateral_inputs?: readonly object[];
  readonly redeemers?: readonly object[];
}

/** Bytes over the wire until the overview is complete, headers included. */
const FIRST_LOAD_BYTES_MAX = 150_000;

describe('the explorer', () => {
  let world: World;
  let browser: Browser;
  let tab: Tab;
  let page: Page;
  let tokens: MintedTokens;
  let txs: TxDocument[];
  before(async () => {
    if (withoutChromium) return;
    world = await World.open({ blocks: 60, scripts: true, set: ['utxo.history=true', 'proofs.csmt=true'] });
    tokens = mintTokens(world.devnet);
    await world.mine(8);
    await world.listen();
    browser = await launch();
    // Deep enough to stay where they are when a fork comes.
    const ids = world.devnet.blocks.slice(-40, -5).flatMap((block) => block.txs.map(({ id }) => id));
    txs = (await Promise.all([tokens.txId, ...ids.reverse()].map((id) => ask<TxDocument>(`/txs/${id}`)))).filter(
      ({ outputs }) => outputs.length > 0,
    );
    tab = await openTab(browser, world.url, { init: SHIFT_OBSERVER });
    page = tab.page;
  });
  after(async () => {
    // Of the asset that is said to have too many holders.
    await tab?.close(/status of 503/);
    await browser?.close();
    await world?.close();
  });

  const ask = async <T>(path: string): Promise<T> => (await (await fetch(`${world.url}api/v1${path}`)).json()) as T;
  const open = async (place: string, heading: string): Promise<void> => {
    await page.goto(`${world.url}#/${place}`);
    await reads(page, 'h1', heading);
  };
  const count_ = (selector: string): Promise<number> => page.locator(selector).count();

  browserTest('the first load is small, and nothing moves once it is drawn', async () => {
    await reads(page, '#verdict h1', 'In sync');
    const [newest] = await ask<{ tx_hash: string }[]>('/txs?limit=1');
    await reads(page, '#newest-txs', newest.tx_hash.slice(0, 8));
    await reads(page, '#columns', 'utxo_unspent');
    await page.waitForSelector('.chart canvas');
    const bytes = (await page.evaluate(
      `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce((sum, { transferSize }) => sum + transferSize, 0)`,
    )) as number;
    assert.ok(bytes > 10_000 && bytes < FIRST_LOAD_BYTES_MAX, `${bytes} bytes over the wire`);
    await assertStill(page);
    assert.deepEqual(await page.locator('#newest-blocks tbody tr').count(), 8);
    await assertAccessible(page, 'the overview');
    await assertReadable(page, 'the overview');
  });

  browserTest('a transaction: fee, size, depth, and a flow whose ribbons are its inputs and outputs', async () => {
    const tx = txs.find(({ valid, inputs, outputs }) => valid && inputs.length > 1 && outputs.length > 1)!;
    await open(`tx/${tx.tx_hash}`, tx.tx_hash);
    const tip = (await ask<{ tip: { height: number } }>('/status')).tip.height;
    await reads(page, '.facts', `Confirmations${tip - tx.block + 1}Fee${coins(tx.fee, 'lovelace')} tADASize${tx.size} B`);
    const ribbons =
      '[...document.querySelectorAll(".flow-drawing .end > path:first-of-type")].map((path) => Number(path.getAttribute("stroke-width")))';
    const drawn = await becomes(page, ribbons, (widths) => (widths as number[]).length === tx.inputs.length + tx.outputs.length + 1);
    assert.ok(drawn.fits, `${drawn.value} for ${tx.inputs.length} inputs and ${tx.outputs.length} outputs`);
    const widths = (drawn.value as number[]).slice(tx.inputs.length, -1);
    const values = tx.outputs.map(({ lovelace_amount }) => BigInt(lovelace_amount));
    const most = largest(values);
    assert.equal(widths[values.indexOf(most)], Math.max(...widths), 'the largest output has the thickest ribbon');
    assert.equal(await count_('table.ends tr[data-row]'), tx.inputs.length + tx.outputs.length + (tx.collateral_inputs?.length ?? 0));
    const run = txs.find(({ valid, redeemers }) => valid && redeemers !== undefined)!;
    await open(`tx/${run.tx_hash}`, run.tx_hash);
    await reads(page, '#redeemers', /constructor|list|map|CBOR/);
    assert.equal(await count_('#redeemers > ul > li'), run.redeemers!.length);
    await assertAccessible(page, 'a transaction');
    await assertReadable(page, 'a transaction');
  });

  browserTest('a Plutus script is shown as its program, once somebody opens it', async () => {
    const loaded = '[...performance.getEntriesByType("resource")].filter(({ name }) => name.endsWith("uplc-reader.js")).length';
    assert.equal(await page.evaluate(loaded), 0, 'its reader is not loaded before');
    await page.locator('#scripts .uplc summary').first().click();
    await reads(page, '#scripts .program pre', /^\(program 1\.\d\.0\s+\(lam a/);
    assert.equal(await page.evaluate(loaded), 1);
    await assertAccessible(page, 'a program');
    await assertReadable(page, 'a program');
  });

  browserTest('one whose scripts failed says so, and what it cost', async () => {
    const tx = txs.find(({ valid, collateral_inputs }) => !valid && collateral_inputs !== undefined)!;
    await open(`tx/${tx.tx_hash}`, tx.tx_hash);
    await reads(page, '.facts', new RegExp(`scripts failed.*Collateral taken${coins(tx.fee, 'lovelace').replace('.', '\\.')}`));
    await reads(page, 'main', 'not spent, because its scripts failed');
  });

  browserTest('an address: what happened to it, and its balance over time', async () => {
    const address = txs[1].outputs[0].owner_addr;
    await open(`address/${address}`, address);
    const history = await ask<object[]>(`/addresses/${address}/txs?limit=500`);
    await reads(page, '#history caption', `Transactions ${count(history.length)}`);
    assert.equal(await count_('#history tbody tr'), Math.min(10, history.length));
    const { amounts } = await ask<{ amounts: { quantity: string }[] }>(`/addresses/${address}/balance`);
    await reads(page, '#history tbody tr', coins(amounts[0].quantity, 'lovelace'));
    const line = await becomes(page, 'document.querySelector(".balance-drawing .line")?.getAttribute("d") ?? ""', (path) => path !== '');
    assert.equal(String(line.value).split('V').length - 1, history.length, 'a step for each transaction');
    await assertAccessible(page, 'an address');
    await page.setViewportSize({ width: 390, height: 844 });
    await assertNarrow(page);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  browserTest('an asset: who holds it, and what is said of it in its mint or in a datum', async () => {
    await open(`asset/${tokens.nft}`, tokens.nft);
    await reads(page, '.facts', /NameFish.*In existence1Addresses that hold it1.*Minted in/);
    await reads(page, '#metadata', /CIP-25.*A little fish/);
    await open(`asset/${tokens.user}`, tokens.user);
    await reads(page, '#metadata', /CIP-68.*hull.*wooden/);
    await assertAccessible(page, 'an asset');
    // More holders than the server adds up: what else there is to say is said.
    const limit = { status: 503, code: 'LIMIT', title: 'Too much', detail: 'more than 100000 addresses hold the asset' };
    const summary = `**/api/v1/assets/${tokens.nft}`;
    await page.route(summary, (route) => route.fulfill({ status: 503, contentType: 'application/problem+json', json: limit }));
    await open(`asset/${tokens.nft}`, tokens.nft);
    await reads(page, 'main', /Addresses that hold itnot added up: more than 100000 addresses.*Minted in.*Unspent outputs/s);
    await page.unroute(summary);
    await open(`tx/${tokens.txId}`, tokens.txId);
    await reads(page, '#metadata', /Label 721.*ipfs:\/\/fish/);
  });

  browserTest('time travel: the slider draws a page as of an earlier block, and back', async () => {
    const tx = txs.find(({ valid, outputs }) => valid && outputs.some(({ spent_tx_hash }) => spent_tx_hash === undefined))!;
    const { owner_addr: address } = tx.outputs.find(({ spent_tx_hash }) => spent_tx_hash === undefined)!;
    await open(`address/${address}`, address);
    const tip = (await ask<{ tip: { height: number } }>('/status')).tip.height;
    const height = tx.block - 1;
    await page.focus('#travel-height');
    for (let back = tip; back > height; back--) await page.keyboard.press('ArrowLeft');
    await becomes(page, 'location.hash', (hash) => String(hash).endsWith(`?at=${height}`));
    const balance = async (at: string): Promise<string> =>
      coins((await ask<{ amounts: { quantity: string }[] }>(`/addresses/${address}/balance${at}`)).amounts[0].quantity, 'lovelace');
    const [then, now] = [await balance(`?at=height:${height}`), await balance('')];
    assert.notEqual(then, now, 'the balance has changed since');
    await reads(page, '.facts', `Balance${then} tADA`);
    assert.equal(await page.evaluate('document.activeElement.id'), 'travel-height', 'the focus stays on the slider');
    await reads(page, '.travel', 'back, ');
    await assertAccessible(page, 'a page of the past');
    await assertReadable(page, 'a page of the past');
    // Links lead to other pages as of the same block; what is younger is not there yet.
    assert.match((await page.getAttribute('.facts a', 'href')) ?? '', new RegExp(`\\?at=${height}$`));
    await page.goto(`${world.url}#/tx/${tx.tx_hash}?at=${height}`);
    await reads(page, '.notice', 'Not there yet');
    await page.goto(`${world.url}#/address/${address}?at=${height}`);
    await reads(page, '.facts', `Balance${then} tADA`);
    await page.click('text=Back to now');
    await reads(page, '.facts', `Balance${now} tADA`);
  });

  browserTest('time travel on lists: blocks up to the one that is chosen; what is always of now says so', async () => {
    const tip = (await ask<{ tip: { height: number } }>('/status')).tip.height;
    const height = tip - 4;
    await page.goto(`${world.url}#/blocks?at=${height}`);
    await reads(page, 'caption', `Blocks up to ${count(height)}`);
    const shown = (): Promise<string[]> =>
      page.locator('tr[data-block]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-block')!));
    const wanted = await ask<{ hash: string }[]>(`/blocks?limit=50&before=${height + 1}`);
    assert.deepEqual(
      await shown(),
      wanted.map(({ hash }) => hash),
    );
    await assertAccessible(page, 'blocks of the past');
    await assertReadable(page, 'blocks of the past');
    await page.focus('#travel-height');
    await page.keyboard.press('ArrowLeft');
    await reads(page, 'caption', `Blocks up to ${count(height - 1)}`);
    assert.equal((await shown())[0], wanted[1].hash);
    await page.goto(`${world.url}#/block/height:${height}?at=${height}`);
    await reads(page, 'h1', wanted[0].hash);
    await page.goto(`${world.url}#/block/height:${height + 1}?at=${height}`);
    await reads(page, '.notice', 'Not there yet');
    await page.goto(`${world.url}#/rollbacks?at=${height}`);
    await reads(page, '.of-now', 'of the newest block');
    await assertAccessible(page, 'a page of now');
    await assertReadable(page, 'a page of now');
  });

  browserTest('time travel on the overview: what was the newest then, and the roots of that block', async () => {
    const tip = (await ask<{ tip: { height: number } }>('/status')).tip.height;
    const height = tip - 5;
    await page.goto(`${world.url}#/`);
    await reads(page, '#verdict h1', 'In sync');
    await page.focus('#travel-height');
    for (let back = tip; back > height; back--) await page.keyboard.press('ArrowLeft');
    await reads(page, 'h1', `The chain as of block ${count(height)}`);
    assert.equal(await page.evaluate('document.activeElement.id'), 'travel-height', 'the focus stays on the slider');
    const blocks = await ask<{ hash: string; height: number }[]>(`/blocks?limit=8&before=${height + 1}`);
    assert.equal(blocks[0].height, height);
    const rows = (id: string, name: string): Promise<(string | null)[]> =>
      page.locator(`${id} tr[${name}]`).evaluateAll((all, attribute) => all.map((row) => row.getAttribute(attribute)), name);
    assert.deepEqual(
      await rows('#newest-blocks', 'data-block'),
      blocks.map(({ hash }) => hash),
    );
    const newest = await ask<{ tx_hash: string; block: number }[]>(`/txs?limit=8&before=${height + 1}`);
    assert.ok(newest.every(({ block }) => block <= height));
    assert.deepEqual(
      await rows('#newest-txs', 'data-tx'),
      newest.map(({ tx_hash }) => tx_hash),
    );
    const [then, now] = [await ask<{ csmt: string }>(`/roots?at=height:${height}`), await ask<{ csmt: string }>('/roots')];
    assert.notEqual(then.csmt, now.csmt);
    await reads(page, '#roots', then.csmt);
    assert.match(
      (await page.getAttribute('#newest-blocks tbody a', 'href')) ?? '',
      new RegExp(`at=${height}$`),
      'links lead to the same time',
    );
    await assertAccessible(page, 'the overview of the past');
    await assertReadable(page, 'the overview of the past');
    await page.click('text=Back to now');
    await reads(page, '#verdict h1', 'In sync');
    assert.equal(await page.evaluate('location.hash'), '#/');
    assert.doesNotMatch((await page.getAttribute('#newest-blocks tbody a', 'href')) ?? '', /at=/);
  });

  browserTest('a proof is verified here, and refused once a byte is another one', async () => {
    const { tx_hash, index } = txs
      .flatMap(({ tx_hash, outputs }) => outputs.map((output, index) => ({ tx_hash, index, output })))
      .find(({ output }) => output.spent_tx_hash === undefined)!;
    await open(`output/${tx_hash}/${index}`, `${tx_hash}#${index}`);
    const modules = '[...performance.getEntriesByType("resource")].filter(({ name }) => name.endsWith("proof-reader.js")).length';
    assert.equal(await page.evaluate(modules), 0, 'the verifier is not loaded before it is asked for');
    await page.click('#proof button');
    await reads(page, '.proof-verdict', 'holds');
    const { csmt } = await ask<{ csmt: string }>('/roots');
    await reads(page, '.proof-steps', csmt);
    const hashes = '[...document.querySelectorAll(".proof-path code")].map((code) => code.textContent)';
    assert.equal(((await page.evaluate(hashes)) as string[]).at(-1), csmt, 'the path ends at the root');
    await assertAccessible(page, 'a proof');
    await page.click('text=Change one byte');
    await reads(page, '.proof-verdict', 'refused');
    await page.click('text=Verify it as it is');
    await reads(page, '.proof-verdict', 'holds');
  });

  browserTest('a page of now follows the chain, and leaves alone what somebody is in', async () => {
    const tx = txs.find(({ valid }) => valid)!;
    await open(`tx/${tx.tx_hash}`, tx.tx_hash);
    const tip = (): number => world.store.fold.head!.height;
    const deep = (): string => `Confirmations${tip() - tx.block + 1}Fee`;
    await reads(page, '.facts', deep());
    await page.evaluate('window.kept = document.querySelector(".pair")');
    await world.mine(1);
    await reads(page, '.facts', deep());
    assert.ok(await page.evaluate('window.kept.isConnected'), 'what came out the same stays');
    await open('blocks', 'Blocks');
    const newest = (): string => count(tip());
    await reads(page, 'tr[data-block]', newest());
    await page.focus('tr[data-block] a');
    const read = newest();
    await world.mine(1);
    await reads(page, '.stale:not([hidden])', 'an earlier block');
    await reads(page, 'tr[data-block]', read);
    await assertAccessible(page, 'a page that is behind');
    await page.click('.stale button');
    await reads(page, 'tr[data-block]', newest());
    await becomes(page, 'document.querySelector(".stale").hidden', (hidden) => hidden === true);
  });

  browserTest('what a rollback took away stands beside where it is now', async () => {
    const before = world.devnet.blocks.slice(-3).flatMap(({ txs: own }) => own.map(({ id }) => id));
    await world.fork(3);
    await open('rollbacks', 'What rollbacks took away');
    const report = await becomes(
      page,
      '[...document.querySelectorAll(".before-after .before .mono")].map((e) => e.title)',
      (ids) => (ids as string[]).length > 0,
    );
    assert.deepEqual([...(report.value as string[])].sort(), [...new Set(before)].sort());
    await reads(page, '.reorgs h2', '3 blocks undone');
    await assertAccessible(page, 'rollbacks');
    await open('blocks', 'Blocks');
    assert.equal(await count_('tbody tr'), 50);
    await page.click('text=Older');
    await reads(page, 'caption', 'Blocks below');
    await assertAccessible(page, 'the list of blocks');
  });

  browserTest('in the dark, and on a phone, it reads as well', async () => {
    const tx = txs.find(({ redeemers }) => redeemers !== undefined)!;
    const { page: phone, close } = await openTab(browser, `${world.url}#/tx/${tx.tx_hash}`, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
      colorScheme: 'dark',
      init: SHIFT_OBSERVER,
    });
    await reads(phone, '#redeemers', 'may use');
    await assertNarrow(phone);
    await assertAccessible(phone, 'a transaction on a phone, in the dark');
    await phone.goto(`${world.url}#/`);
    await reads(phone, '#verdict h1', 'In sync');
    await reads(phone, '#newest-txs', /\d/);
    await assertNarrow(phone);
    await assertAccessible(phone, 'the overview on a phone, in the dark');
    await close();
  });
});
