/**
 * Client libraries in a page of another origin, in a real browser: bundled as for
 * a dApp, they read, submit and wait through the server that names their origin.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { bech32 } from '@scure/base';
import type { Browser, Page } from 'playwright-core';
import { outpointText } from '../../src/ledgers/outpoint.ts';
import { toHex } from '../../src/util/bytes.ts';
import { temporary } from '../cli/run.ts';
import { CLIENT_MODULES, skipWithout } from '../support/heavy-clients.ts';
import { ScriptNetwork } from '../support/script-network.ts';
import { browserTest, launch, withoutChromium } from './browser.ts';
import { bundleForPage } from './bundle.ts';
import type { PagePayment, PageWallet } from './pages/blaze.ts';

const LUCID = '@lucid-evolution/lucid';

/** Runs in a page: Lucid reads, builds, signs and submits. As text, because its types are not here. */
const LUCID_PAGE = `
import { Kupmios, Lucid } from '${LUCID}';
const open = async ({ kupo, ogmios, key }) => {
  const lucid = await Lucid(new Kupmios(kupo, ogmios), 'Preview');
  lucid.selectWallet.fromPrivateKey(key);
  return lucid;
};
const coinsOf = async (lucid) => (await lucid.wallet().getUtxos()).map(({ txHash, outputIndex }) => txHash + '#' + outputIndex);
globalThis.page = {
  coins: async (wallet) => coinsOf(await open(wallet)),
  pay: async (wallet) => {
    const lucid = await open(wallet);
    const coins = await coinsOf(lucid);
    const tx = await lucid.newTx().pay.ToAddress(await lucid.wallet().address(), { lovelace: 5_000_000n }).complete();
    return { coins, id: await (await tx.sign.withWallet().complete()).submit() };
  },
};
`;

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
    await page.addScriptTag({ content: script, type: 'module' });
    await page.waitForFunction("'page' in globalThis");
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

  test('Lucid pays, with Kupo and Ogmios', { skip: withoutChromium || skipWithout(LUCID) }, async () => {
    const entry = join(temporary(), 'lucid.mjs');
    writeFileSync(entry, LUCID_PAGE);
    const page = await openPage(await bundleForPage(entry, CLIENT_MODULES));
    const key = bech32.encode('ed25519_sk', bech32.toWords(network.wallet.signingKey), false);
    const wallet = { kupo: `${network.url}kupo`, ogmios: `${network.url}ogmios`, key };
    const before = network.coins().map(outpointText);
    const paid = await call<Pick<PagePayment, 'coins' | 'id'>>(page, 'pay', wallet);
    assert.deepEqual(paid.coins.toSorted(), before.toSorted());
    await network.mine();
    const coins = await call<string[]>(page, 'coins', wallet);
    assert.deepEqual(coins.toSorted(), network.coins().map(outpointText).toSorted());
    assert.ok(coins.includes(`${paid.id}#0`));
    await page.close();
  });
});

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
