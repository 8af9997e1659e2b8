/**
 * Every command that a page shows, in a block or in a line of text, is one that
 * the program takes: its name, its subcommand and each of its flags. And every
 * command that the program takes is in the reference.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';
import { commandsPage, typedCommands } from '../../tools/docs/commands.ts';
import { blocksOf, PAGES, ROOT } from './page-blocks.ts';

const silent = { write: () => true };
const program = createProgram({ env: {}, stdout: silent, stderr: silent });
/** Where a shell looks for a command: at the start, behind variables, and in or behind another one. */
const COMMAND = /(?:^|[(|&;]\s*|\b(?:if|until|do|then) |^[A-Z_]+=\S+ )(?:bin\/|npx )?unspent ((?:"[^"]*"|'[^']*'|[^|&;)#\n])*)/g;

/** Words as a shell would take them, roughly: quotes off, variables as they are. */
function wordsOf(command: string): string[] {
  return Array.from(command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g), ([, single, double, plain]) => single ?? double ?? plain);
}

function commandsOf(page: string): string[][] {
  const shells = blocksOf(page).filter(({ language }) => language === 'sh' || language === 'console');
  const lines = shells.flatMap(({ language, text }) =>
    text
      .replaceAll('\\\n', ' ')
      .split('\n')
      .flatMap((line) => (language === 'sh' ? [line] : /^\w*[$#] /.test(line) ? [line.replace(/^\w*[$#] +/, '')] : [])),
  );
  return lines.flatMap((line) => Array.from(line.replace(/ # .*$/, '').matchAll(COMMAND), ([, rest]) => wordsOf(rest)));
}

/** Follows the words to the subcommand; throws where there is none, or a flag is not its own. */
function check(words: readonly string[]): void {
  let command: Command = program;
  let at = 0;
  for (; at < words.length && command.commands.length > 0; at++) {
    const next = command.commands.find((each) => each.name() === words[at] || each.aliases().includes(words[at]));
    if (next === undefined) break;
    command = next;
  }
  const isGroup = command.commands.length > 0 && command !== program;
  assert.ok(command !== program || words.length === 0 || words[0].startsWith('-'), `there is no command '${words[0]}'`);
  assert.ok(
    !isGroup || words[at] === undefined || words[at].startsWith('-') || command.registeredArguments.length > 0,
    `no '${words[at]}'`,
  );
  // Benchmarks read their own flags, and describe them at the top of their file.
  const bench = command.parent?.name() === 'bench' ? readFileSync(join(ROOT, `bench/${command.name()}.ts`), 'utf8') : null;
  for (const word of words.slice(at)) {
    const [flag] = /^--[a-z][a-z0-9-]*/.exec(word) ?? [];
    if (flag === undefined || flag === '--help' || flag === '--version') continue;
    if (bench?.includes(flag.slice(2))) continue;
    const options = [...command.options, ...(command.parent?.options ?? []), ...program.options];
    assert.ok(
      options.some(({ long }) => long === flag),
      `${command.name()} has no ${flag}`,
    );
  }
}

/** Commands in the text of a page: `unspent ...` in code, as one would type them or with operands in capitals. */
function inlineCommandsOf(page: string): string[][] {
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  return Array.from(text.matchAll(/`(?:bin\/|npx )?unspent ([a-z][^`]*)`/g), ([, rest]) => typedWords(rest));
}

/** Of a command as a reader sees it: brackets are off, alternatives are their first. */
function typedWords(rest: string): string[] {
  const [first] = rest.replaceAll('\\|', '|').split(/ (?:&&|\|) /);
  return wordsOf(first.replaceAll(/[[\]]/g, '')).map((word) => (word.startsWith('-') ? word : word.split('|')[0]));
}

/** What the overview names: `wallet address\|balance NAME` are two commands. */
function overviewCommands(): string[] {
  const rows = readFileSync(join(ROOT, 'docs/reference/cli.md'), 'utf8').split('\n');
  const cells = rows.filter((row) => row.startsWith('| `')).map((row) => row.replaceAll('\\|', '/').split('|')[1]);
  return cells.flatMap((cell) =>
    [...cell.matchAll(/`([a-z][^`]*)`/g)].flatMap(([, text]) => {
      const [first, second = '', ...rest] = text.split(' ');
      return second.split('/').map((each) => [first, each, ...rest].join(' '));
    }),
  );
}

describe('commands on pages', () => {
  for (const page of PAGES) {
    const commands = commandsOf(page);
    if (commands.length === 0) continue;
    test(`${page}: ${commands.length} commands are taken`, () => {
      for (const words of commands) assert.doesNotThrow(() => check(words), `unspent ${words.join(' ')}`);
    });
  }

  for (const page of PAGES) {
    const commands = inlineCommandsOf(page);
    if (commands.length === 0) continue;
    test(`${page}: ${commands.length} commands in its text are taken`, () => {
      for (const words of commands) assert.doesNotThrow(() => check(words), `unspent ${words.join(' ')}`);
    });
  }

  test('docs/reference/cli.md names every command, and none that is not there', () => {
    const named = overviewCommands();
    for (const { path } of typedCommands(program)) {
      assert.ok(
        named.some((each) => `${each} `.startsWith(`${path} `)),
        `the overview has no ${path}`,
      );
    }
    for (const each of named) assert.doesNotThrow(() => check(typedWords(each)), each);
  });

  test('docs/reference/commands.md is what the program says: UNSPENT_TEST_UPDATE=1 writes it', () => {
    const path = join(ROOT, 'docs/reference/commands.md');
    const wanted = commandsPage(program);
    if (process.env['UNSPENT_TEST_UPDATE'] !== undefined) writeFileSync(path, wanted);
    assert.ok(existsSync(path) && readFileSync(path, 'utf8') === wanted, 'write it again with UNSPENT_TEST_UPDATE=1');
  });
});
