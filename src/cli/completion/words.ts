/**
 * What can be typed after `unspent`, from the program itself: commands, their
 * options, and what the values of options and operands are. The scripts of the
 * shells are made of it, so a command or a setting that is added is completed.
 */
import type { Argument, Command, Option } from 'commander';
import { CONFIG_FLAGS } from '../../config/load.ts';
import { flagOf, SETTING_KEYS, settingOf } from '../../config/schema.ts';
import { networkNames } from '../../families/networks.ts';
import { SOURCE_FORMS } from '../../families/open-source.ts';

/** What may stand there: some words, or something that the shell knows itself. */
export type CompletionValues =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** `immutable:` and the like: beginnings, behind which there is a path or an address. */
  | { readonly kind: 'beginnings'; readonly words: readonly string[] }
  | { readonly kind: 'files' }
  | { readonly kind: 'directories' }
  /** Nobody knows: an id, a number. */
  | { readonly kind: 'anything' };

export interface OptionWords {
  readonly flag: string;
  readonly doc: string;
  /** Null: it takes none. */
  readonly values: CompletionValues | null;
  /** A setting that help does not list: offered to those who begin to type it. */
  readonly isHidden: boolean;
}

export interface CommandWords {
  /** `snapshot export`; empty: the program. */
  readonly path: string;
  readonly doc: string;
  readonly subcommands: readonly { readonly name: string; readonly doc: string }[];
  /** Of the command itself; those of the program go with every command. */
  readonly options: readonly OptionWords[];
  readonly operands: CompletionValues;
}

/** Depth first, the program at the front. */
export function commandWords(program: Command): readonly CommandWords[] {
  return [...wordsOf(program, '')];
}

function* wordsOf(command: Command, path: string): Generator<CommandWords> {
  const visible = command.createHelp().visibleCommands(command);
  yield {
    path,
    doc: firstLine(command.description()),
    subcommands: visible.map((each) => ({ name: each.name(), doc: firstLine(each.description()) })),
    options: [...command.options, ...helpOption(command)].flatMap(optionWords),
    operands: operandValues(command.registeredArguments),
  };
  for (const each of visible) yield* wordsOf(each, path === '' ? each.name() : `${path} ${each.name()}`);
}

function helpOption(command: Command): Option[] {
  const option = command
    .createHelp()
    .visibleOptions(command)
    .find(({ long }) => long === '--help');
  return option === undefined ? [] : [option];
}

function optionWords({ long, description, hidden, required, optional, argChoices }: Option): OptionWords[] {
  if (long == null) return [];
  const takesValue = required || optional;
  const values: CompletionValues | null = argChoices === undefined ? valuesOf(long) : { kind: 'words', words: argChoices };
  return [{ flag: long, doc: firstLine(description), values: takesValue ? values : null, isHidden: hidden }];
}

const BY_FLAG: Readonly<Record<string, CompletionValues>> = {
  '--network': { kind: 'words', words: networkNames() },
  '--source': { kind: 'beginnings', words: SOURCE_FORMS.map(beginningOf) },
  '--config': { kind: 'files' },
  '--set': { kind: 'beginnings', words: SETTING_KEYS.flatMap(settingTexts) },
  '--order': { kind: 'words', words: ['asc', 'desc'] },
  '--tree': { kind: 'words', words: ['csmt', 'mmr'] },
  '--until': { kind: 'beginnings', words: ['end', 'slot:', 'height:'] },
};

function valuesOf(flag: string): CompletionValues {
  const known = BY_FLAG[flag];
  if (known !== undefined) return known;
  const key = CONFIG_FLAGS.find((each) => flagOf(each.key) === flag)?.key;
  const setting = key === undefined ? null : settingOf(key);
  if (setting?.type === 'boolean') return { kind: 'words', words: ['true', 'false'] };
  if (setting?.type === 'oneOf') return { kind: 'words', words: setting.values };
  if (/^--(data|genesis|genesis-out)$/.test(flag)) return { kind: 'directories' };
  if (/(cert|key|blueprint|scripts|secret|socket|journal|labels|file)$/.test(flag)) return { kind: 'files' };
  return { kind: 'anything' };
}

/** `log.level=debug` and the like where the values are known. */
function settingTexts(key: (typeof SETTING_KEYS)[number]): string[] {
  const setting = settingOf(key);
  if (setting.type === 'boolean') return [`${key}=true`, `${key}=false`];
  return setting.type === 'oneOf' ? setting.values.map((value) => `${key}=${value}`) : [`${key}=`];
}

/** `n2n://HOST:PORT` -> `n2n://`, `immutable:PATH` -> `immutable:`. */
function beginningOf(form: string): string {
  return /^[a-z0-9]+:(\/\/)?/.exec(form)?.[0] ?? form;
}

function operandValues(operands: readonly Argument[]): CompletionValues {
  const [first] = operands;
  if (first === undefined) return { kind: 'words', words: [] };
  if (first.argChoices !== undefined) return { kind: 'words', words: first.argChoices };
  // Files first: what completes files offers folders, too.
  if (operands.some((operand) => /file|psbt|proof/i.test(operand.name()))) return { kind: 'files' };
  return operands.some((operand) => /dir|folder/i.test(operand.name())) ? { kind: 'directories' } : { kind: 'anything' };
}

/** As short as a list of candidates wants it. */
function firstLine(text: string): string {
  return text
    .split('\n')[0]
    .replace(/[.;:] .*$|\.$/, '')
    .replaceAll(/[`'"\\$[\]]/g, '')
    .trim();
}

/**
 * The branches of a `case` over flags, as bash and zsh have it: each flag that takes a value once, because where several
 * commands have one of a name, it means the same.
 */
export function valueCases(commands: readonly CommandWords[], assignment: (values: CompletionValues) => string): string {
  const seen = new Map(commands.flatMap(({ options }) => options).map((option) => [option.flag, option.values]));
  return [...seen]
    .filter((entry): entry is [string, CompletionValues] => entry[1] !== null)
    .map(([flag, values]) => `    ${flag}) ${assignment(values)} ;;`)
    .join('\n');
}
