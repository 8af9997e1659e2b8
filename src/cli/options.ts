/**
 * The options every command takes. The few that people use every day are in the
 * help; every setting has a flag as well, accepted everywhere and listed by
 * `config show`, so that the help stays readable.
 */
import { type Command, Option } from 'commander';
import { CONFIG_FLAGS } from '../config/load.ts';
import type { SettingKey } from '../config/schema.ts';
import { networkNames } from '../families/networks.ts';

const SHOWN: Partial<Record<SettingKey, readonly [syntax: string, doc: string]>> = {
  data: ['--data <dir>', 'directory of the store (default: ./data)'],
  network: ['--network <name>', `network of a new store: ${networkNames().join(', ')}`],
  genesis: ['--genesis <dir>', 'folder with the genesis files, for networks that are not built in'],
};

export function addGlobalOptions(program: Command): void {
  for (const { key, syntax, doc } of CONFIG_FLAGS) {
    const shown = SHOWN[key];
    program.addOption(shown === undefined ? new Option(syntax, doc).hideHelp() : new Option(...shown));
  }
  program
    .option('--config <file>', 'settings file (default: ./unspent.toml when it is there)')
    .addOption(new Option('--set <key=value>', 'set one setting; may be repeated').argParser(collect))
    .option('--json', 'one JSON document on stdout; everything else on stderr')
    .option('--quiet', 'no progress and no remarks');
}

/** What the parser leaves behind: each command has its own of these, and the settings' flags besides. */
export interface CommandOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  /** A list where a command takes several. */
  readonly source?: string | readonly string[];
  readonly until?: string;
  readonly follow?: boolean;
  readonly partial?: boolean;
  readonly to?: string;
  readonly stake?: boolean;
  readonly at?: string;
  readonly limit?: string;
  readonly dryRun?: boolean;
  readonly after?: string;
  readonly order?: 'asc' | 'desc';
  readonly node?: string;
  readonly root?: string;
  readonly id?: string;
  readonly setHash?: string;
  readonly header?: string;
  readonly hashSerialized?: string;
  readonly block?: string;
  readonly tree?: 'csmt' | 'mmr';
  readonly text?: boolean;
  readonly copy?: boolean;
  readonly keep?: string;
  readonly list?: boolean;
  readonly verify?: boolean;
  readonly name?: string;
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
