/**
 * docs/reference/commands.md: every command with its operands and flags, as the
 * program itself declares them. `test/docs/commands.test.ts` compares the page
 * with it, and writes the page with UNSPENT_TEST_UPDATE=1.
 */
import type { Command, Option } from 'commander';

const HEAD = `# Every command

As \`unspent COMMAND --help\` says it, without the examples; [the command line](cli.md) has exit codes, the terminal and what documents look like. Every [setting](config.md) is a flag too. This page is written from the program: \`UNSPENT_TEST_UPDATE=1 node --test test/docs/commands.test.ts\`.
`;

/** What can be typed, with the words that lead to it. */
export interface TypedCommand {
  readonly path: string;
  readonly command: Command;
}

/** Those that do something themselves, in the order of the program's help. */
export function typedCommands(command: Command, above: readonly string[] = []): TypedCommand[] {
  // Commander keeps out of help what is hidden; nobody types that.
  const shown = command.createHelp().visibleCommands(command);
  return shown.flatMap((each) => {
    const words = [...above, each.name()];
    const below = typedCommands(each, words);
    return below.length > 0 ? below : [{ path: words.join(' '), command: each }];
  });
}

export function commandsPage(program: Command): string {
  const groups = program.createHelp().visibleCommands(program);
  const parts = groups.map((group) => {
    const typed = typedCommands(group, [group.name()]);
    const title = `## ${group.name()}\n`;
    if (typed.length === 0) return `${title}\n${sectionOf({ path: group.name(), command: group })}`;
    return `${title}\n${capital(sentence(group.description()))}\n\n${typed.map((each) => `### ${each.path}\n\n${sectionOf(each)}`).join('\n')}`;
  });
  const common = `## Flags of every command\n\n${flagTable(program.options)}`;
  return [HEAD, common, ...parts].join('\n');
}

function sectionOf({ path, command }: TypedCommand): string {
  const operands = command.registeredArguments.map((each) => {
    const name = `${each.name()}${each.variadic ? '...' : ''}`;
    return each.required ? `<${name}>` : `[${name}]`;
  });
  const called = ['unspent', path, ...operands].join(' ');
  const described = command.registeredArguments.filter(({ description }) => description !== '');
  const lines = described.map((each) => `| \`${each.name()}\` | ${cell(each.description)} |\n`).join('');
  const operandTable = lines === '' ? '' : `\n| operand | |\n| --- | --- |\n${lines}`;
  const flags = command.options.length === 0 ? '' : `\n${flagTable(command.options)}`;
  return `\`${called}\`: ${sentence(command.description())}\n${operandTable}${flags}`;
}

function flagTable(options: readonly Option[]): string {
  const rows = options.filter(({ hidden }) => !hidden).map((option) => `| \`${option.flags}\` | ${cell(describe(option))} |\n`);
  return `| flag | |\n| --- | --- |\n${rows.join('')}`;
}

function describe({ description, defaultValue, argChoices }: Option): string {
  const choices = argChoices === undefined ? '' : ` (${argChoices.join(', ')})`;
  const isSaid = typeof defaultValue === 'string' || typeof defaultValue === 'number';
  return `${description}${choices}${isSaid ? `; ${defaultValue} unless given` : ''}`;
}

/** Angle brackets are tags outside of code, and a bar ends a cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function sentence(text: string): string {
  return `${cell(text)}.`;
}
