/**
 * No block of code on a page is there unseen: it is run by the walk of its page,
 * checked by the compiler, run by a test that it names, or says why it is not run.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { blocksOf, isWalked, PAGES, type PageBlock, ROOT } from './page-blocks.ts';

const WHY = /^elsewhere: \S.{4,}$/;
/** Drawings, and what a program writes. */
const PICTURES = ['', 'mermaid'];
const PROMPT = /^\w*[$#] /m;

/** Null: all is well. */
function complaint(page: string, block: PageBlock): string | null {
  const { language, how, text } = block;
  if (PICTURES.includes(language)) return PROMPT.test(text) || how !== '' ? 'commands without a language' : null;
  if (isWalked(block) || (language === 'ts' && how === '') || WHY.test(how)) return null;
  const [, name] = /^by (test\/\S+\.test\.ts)$/.exec(how) ?? [];
  if (name === undefined) return `nobody runs it, and it does not say why: ${how}`;
  if (!existsSync(join(ROOT, name))) return `there is no ${name}`;
  return readFileSync(join(ROOT, name), 'utf8').includes(page) ? null : `${name} does not know of ${page}`;
}

describe('blocks on pages', () => {
  for (const page of PAGES) {
    const blocks = blocksOf(page);
    if (blocks.length === 0) continue;
    test(`${page}: ${blocks.length} are run, or say why not`, () => {
      for (const block of blocks) assert.equal(complaint(page, block), null, block.text);
    });
  }

  test('one that is neither is found', () => {
    const found = (language: string, how: string, text = '') => complaint('docs/index.md', { language, how, text });
    for (const [language, how] of [
      ['sql', ''],
      ['sh', 'elsewhere'],
      ['sh', 'elsewhere: '],
      ['yaml', 'by test/docs/nowhere.test.ts'],
      ['toml', 'by test/docs/links.test.ts'],
    ])
      assert.notEqual(found(language, how), null, `${language} ${how}`);
    assert.notEqual(found('', '', '$ unspent status'), null);
    assert.equal(found('', '', 'height 5'), null);
  });
});
