/**
 * The quick starts and how-to pages, as a newcomer would go through them: every
 * block of a page is run, from top to bottom, in a shell in an empty directory.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { blocksOf, HAS_CURL, WALKS } from './page-blocks.ts';
import { PageShell } from './page-shell.ts';

describe('pages that are walked through', { skip: HAS_CURL ? false : 'there is no curl' }, () => {
  for (const page of WALKS) {
    test(page, async () => {
      const shell = await PageShell.open();
      try {
        for (const { language, how, text } of blocksOf(page)) {
          if (how === 'elsewhere') continue;
          assert.ok(['sh', 'js'].includes(language) && ['', 'background'].includes(how), `nobody knows how to run: ${language} ${how}`);
          if (how === 'background') await shell.begin(text);
          else if (language === 'js') await shell.module(text);
          else await shell.run(text);
        }
      } finally {
        await shell.end();
      }
    });
  }
});
