/** Holds a page against the rules of axe-core (WCAG 2.2 A and AA, and its best practices): what it finds, in words. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

export async function assertAccessible(page: Page, what: string): Promise<void> {
  // Evaluated from outside: the policy of the page forbids it to load anything else.
  await page.evaluate(`window.axe === undefined && (() => { ${source}\n })()`);
  const found = (await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
  )) as Violation[];
  const words = found.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}\n  ${nodes
        .slice(0, 4)
        .map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary ?? ''}`)
        .join('\n  ')}`,
  );
  assert.deepEqual(words, [], `${what} can be used by everybody`);
}
