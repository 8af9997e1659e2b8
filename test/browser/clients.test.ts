/**
 * Client libraries in a page of another origin, in a real browser: bundled as for
 * a dApp, they read, submit and wait through the server that names their origin.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { outpointText } from '../../src/ledgers/outpoint.ts';
import { toHex } from '../../src/util/bytes.ts';
import { ScriptNetwork } from '../support/script-network.ts';
import { browserTest, launch, withoutChromium } from './browser.ts';
import { bundleForPage } from './bundle.ts';
import type { PagePayment, PageWallet } from './pages/blaze.ts';

describe('a client library in a page', () => {
  let network: ScriptNetwork;
  let browser: Browser;
  let elsewhere: Server;

  before(async () => {
    if (withoutChromium) return;
    elsewhere = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>a dApp</title>'),
    );
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    network = await ScriptNetwork.start(36, { 'server.cors': originOf(elsewhere), 'utxo.history': true });
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    elsewhere?.close();
    await network?.close();
  });

  /** A page of the other origin with this script in it. */
  async function openPage(script: string): Promise<Page> {
    const page = await browser.newPage();
    page.on('pageerror', (error) => assert.fail(error));
    await page.goto(originOf(elsewhere));
    await page.addScriptTag({ content: script });
    return page;
  }

  const walletOf = (url: string): PageWallet => ({ url, address: network.address, key: toHex(network.wallet.signingKey) });
  const call = <T>(page: Page, name: string, ...values: unknown[]): Promise<T> =>
    page.evaluate(`page.${name}(${values.map((value) => JSON.stringify(value)).join()})`) as Promise<T>;

  browserTest('Blaze pays: it reads, submits, waits, and sees its change', async () => {
    const page = await openPage(await bundleForPage(join(import.meta.dirname, 'pages/blaze.ts')));
    const wallet = walletOf(`${network.url}blockfrost/`);
    const before = network.coins().map(outpointText);
    const paid = await call<PagePayment>(page, 'pay', wallet);
    assert.deepEqual(paid.coins.toSorted(), before.toSorted());
    assert.equal(paid.feePerByte, 44);
    await network.mine();
    assert.equal(await call(page, 'isConfirmed', wallet, paid.id), true);
    const coins = await call<string[]>(page, 'coins', wallet);
    assert.deepEqual(coins.toSorted(), network.coins().map(outpointText).toSorted());
    assert.ok(coins.includes(`${paid.id}#0`));
    await page.close();
  });
});

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
