/**
 * No block of code on a page is there unseen: it is run by the walk of its page,
 * run with what it says that it needs, checked by the compiler, run by a test that
 * it names, or says why it is not run; and few say that.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { blocksOf, isWalked, neededBy, PAGES, type PageBlock, ROOT } from './page-blocks.ts';
import { STAGE_PARTS } from './page-stage.ts';
import { PAGE_STORES } from './page-stores.ts';

const WHY = /^elsewhere: \S.{4,}$/;
/** Drawings, and what a program writes. */
const PICTURES = ['', 'mermaid'];
/** Blocks that nothing runs. Run a new one with what `page-stage.ts` has, rather than raise this. */
const ELSEWHERE_MAX = 11;
const KNOWN: readonly string[] = [...STAGE_PARTS, ...Object.keys(PAGE_STORES)];
const PROMPT = /^\w*[$#] /m;

/** Null: all is well. */
function complaint(page: string, block: PageBlock): string | null {
  const { language, how, text } = block;
  if (PICTURES.includes(language)) return PROMPT.test(text) || how !== '' ? 'commands without a language' : null;
  if (isWalked(block) || (language === 'ts' && how === '') || WHY.test(how)) return null;
  const needed = neededBy(block);
  if (needed !== null) return needed.every((each) => KNOWN.includes(each)) ? null : `nobody has what it needs: ${how}`;
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

  test('few are run by nobody', () => {
    const unrun = PAGES.flatMap((page) =>
      blocksOf(page)
        .filter(({ how }) => WHY.test(how))
        .map(({ how }) => `${page}: ${how}`),
    );
    assert.ok(unrun.length <= ELSEWHERE_MAX, `${unrun.length}:\n${unrun.join('\n')}`);
  });

  test('one that is neither is found', () => {
    const found = (language: string, how: string, text = '') => complaint('docs/index.md', { language, how, text });
    for (const [language, how] of [
      ['sql', ''],
      ['sh', 'elsewhere'],
      ['sh', 'elsewhere: '],
      ['sh', 'with magic'],
      ['yaml', 'by test/docs/nowhere.test.ts'],
      ['toml', 'by test/docs/links.test.ts'],
    ])
      assert.notEqual(found(language, how), null, `${language} ${how}`);
    assert.notEqual(found('', '', '$ unspent status'), null);
    assert.equal(found('', '', 'height 5'), null);
  });
});
