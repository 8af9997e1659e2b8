/**
 * The page as files: what is sent, how long it may be kept, that a built package
 * sends the same, and that nothing of the store is in them, so that they need no
 * token while everything else does.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, Request } from 'playwright-core';
import { readPage } from '../../src/server/page/assets.ts';
import { until } from '../support/patience.ts';
import { Served } from '../support/served.ts';
import { browserTest, launch, openTab, reads, withoutChromium } from './browser.ts';
import { World } from './world.ts';

const root = resolve(import.meta.dirname, '../..');
const TOKEN = 'a-token-of-some-length';

describe('the files of the page', () => {
  let served: Served;
  before(async () => {
    served = await Served.open({ blocks: 3, server: { token: TOKEN } });
  });
  after(() => served.close());

  const get = (url: string, headers: Record<string, string> = {}) => served.app.inject({ url, headers: { host: 'localhost', ...headers } });

  test('the document is asked for again each time, its files never', async () => {
    const document = await get('/');
    assert.equal(document.statusCode, 200);
    assert.match(String(document.headers['content-type']), /^text\/html/);
    assert.equal(document.headers['cache-control'], 'no-cache');
    assert.match(String(document.headers['content-security-policy']), /^default-src 'self';/);
    const again = await get('/', { 'if-none-match': String(document.headers['etag']) });
    assert.deepEqual([again.statusCode, again.payload], [304, '']);

    const files = [...document.payload.matchAll(/(?:src|href)="(\/page\/[^"]+)"/g)].map(([, path]) => path);
    assert.ok(files.length >= 6, `${files.length} files`);
    for (const file of files) {
      const answer = await get(file);
      assert.equal(answer.statusCode, 200, file);
      assert.match(String(answer.headers['cache-control']), /immutable/);
      assert.equal((await get(file, { 'if-none-match': String(answer.headers['etag']) })).statusCode, 304);
    }
  });

  test('nothing is written into the document that a policy would forbid', async () => {
    const { payload } = await get('/');
    assert.doesNotMatch(payload, /<script(?![^>]* src=)|<style| style=| on[a-z]+=|javascript:|https?:/i);
  });

  test('files of another version are sent, but not kept; others are not there', async () => {
    const old = await get('/page/0123456789abcdef/main.js');
    assert.deepEqual([old.statusCode, old.headers['cache-control']], [200, 'no-cache']);
    for (const path of ['/page/x/secret.js', '/page/x/..%2f..%2fpackage.json', '/page/x/main.ts', '/page/x']) {
      const answer = await get(path, { authorization: `Bearer ${TOKEN}` });
      assert.equal(answer.statusCode, 404, path);
      assert.match(String(answer.headers['content-type']), /problem\+json/);
    }
  });

  test('they need no token, and the rest does', async () => {
    assert.equal((await get('/api/v1/status')).statusCode, 401);
    assert.equal((await get('/api/v1/status', { authorization: `Bearer ${TOKEN}` })).statusCode, 200);
  });

  test('a built package sends the same files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'unspent-built-'));
    try {
      const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
      const arguments_ = [tsc, '-p', join(root, 'tsconfig.page.json'), '--outDir', folder];
      const { status, stdout } = spawnSync(process.execPath, arguments_, { encoding: 'utf8' });
      assert.equal(status, 0, stdout);
      const [sources, built] = [await readPage(), await readPage(join(folder, 'page', 'client'))];
      assert.deepEqual([...built.assets.keys()].sort(), [...sources.assets.keys()].sort());
      for (const { assets } of [sources, built]) {
        for (const [name, { type, body }] of assets) {
          if (!type.startsWith('text/javascript')) continue;
          for (const [, from] of String(body).matchAll(/^(?:import .*|}) from '([^']+)'/gm))
            assert.ok(assets.has(from.slice(2)), `${name} imports ${from}`);
        }
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('a server with a token', () => {
  let world: World;
  let browser: Browser;
  before(async () => {
    if (withoutChromium) return;
    world = await World.open({ blocks: 20, set: [`server.token=${TOKEN}`] });
    await world.listen();
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  browserTest('the page asks for it, keeps it for the tab, and shows nothing before', async () => {
    const { page, close } = await openTab(browser, world.url);
    await reads(page, 'h1', 'asks for its token');
    assert.equal(await page.locator('#verdict').count(), 0);
    // What refuses the wrong one comes late, when the right one is already there.
    const late = Promise.withResolvers<void>();
    const brings = (request: Request, token: string): boolean => request.headers()['authorization'] === `Bearer ${token}`;
    let [asked, refused, rightRefused] = [0, 0, 0];
    await page.route('**/api/v1/**', async (route) => {
      if (brings(route.request(), 'wrong') && asked++ > 0) await late.promise;
      await route.continue();
    });
    page.on('response', (response) => {
      if (response.status() !== 401) return;
      if (brings(response.request(), 'wrong')) refused++;
      if (brings(response.request(), TOKEN)) rightRefused++;
    });
    await page.fill('#token', 'wrong');
    await page.click('text=Open');
    await reads(page, '.refused', 'is refused');
    await page.fill('#token', TOKEN);
    await page.click('text=Open');
    await reads(page, '#verdict h1', 'In sync');
    assert.ok(asked > 1, `${asked} requests with the wrong token`);
    late.resolve();
    await until(() => refused > 1, 'another refusal');
    await reads(page, '#verdict h1', 'In sync');
    await reads(page, '#line', 'live');
    await page.reload();
    await reads(page, '#verdict h1', 'In sync');
    assert.equal(rightRefused, 0);
    // The console tells of every refusal, some time after it came.
    await close(/status of 401/);
  });

  browserTest('it can come with the address, and does not stay there', async () => {
    const { page, close } = await openTab(browser, `${world.url}#token=${TOKEN}`);
    await reads(page, '#verdict h1', 'In sync');
    assert.equal(page.url(), world.url);
    await close();
  });
});
