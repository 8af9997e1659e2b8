/**
 * Searching in a real browser. What is shown is held against the devnet's own
 * account of what is unspent, which never read a block.
 */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { ModelUtxo } from '../../src/chains/cardano/devnet/model.ts';
import { describeOutput, formatAddress, readAddress, stakeAddressOf } from '../../src/ledgers/cardano/index.ts';
import { coins, count } from '../../src/server/page/client/format.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { until } from '../support/patience.ts';
import { becomes, browserTest, launch, openTab, reads, type Tab, withoutChromium } from './browser.ts';
import { assertNarrow, faintTexts } from './measure.ts';
import { World } from './world.ts';

const ROWS = '[...document.querySelectorAll("tbody tr[data-output]")].map((tr) => tr.dataset.output)';

describe('searching', () => {
  let world: World;
  let browser: Browser;
  let tab: Tab;
  let page: Page;
  let utxos: readonly ModelUtxo[];
  before(async () => {
    if (withoutChromium) return;
    world = await World.open({ blocks: 260, set: ['utxo.rollbackWindow=200'] });
    await world.listen();
    browser = await launch();
    tab = await openTab(browser, world.url, { permissions: ['clipboard-read', 'clipboard-write'] });
    page = tab.page;
    utxos = [...world.devnet.utxos.values()];
  });
  after(async () => {
    // What is not there is answered with 404 or 400, what is forgotten with 410, and the console says so; nothing else may be on it.
    await tab?.close(/Failed to load resource: the server responded with a status of (400|404|410)/);
    await browser?.close();
    await world?.close();
  });

  /** Types it, as a person does, and waits until the page says what it has found. */
  const search = async (text: string, kind: string): Promise<void> => {
    await page.goto(`${world.url}#/`);
    await page.waitForSelector('#verdict');
    await page.fill('#query', text);
    await page.press('#query', 'Enter');
    await reads(page, 'main', new RegExp(`^${kind}`));
  };
  const subjectOf = (kind: string): string => `← Overview${kind}`;

  /** The rows are exactly these outputs, newest first; asks for more until all are there. */
  const showsOutputs = async (wanted: readonly ModelUtxo[]): Promise<void> => {
    const shown = await becomes(page, ROWS, (rows) => (rows as string[]).length >= Math.min(25, wanted.length));
    assert.equal((shown.value as string[]).length, Math.min(25, wanted.length), 'the first page');
    while (await page.getByRole('button', { name: 'Show more' }).isVisible()) {
      const before = ((await page.evaluate(ROWS)) as string[]).length;
      await page.getByRole('button', { name: 'Show more' }).click();
      await becomes(page, ROWS, (rows) => (rows as string[]).length > before);
    }
    const order = (utxo: ModelUtxo): number => utxo.slot * 1e6 + utxo.txIndex * 1e3 + utxo.index;
    const expected = [...wanted].sort((a, b) => order(b) - order(a)).map(({ key }) => key);
    assert.deepEqual(await page.evaluate(ROWS), expected);
  };

  const ownedBy = (addressHex: string): ModelUtxo[] => utxos.filter((utxo) => utxo.addressHex === addressHex);
  const richest = (wanted: (addressHex: string) => boolean): { hex: string; owned: ModelUtxo[] } => {
    const addresses = [...new Set(utxos.map(({ addressHex }) => addressHex))].filter(wanted);
    const [best] = addresses.map((hex) => ({ hex, owned: ownedBy(hex) })).sort((a, b) => b.owned.length - a.owned.length);
    assert.ok(best !== undefined, 'the devnet has such an address');
    return best;
  };
  const isByron = (hex: string): boolean => hex.startsWith('82d818');

  browserTest('an address: its balance and every output, page by page', async () => {
    const { hex, owned } = richest((address) => !isByron(address));
    assert.ok(owned.length > 25, `more than a page: ${owned.length}`);
    await search(formatAddress(fromHex(hex)), subjectOf('Address'));
    const total = owned.reduce((sum, utxo) => sum + utxo.lovelace, 0n);
    await reads(page, '.facts', `Balance${coins(total.toString(), 'lovelace')} tADAUnspent outputs${count(owned.length)}`);
    await showsOutputs(owned);
    for (const { key, lovelace } of owned.slice(0, 5))
      await reads(page, `tr[data-output="${key}"]`, coins(lovelace.toString(), 'lovelace'));
  });

  browserTest('an address in base58, and one in hex', async () => {
    const byron = richest(isByron);
    await search(formatAddress(fromHex(byron.hex)), subjectOf('Address'));
    await showsOutputs(byron.owned);
    const enterprise = richest((address) => /^[67]0/.test(address));
    await search(enterprise.hex, subjectOf('Address'));
    await showsOutputs(enterprise.owned);
  });

  browserTest('a stake address and a payment credential', async () => {
    const { hex } = richest((address) => /^[0-3]0/.test(address));
    const read = readAddress(fromHex(hex));
    const stake = toHex(read.stake!.hash);
    await search(formatAddress(stakeAddressOf(read)!), subjectOf('Stake address'));
    await showsOutputs(utxos.filter(({ addressHex }) => /^[0-3]0/.test(addressHex) && addressHex.endsWith(stake)));
    const payment = toHex(read.payment!.hash);
    await search(payment, subjectOf('Payment credential'));
    await showsOutputs(utxos.filter(({ addressHex }) => addressHex.slice(2, 58) === payment && !isByron(addressHex)));
  });

  browserTest('an asset by its unit, and a policy; names are letters where they are', async () => {
    const held = new Map<string, ModelUtxo[]>();
    for (const utxo of utxos) for (const asset of utxo.assets.keys()) held.set(asset, [...(held.get(asset) ?? []), utxo]);
    const [asset, holders] = [...held].find(([name]) => /\.(7469636b6574|636f696e|746f6b656e)$/.test(name))!;
    const [policy, name] = asset.split('.');
    await search(policy + name, subjectOf('Asset'));
    await reads(page, '.facts', Buffer.from(name, 'hex').toString());
    await showsOutputs(holders);
    await search(policy, subjectOf('Policy'));
    await showsOutputs(utxos.filter((utxo) => [...utxo.assets.keys()].some((key) => key.startsWith(policy))));
  });

  browserTest('an output, unspent or spent; a transaction', async () => {
    const utxo = utxos.find(({ assets, height }) => assets.size > 1 && height > 0)!;
    await search(utxo.key, subjectOf('Output'));
    await reads(page, '.facts', `Holds${coins(utxo.lovelace.toString(), 'lovelace')} tADAStateunspent`);
    assert.equal(await page.locator('.facts .asset').count(), utxo.assets.size);
    assert.equal(await page.getAttribute('.facts a[href^="#/address/"]', 'title'), formatAddress(fromHex(utxo.addressHex)));

    const block = world.devnet.blocks.findLast(({ txs }) => txs.some(({ spends, valid }) => valid && spends.length > 0))!;
    const tx = block.txs.find(({ spends, valid }) => valid && spends.length > 0)!;
    const [spent] = tx.spends;
    await search(spent.key, subjectOf('Output'));
    await reads(page, '.facts', 'Statespent by');
    assert.equal(await page.getAttribute('.facts a.tag', 'title'), tx.id);

    await search(tx.id, subjectOf('Transaction'));
    const names = '[...document.querySelectorAll("caption")].map((c) => c.textContent)';
    assert.deepEqual(await page.evaluate(names), [`Inputs ${tx.spends.length}`, `Outputs ${tx.creates.length}`]);
    const rows = (await page.evaluate(ROWS)) as string[];
    assert.deepEqual([...rows].sort(), [...tx.spends, ...tx.creates].map(({ key }) => key).sort());
  });

  browserTest('a block by hash, height and slot', async () => {
    const { blocks } = world.devnet;
    const block = blocks.slice(0, -1).findLast(({ txs }) => txs.length > 1)!;
    await search(toHex(block.hash), subjectOf('Block'));
    await reads(page, '.facts', `Height${count(block.height)}Slot${count(block.slot)}`);
    const txs = '[...document.querySelectorAll("tr[data-tx]")].map((tr) => tr.dataset.tx)';
    assert.deepEqual(
      await page.evaluate(txs),
      block.txs.map(({ id }) => id),
    );
    await search(`height:${block.height}`, subjectOf('Block'));
    await reads(page, 'h1', toHex(block.hash));
    await search(`slot ${block.slot + 1}`, subjectOf('Block'));
    await reads(page, 'h1', toHex(block.hash));
    // A bare number can be both; it is not guessed.
    await search(String(block.height), '← Overview“');
    await page.click(`text=Block of height ${block.height}`);
    await reads(page, 'h1', toHex(block.hash));
  });

  browserTest('a datum and a script', async () => {
    const described = utxos.map((utxo) => ({ utxo, ...describeOutput(utxo.output) }));
    const script = described.find(({ scriptHash }) => scriptHash !== null)!;
    await search(toHex(script.scriptHash!), subjectOf('Script'));
    await showsOutputs(
      described.filter(({ scriptHash }) => scriptHash !== null && toHex(scriptHash) === toHex(script.scriptHash!)).map(({ utxo }) => utxo),
    );
    const datum = described.find(({ datumHash }) => datumHash !== null)!;
    await search(toHex(datum.datumHash!), subjectOf('Datum'));
    await showsOutputs(
      described.filter(({ datumHash }) => datumHash !== null && toHex(datumHash) === toHex(datum.datumHash!)).map(({ utxo }) => utxo),
    );
  });

  browserTest('what is not there is said, and why', async () => {
    await search('ab'.repeat(32), 'Nothing found.No transaction, block, datum, asset');
    await search('hello world', 'That is nothing the chain has names for');
    await search('addr_test1qqqqqqqqqqqqqqqqqqqqqqqqqqq', '');
    // The server's own words: title, detail, advice, code.
    await reads(page, '.notice', /is no address\..*not sound bech32/s);
    await search('height:99999999', '');
    await reads(page, '.notice', /not on our chain.*POINT_UNKNOWN, HTTP 404/s);
  });

  browserTest('everything leads somewhere, and back', async () => {
    const utxo = utxos.findLast(({ height, addressHex }) => height > 0 && !isByron(addressHex))!;
    const address = formatAddress(fromHex(utxo.addressHex));
    await page.goto(`${world.url}#/address/${address}`);
    await page.locator(`tr[data-output="${utxo.key}"] a`).first().click();
    await reads(page, 'h1', utxo.key);
    await page.click('.facts a[href^="#/tx/"]');
    await reads(page, 'main', new RegExp(`^${subjectOf('Transaction')}${toHex(utxo.txId)}`));
    await page.click('.facts a[href^="#/block/"]');
    await reads(page, '.facts', `Height${count(utxo.height)}`);
    await page.locator(`a[title="${address}"]`).first().click();
    await reads(page, 'h1', address);
    for (const wanted of [`Height${count(utxo.height)}`, toHex(utxo.txId), utxo.key, address]) {
      await page.goBack();
      await reads(page, 'main', wanted);
    }
    assert.equal(new URL(page.url()).hash, `#/address/${address}`);
  });

  browserTest('a long value is whole on hover and in the clipboard', async () => {
    const { hex } = richest((address) => /^[0-3]0/.test(address));
    const address = formatAddress(fromHex(hex));
    await page.goto(`${world.url}#/output/${ownedBy(hex)[0].key.replace('#', '/')}`);
    const link = page.locator('.facts a[href^="#/address/"]').first();
    assert.match((await link.textContent())!, /^addr_test1.{6}….{6}$/);
    assert.equal(await link.getAttribute('title'), address);
    await page.getByRole('button', { name: 'Copy address', exact: true }).click();
    assert.equal((await becomes(page, 'navigator.clipboard.readText()', (text) => text === address)).value, address);
  });

  browserTest('the pages fit a phone, and can be read', async () => {
    const utxo = utxos.findLast(({ assets, height }) => assets.size > 1 && height > 150)!;
    const address = formatAddress(fromHex(utxo.addressHex));
    for (const colorScheme of ['light', 'dark'] as const) {
      const phone = await openTab(browser, world.url, {
        viewport: { width: 360, height: 740 },
        hasTouch: true,
        isMobile: true,
        colorScheme,
      });
      const places = [
        `address/${address}`,
        `output/${utxo.key.replace('#', '/')}`,
        `tx/${toHex(utxo.txId)}`,
        `block/height:${utxo.height}`,
        'search/12',
      ];
      for (const place of places) {
        await phone.page.goto(`${world.url}#/${place}`);
        await reads(phone.page, 'main', /^← Overview./);
        await assertNarrow(phone.page);
        assert.deepEqual(await faintTexts(phone.page), [], place);
      }
      await phone.close();
    }
  });

  browserTest('a block so old that what it did is forgotten is no failure', async () => {
    const pruned = async (): Promise<number> =>
      ((await (await fetch(`${world.url}api/v1/status`)).json()) as { pruned: { deltas: number } }).pruned.deltas;
    await until(async () => {
      await world.mine(1);
      return (await pruned()) > 30;
    }, 'old blocks are forgotten');
    const old = world.devnet.blocks.filter(({ height, boundary }) => height < 30 && !boundary);
    const [empty, full] = [old.find(({ txs }) => txs.length === 0)!, old.find(({ txs }) => txs.length > 1)!];
    await search(toHex(empty.hash), subjectOf('Block'));
    await reads(page, '#contents', 'TransactionsNone.');
    await search(toHex(full.hash), subjectOf('Block'));
    await reads(page, '#contents', new RegExp(`Transactions${full.txs.length} transactions, .* What the block did is no longer kept`));
    assert.equal(await page.locator('.notice.bad').count(), 0);
  });
});

describe('searching a store that does not keep everything', () => {
  browserTest('says what it could not look for', async () => {
    const world = await World.open({ blocks: 10, set: ['utxo.index.policy=false', 'utxo.index.asset=false'] });
    const browser = await launch();
    try {
      await world.listen();
      const { page, close } = await openTab(browser, `${world.url}#/search/${'cd'.repeat(28)}`);
      await reads(page, '.notice', 'Nothing found, as far as this store can tell.No payment credential, stake address, script');
      await reads(page, '.notice', /Policy: .*utxo\.index\.policy is off/);
      await page.goto(`${world.url}#/asset/${'cd'.repeat(28)}00`);
      await reads(page, '.notice', /utxo\.index\.asset is off.*UNSUPPORTED, HTTP 501/);
      await close(/status of 501/);
    } finally {
      await browser.close();
      await world.close();
    }
  });
});
