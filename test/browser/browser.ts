/**
 * A real Chromium for the tests of the page, or a reason to skip them. Whatever
 * a page complains about, on its console or by throwing, is kept: a test that
 * expects none of it need not look, `close` does.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { PATIENCE_MS } from '../support/patience.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Where Chromium is on this machine; undefined: nowhere. */
function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  // Some systems have a file of that name that only says how to install it.
  const works = (path: string): boolean => existsSync(path) && spawnSync(path, ['--version'], { stdio: 'ignore' }).status === 0;
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(works);
}

const executablePath = findChromium();

/** False, or why there is nothing to test with. */
export const withoutChromium = executablePath === undefined ? 'there is no Chromium on the PATH (apt-get install chromium)' : false;

/** A test that needs it. Each is skipped by itself: of a suite that is skipped, the tests are not counted. */
export function browserTest(name: string, body: (t: TestContext) => Promise<void>): void {
  test(name, { skip: withoutChromium }, body);
}

export function launch(): Promise<Browser> {
  // Containers have neither the namespaces a sandbox needs nor much shared memory. Signals end the test, as ever.
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath: executablePath!, args, handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false });
}

export interface Tab {
  readonly page: Page;
  /** Closes it; fails when the page has complained of anything but what was expected. Only then: the console is told late. */
  close(expected?: RegExp): Promise<void>;
}

export interface TabOptions extends BrowserContextOptions {
  /** Runs in the page before anything of its own. */
  readonly init?: string;
}

export async function openTab(browser: Browser, url: string, { init = '', ...options }: TabOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: 'light', ...options });
  await context.addInitScript(init);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  // Files have no origin; a site of files is its folder.
  const home = url.startsWith('file:') ? new URL('.', url).href : new URL(url).origin;
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(home)) complaints.push(`asked elsewhere: ${request.url()}`);
  });
  await page.goto(url);
  return {
    page,
    async close(expected) {
      await context.close();
      const unexpected = complaints.filter((complaint) => expected?.test(complaint) !== true);
      assert.deepEqual(unexpected, [], 'the page has nothing to complain about');
    },
  };
}

/** Waits until the text of an element fits. */
export async function reads(page: Page, selector: string, wanted: RegExp | string): Promise<string> {
  const fits = (text: string): boolean => (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text));
  const read = `document.querySelector(${JSON.stringify(selector)})?.textContent ?? null`;
  const text = await becomes(page, read, (value) => value !== null && fits(value as string));
  assert.ok(text.fits, `${selector} should read ${wanted}; it reads '${text.value}'`);
  return text.value as string;
}

/** Waits until an expression has a value that fits. The page's own policy forbids it to wait for itself. */
export async function becomes(
  page: Page,
  expression: string,
  fits: (value: unknown) => boolean,
): Promise<{ value: unknown; fits: boolean }> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = await page.evaluate(expression);
    if (fits(value) || Date.now() > end) return { value, fits: fits(value) };
    await page.waitForTimeout(50);
  }
}
