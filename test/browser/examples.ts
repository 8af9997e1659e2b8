/** Runs every example of the API's reference that has all it needs, with values that the page finds in the store, on a phone. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { becomes, openTab, type Tab } from './browser.ts';

export interface Examples extends Pick<Tab, 'close'> {
  /** Each path, with the status of its answer. */
  readonly answers: readonly (readonly [path: string, status: string])[];
}

export async function runExamples(browser: Browser, url: string): Promise<Examples> {
  const { page, close } = await openTab(browser, `${url}docs/api`, { viewport: { width: 390, height: 844 } });
  const forms = await page.locator('form.try').count();
  assert.ok(forms > 20, `${forms} forms`);
  await page.evaluate('document.querySelector("form.try input").focus()');
  await becomes(page, 'document.querySelector("form.try input").value', (value) => value !== '');
  // Fills them all with what the store has, and runs those that have all they need.
  await page.evaluate(`(async () => {
    for (const form of document.querySelectorAll('form.try')) form.dispatchEvent(new FocusEvent('focusin', { bubbles: true }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (const form of document.querySelectorAll('form.try')) if (form.checkValidity()) form.requestSubmit();
  })()`);
  const statuses =
    '[...document.querySelectorAll("form.try")].filter((form) => form.checkValidity()).map((form) => [form.dataset.path, form.querySelector(".told .tag")?.textContent])';
  const told = await becomes(page, statuses, (all) => (all as [string, string | undefined][]).every(([, status]) => status !== undefined));
  const answers = told.value as [string, string][];
  assert.ok(answers.length > 15, `${answers.length} were run`);
  assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'tables move inside of their cards, not the page');
  return { answers, close };
}
