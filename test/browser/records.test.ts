/** The page over a store that keeps records of transactions: how long they stay, what is due and blocked, and who is waited for. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import type { Browser } from 'playwright-core';
import { type Served, serve } from '../../src/server/serve.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { fillWithBlocked } from '../txstore/support/blocked-chain.ts';
import { browserTest, launch, openTab, reads, withoutChromium } from './browser.ts';

const R = 10;
const PANEL = '#records';
/** Of each row of the table: whole ids, and the text. */
const ROWS = `[...document.querySelectorAll('${PANEL} tbody tr')]
  .map((row) => [[...row.querySelectorAll('[title]')].map((cell) => cell.title), row.textContent])`;

describe('the records of transactions on the page', () => {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-page-records-'));
  let [store, served, browser]: [OpenStore | null, Served | null, Browser | null] = [null, null, null];

  before(async () => {
    if (withoutChromium) return;
    const settings = { 'txs.store': `sqlite:${join(folder, 'records.sqlite')}`, 'txs.retention': R, 'utxo.history': true };
    store = await openStore({ data: join(folder, 'data'), network: 'bitcoin-regtest', settings });
    await fillWithBlocked(store, R);
    store.consumers.add('wallets', () => 20);
    await store.txs!.refresh();
    served = await serve(store, { port: 0 });
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await served?.close();
    await store?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  browserTest('shows retention, backlog, the database, who is waited for, and each record that is blocked with its spender', async () => {
    const { page, close } = await openTab(browser!, served!.url);
    const height = store!.fold.head!.height;
    await reads(page, PANEL, `Retention${R} blocks, spenders ${R} blocks deep`);
    const text = await reads(page, PANEL, `DatabaseSQLite, at height ${height}`);
    assert.match(text, new RegExp(`Pruningkeeps up, complete up to height ${height}`));
    assert.match(text, /Backlog[1-9]\d* records? due/);
    assert.match(text, /Waits forwallets, at height 20/);
    const { blocked } = store!.txs!.report!;
    assert.ok(blocked.length > 0);
    const shown = await page.evaluate<(readonly [ids: readonly string[], text: string])[]>(ROWS);
    const wanted = blocked.slice(0, 10).map(({ txId, child }) => [txId, child].filter((id) => id !== null));
    assert.deepEqual(
      shown.map(([ids]) => ids),
      wanted,
    );
    for (const [n, [, words]] of shown.entries()) {
      assert.ok(words.includes(String(blocked[n].since)), words);
      assert.match(words, /its spender is in no block|somebody who waits needs it/);
    }
    await close();
  });
});
