/** Every command that a page shows is one that the program takes: its name, its subcommand and each of its flags. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';
import { blocksOf, PAGES } from './page-blocks.ts';

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
  if (command.parent?.name() === 'bench') return;
  for (const word of words.slice(at)) {
    const [flag] = /^--[a-z][a-z0-9-]*/.exec(word) ?? [];
    if (flag === undefined || flag === '--help' || flag === '--version') continue;
    const options = [...command.options, ...(command.parent?.options ?? []), ...program.options];
    assert.ok(
      options.some(({ long }) => long === flag),
      `${command.name()} has no ${flag}`,
    );
  }
}

describe('commands on pages', () => {
  for (const page of PAGES) {
    const commands = commandsOf(page);
    if (commands.length === 0) continue;
    test(`${page}: ${commands.length} commands are taken`, () => {
      for (const words of commands) assert.doesNotThrow(() => check(words), `unspent ${words.join(' ')}`);
    });
  }
});
