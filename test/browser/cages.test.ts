/**
 * Cages in a real browser: tokens, a token's requests with their phase and its
 * facts are what the devnet's own account says, and a fact is verified by the
 * browser itself. A server that lies is found out.
 */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { Browser } from 'playwright-core';
import { STATE_SCRIPT } from '../../src/chains/cardano/devnet/cage/scripts.ts';
import { shortHash } from '../../src/server/page/client/format.ts';
import { assertAccessible } from './axe.ts';
import { becomes, browserTest, launch, openTab, reads, withoutChromium } from './browser.ts';
import { assertNarrow } from './measure.ts';
import { World } from './world.ts';

const CAGES = ['cage.enabled=true', 'cage.deployments=devnet', 'proofs.csmt=true'];
const ROWS = (caption: string): string =>
  `[...document.querySelectorAll('table')].filter((table) => table.caption?.textContent.startsWith(${JSON.stringify(caption)})).flatMap((table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)))`;

describe('cages', () => {
  let world: World;
  let browser: Browser;
  before(async () => {
    if (withoutChromium) return;
    world = await World.open({ blocks: 120, cages: true, txPerBlock: 1, set: CAGES });
    await world.listen();
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  /** The token with the most facts whose state is where lists of tokens are complete: at an address without a stake part. */
  const busiest = () => {
    const tokens = [...world.devnet.cages!.tokens.values()].filter(({ ref }) => world.devnet.utxos.get(ref)!.addressHex.startsWith('70'));
    return { tokens, token: tokens.toSorted((a, b) => b.facts.size - a.facts.size)[0] };
  };

  browserTest('are listed, all of them', async () => {
    const { page, close } = await openTab(browser, world.url);
    await page.click('#kept a');
    await reads(page, 'main', 'there are no others at the address of their script');
    const rows = (await page.evaluate(ROWS('Tokens'))) as string[][];
    const { tokens } = busiest();
    const wanted = tokens.map(({ name, owner, root }) => [shortHash(name), shortHash(owner), shortHash(root)]);
    assert.deepEqual(rows.map((row) => row.slice(0, 3)).sort(), wanted.sort());
    await assertAccessible(page, 'cages');
    await close();
  });

  browserTest('show facts and requests, and a fact is verified in the browser', async () => {
    const { token } = busiest();
    const { page, close } = await openTab(browser, `${world.url}#/cage/${STATE_SCRIPT}${token.name}`);
    await reads(page, 'main', 'Token of a cage');
    await assertAccessible(page, 'a cage');
    const facts = (await page.evaluate(ROWS('Facts'))) as string[][];
    assert.equal(facts.length, Math.min(50, token.facts.size));
    const text = (hex: string): string => Buffer.from(hex, 'hex').toString('utf8');
    const known = new Map(Array.from(token.facts, ([key, value]) => [text(key), text(value)]));
    const plain = facts.filter(([key, value]) => key.includes('/') && /^\d+\.\d$/.test(value));
    assert.ok(plain.length > 3);
    for (const [key, value] of plain) assert.equal(value, known.get(key), key);

    const requests = (await page.evaluate(ROWS('Requests'))) as string[][];
    for (const row of requests) assert.match(row[4], /^(can be (applied|retracted|rejected)|from the future)$/);

    await page.locator('tr', { hasText: plain[0][0] }).getByRole('button', { name: 'Verify' }).click();
    const verdict = await becomes(page, ROWS('Facts'), (rows) =>
      (rows as string[][]).some(([key, , proof]) => key === plain[0][0] && proof !== 'Verify'),
    );
    const [, , said] = (verdict.value as string[][]).find(([key]) => key === plain[0][0])!;
    assert.match(said, new RegExp(`^verified Its value is ${plain[0][1].replace('.', '\\.')}, by the root of the unspent set`));
    await close();
  });

  browserTest('a value that the proof does not lead to is refused', async () => {
    const { token } = busiest();
    const { page, close } = await openTab(browser, world.url);
    await page.route('**/mpfs/tokens/*/facts/*', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), value: '00' } });
    });
    await page.goto(`${world.url}#/cage/${STATE_SCRIPT}${token.name}`);
    await reads(page, 'main', 'Token of a cage');
    await page.getByRole('button', { name: 'Verify' }).first().click();
    await reads(page, 'table [role=status]', /^refused/);
    await close();
  });

  browserTest('follow the chain while they are shown, on a phone, too', async () => {
    const { token } = busiest();
    const { page, close } = await openTab(browser, `${world.url}#/cage/${STATE_SCRIPT}${token.name}`, {
      viewport: { width: 360, height: 800 },
    });
    await reads(page, 'main', 'Token of a cage');
    await page.getByRole('button', { name: 'Verify' }).first().click();
    await reads(page, 'table [role=status]', /^verified/);
    await assertNarrow(page);
    const root = () => world.devnet.cages!.tokens.get(token.name)!.root;
    while (root() === token.root) await world.mine(1);
    await reads(page, 'main', root());
    await close();
  });
});
