/**
 * The quick starts, the how-to pages and whatever else can be run, as a newcomer would go through them: every
 * block of a page is run, from top to bottom, in a shell in an empty directory.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { blocksOf, consoleOf, HAS_CURL, isWalked, timeless, WALKS } from './page-blocks.ts';
import { PageShell } from './page-shell.ts';

/** What a page takes for granted. */
const GIVEN: Readonly<Record<string, string>> = {
  'docs/backup.md': "mkdir mnt\nunspent sync --source 'devnet:?blocks=40' --data ./preview --quiet",
  'docs/reference/snapshot.md': "unspent sync --source 'devnet:?blocks=40' --data ./preview --quiet",
  'docs/operating.md': "unspent sync --source 'devnet:?blocks=300' --data ./devnet --quiet",
};

/** Each line that the page shows behind a command begins as one that the command says. */
async function runConsole(shell: PageShell, text: string): Promise<void> {
  const { commands, says } = consoleOf(text);
  const said = timeless(await shell.run(`{ ${commands.replaceAll('/mnt/', `${shell.directory}/mnt/`)}\n} 2>&1`));
  for (const word of says) assert.ok(`\n${said}`.includes(`\n${word}`), `${text}\nsays no ${word}: ${said}`);
}

describe('pages that are walked through', { skip: HAS_CURL ? false : 'there is no curl' }, () => {
  for (const page of WALKS) {
    test(page, async () => {
      const shell = await PageShell.open();
      try {
        await shell.run(GIVEN[page] ?? '');
        for (const { language, how, text } of blocksOf(page).filter(isWalked)) {
          if (how === 'background') await shell.begin(text);
          else if (language === 'js') await shell.module(text);
          else if (language === 'console') await runConsole(shell, text);
          else await shell.run(text);
        }
      } finally {
        await shell.end();
      }
    });
  }
});
