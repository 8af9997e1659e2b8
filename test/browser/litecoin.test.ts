/** The page over a Litecoin store: amounts are in its own coin and its own smallest unit, nowhere in Bitcoin's. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import type { Browser } from 'playwright-core';
import { bitcoinLedger, bitcoinNetwork, formatAddress, formatId } from '../../src/ledgers/bitcoin/index.ts';
import { coins, count } from '../../src/server/page/client/format.ts';
import { type Served, serve } from '../../src/server/serve.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { PlainChain, type PlainOutput } from '../support/bitcoin-chain.ts';
import { browserTest, launch, openTab, reads, withoutChromium } from './browser.ts';

const NETWORK = 'litecoin-regtest';
const BLOCKS = 40;
const totalOf = (outputs: readonly PlainOutput[]): bigint => outputs.reduce((sum, { value }) => sum + value, 0n);
/** What other chains call their coins. */
const FOREIGN = /\bBTC\b|\bsat\b|satoshi|ADA\b/;

describe('the page of a Litecoin chain', () => {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-page-ltc-'));
  const chain = new PlainChain(3, { network: bitcoinNetwork(NETWORK), txsMax: 3 });
  let [store, served, browser]: [OpenStore | null, Served | null, Browser | null] = [null, null, null];
  before(async () => {
    if (withoutChromium) return;
    store = await openStore({ data: join(folder, 'data'), network: NETWORK, settings: { 'utxo.history': true } });
    const ledger = bitcoinLedger(chain.network);
    while ((chain.tip?.height ?? -1) < BLOCKS) {
      const { raw, height } = chain.mine();
      store.fold.apply([ledger.decode(raw, height)]);
    }
    served = await serve(store, { port: 0 });
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await served?.close();
    await store?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Who has something, with an address that the page can be asked for. */
  const owned = (): { readonly address: string; readonly outputs: readonly PlainOutput[] } => {
    const all = [...chain.utxos.values()];
    const first = all.find(({ script, value }) => value > 0n && formatAddress(chain.network, script) !== null)!;
    return { address: formatAddress(chain.network, first.script)!, outputs: all.filter(({ key }) => key === first.key) };
  };

  browserTest('names litecoin on the overview, on an address and on a transaction', async () => {
    const { url } = served!;
    const { page, close } = await openTab(browser!, url);
    await reads(page, '#verdict h1', 'At rest');
    await reads(page, '#network', NETWORK);
    await reads(page, '.tiles', 'Total LTC');
    assert.doesNotMatch((await page.textContent('main')) ?? '', FOREIGN);

    const { address, outputs } = owned();
    const balance = totalOf(outputs);
    await page.goto(`${url}#/address/${address}`);
    await reads(page, '.facts', `Balance${coins(balance.toString(), 'satoshi')} LTCUnspent outputs${outputs.length}`);
    assert.doesNotMatch((await page.textContent('main')) ?? '', FOREIGN);

    // Amounts of this chain are random: many of its transactions pay out more than they take in.
    const fees = chain.blocks
      .flatMap(({ txs }) => txs)
      .filter(({ outputs, creates, spends }) => spends.length > 0 && outputs === creates.length)
      .map(({ id, spends, creates }) => ({ id, fee: totalOf(spends) - totalOf(creates) }));
    const paid = fees.find(({ fee }) => fee > 0n) ?? assert.fail('no transaction pays a fee');
    await page.goto(`${url}#/tx/${formatId(paid.id)}`);
    await reads(page, '.facts', `Fee${count(paid.fee)} lit`);
    assert.doesNotMatch((await page.textContent('main')) ?? '', FOREIGN);
    await close();
  });
});
