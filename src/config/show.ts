/**
 * The configuration as people and programs read it: the table and the JSON of
 * `config show`, and the table of docs/reference/config.md.
 */
import type { SettingValue } from '../util/setting.ts';
import { describeOrigin, type LoadedConfig, type Origin } from './load.ts';
import { flagOf, SETTING_KEYS, type SettingKey, settingOf, variableOf } from './schema.ts';
import { describeAllowed, formatValue, shownValue } from './values.ts';

const DOC_TABLE_HEAD = ['key', 'default', 'allowed', 'shapes the store', 'what it does', 'variable', 'flag'];

/** Key, value, origin and one line of documentation, in columns. */
export function renderTable({ values, origins }: LoadedConfig): string {
  const rows = SETTING_KEYS.map((key) => {
    const setting = settingOf(key);
    return [key, formatValue(setting, shownValue(setting, values[key])), describeOrigin(origins[key]), setting.doc.replaceAll('`', '')];
  });
  return alignColumns([['KEY', 'VALUE', 'FROM', 'MEANS'], ...rows]);
}

export interface ShownSetting {
  readonly key: SettingKey;
  /** Sizes are in bytes; what is secret is not there. */
  readonly value: SettingValue;
  readonly default: SettingValue;
  readonly origin: Origin;
  readonly shapesStore: boolean;
  readonly doc: string;
}

/** The one document of `config show --json`. */
export function renderJson({ values, origins, file }: LoadedConfig): {
  readonly file: string | null;
  readonly settings: readonly ShownSetting[];
} {
  const settings = SETTING_KEYS.map((key) => {
    const setting = settingOf(key);
    const { default: usual, shapesStore = false, doc } = setting;
    return { key, value: shownValue(setting, values[key]), default: usual, origin: origins[key], shapesStore, doc };
  });
  return { file: file ?? null, settings };
}

/** Every setting with its names, for the reference. */
export function markdownTable(): string {
  const rows = SETTING_KEYS.map((key) => {
    const setting = settingOf(key);
    return [
      `\`${key}\``,
      `\`${formatValue(setting, setting.default)}\``,
      describeAllowed(setting),
      setting.shapesStore ? 'yes' : '',
      withRefusal(setting.doc, setting.unavailable),
      `\`${variableOf(key)}\``,
      `\`${flagOf(key)}\``,
    ];
  });
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(DOC_TABLE_HEAD), line(DOC_TABLE_HEAD.map(() => '---')), ...rows.map(line)].join('\n');
}

function withRefusal(doc: string, unavailable?: { readonly value: SettingValue; readonly why: string }): string {
  return unavailable === undefined ? doc : `${doc} \`${unavailable.value}\` is refused: ${unavailable.why}.`;
}

function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
