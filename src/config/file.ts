/**
 * The TOML file: read, and walked against the schema. Gives the settings it
 * names with the line of each; an unknown key, a table where a value belongs or
 * the reverse is an error that names file and line.
 */
import { parse, TomlError } from 'smol-toml';
import { readRegular } from '../files/regular.ts';
import { UnspentError } from '../util/errors.ts';
import { CONFIG_FILE_BYTES_MAX } from '../util/limits.ts';
import { didYouMean } from '../util/suggest.ts';
import { GROUPS, isSettingKey, SETTING_KEYS, type SettingKey } from './schema.ts';
import { TomlLines } from './toml-lines.ts';

export interface FileEntry {
  readonly key: SettingKey;
  readonly raw: unknown;
  readonly line: number;
}

/** The text of a file, or `undefined` when there is none of that name. */
export function readConfigText(file: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readRegular(file, { bytesMax: CONFIG_FILE_BYTES_MAX, links: 'follow' }));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new UnspentError('CONFIG', `cannot read ${file}: ${message}`, { file }, cause);
  }
}

export function readEntries(text: string, file: string): readonly FileEntry[] {
  const root = parseToml(text, file);
  const lines = new TomlLines(text);
  const entries: FileEntry[] = [];

  const walk = (table: object, parents: readonly string[]): void => {
    for (const [name, raw] of Object.entries(table)) {
      const path = [...parents, name];
      const line = lines.lineOf(path) ?? 1;
      const wrong = (what: string) => new UnspentError('CONFIG', `${file}:${line}: ${what}`, { file, line, key: showPath(path) });
      // A quoted key may hold a dot and still be one part: "utxo.store" is not utxo.store.
      const key = name.includes('.') ? '' : path.join('.');
      if (isSettingKey(key)) {
        if (isTable(raw)) throw wrong(`'${key}' is a setting, not a table`);
        entries.push({ key, raw, line });
      } else if (GROUPS.has(key)) {
        if (!isTable(raw)) throw wrong(`'${key}' is a table of settings, not a value`);
        walk(raw, path);
      } else {
        throw wrong(`unknown key '${showPath(path)}'${didYouMean(path.join('.'), [...SETTING_KEYS, ...GROUPS])}`);
      }
    }
  };

  walk(root, []);
  return entries;
}

function parseToml(text: string, file: string): object {
  try {
    return parse(text, { integersAsBigInt: true });
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const { line, column } = cause;
    const [what] = cause.message.split('\n');
    throw new UnspentError('CONFIG', `${file}:${line}:${column}: ${what}`, { file, line, column }, cause);
  }
}

function isTable(raw: unknown): raw is object {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) && !(raw instanceof Date);
}

function showPath(path: readonly string[]): string {
  return path.map((part) => (/^[A-Za-z0-9_-]+$/.test(part) ? part : JSON.stringify(part))).join('.');
}
