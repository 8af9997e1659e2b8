/**
 * The page of a stake address: every number on it is held against what the API
 * says of the same address at the same block.
 */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { Browser } from 'playwright-core';
import { coins, count } from '../../src/server/page/client/format.ts';
import { browserTest, launch, openTab, reads, withoutChromium } from './browser.ts';
import { World } from './world.ts';

interface Output {
  readonly tx_hash: string;
  readonly output_index: number;
  readonly lovelace_amount: string;
  readonly owner_stake_addr?: string;
}

interface OwnerTx {
  readonly tx_hash: string;
  readonly block: number;
  readonly received_amount: string;
  readonly spent_amount: string;
}

/** Rows that a table of transactions, or of outputs, shows at first. */
const HISTORY_ROWS = 10;
const OUTPUT_ROWS = 25;

describe('the page of a stake address', () => {
  let world: World;
  let browser: Browser;
  before(async () => {
    if (withoutChromium) return;
    world = await World.open({ blocks: 120, set: ['utxo.history=true'] });
    await world.listen();
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  const ask = async <T>(path: string): Promise<T> => (await (await fetch(`${world.url}api/v1${path}`)).json()) as T;
  const ada = (lovelace: bigint): string => coins(lovelace.toString(), 'lovelace');

  browserTest('its balance, its outputs and its history are those of the API, and add up', async () => {
    const ids = world.devnet.blocks.slice(-60).flatMap(({ txs }) => txs.map(({ id }) => id));
    const txs = await Promise.all(ids.map((id) => ask<{ outputs: readonly Output[] }>(`/txs/${id}`)));
    const stake = txs.flatMap(({ outputs }) => outputs).find(({ owner_stake_addr }) => owner_stake_addr !== undefined)!.owner_stake_addr!;
    const path = `/stake/${stake}`;
    const { utxo_count, amounts } = await ask<{ utxo_count: number; amounts: readonly { quantity: string }[] }>(`${path}/balance`);
    const outputs = await ask<Output[]>(`${path}/utxos?limit=1000`);
    const history = await ask<OwnerTx[]>(`${path}/txs?limit=500&order=desc`);
    const balance = BigInt(amounts[0].quantity);
    const sum = outputs.reduce((total, { lovelace_amount }) => total + BigInt(lovelace_amount), 0n);
    assert.deepEqual([outputs.length, sum], [utxo_count, balance], 'the API agrees with itself');
    assert.ok(utxo_count > 0 && history.length > 1);

    const { page, close } = await openTab(browser, `${world.url}#/stake/${stake}`);
    await reads(page, 'h1', stake);
    await reads(page, '.facts', `Balance${ada(balance)} tADAUnspent outputs${count(utxo_count)}`);
    await reads(page, '#history caption', `Transactions ${count(history.length)}`);

    const cells = await page
      .locator('#history tbody tr')
      .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll('.number')].map((cell) => cell.textContent)));
    let after = balance;
    const wanted = history.slice(0, HISTORY_ROWS).map(({ received_amount, spent_amount }) => {
      const change = BigInt(received_amount) - BigInt(spent_amount);
      const row = [`${change < 0n ? '−' : '+'}${ada(change < 0n ? -change : change)}`, ada(after)];
      after -= change;
      return row;
    });
    assert.deepEqual(cells, wanted, 'what each transaction changed, and the balance after it');

    const shown = await page
      .locator('tr[data-output]')
      .evaluateAll((rows) => rows.map((row) => [row.getAttribute('data-output'), row.textContent]));
    assert.equal(shown.length, Math.min(OUTPUT_ROWS, utxo_count));
    for (const [name, text] of shown) {
      const output = outputs.find(({ tx_hash, output_index }) => name === `${tx_hash}#${output_index}`);
      assert.ok(output !== undefined, `${name} is an output that the API names`);
      assert.ok(text?.includes(ada(BigInt(output.lovelace_amount))), `${name} has ${output.lovelace_amount}; the row says ${text}`);
    }
    await close();
  });
});
