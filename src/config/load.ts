/**
 * The effective configuration: flag over variable over file over default. Every
 * value remembers where it came from, for `config show` and for messages.
 * Whatever is unknown, badly typed or contradictory is a CONFIG error here, so
 * that nothing below has to check a setting again.
 */
import { UnspentError } from '../util/errors.ts';
import type { SettingValue } from '../util/setting.ts';
import { didYouMean } from '../util/suggest.ts';
import { readConfigText, readEntries } from './file.ts';
import {
  type Config,
  flagOf,
  isSettingKey,
  SETTING_KEYS,
  SETTINGS,
  type SettingKey,
  settingOf,
  type Values,
  variableOf,
} from './schema.ts';
import { acceptValue, describeAllowed, formatValue, typedText } from './values.ts';

/** Read when it is there and no other file is named. */
const DEFAULT_FILE = './unspent.toml';

/** Variables of ours that are not settings: the place of sample data, passphrases, switches of the tests. */
const OTHER_VARIABLES = /^UNSPENT_(FIXTURES|PASSPHRASE|NEW_PASSPHRASE|WORDS_PASSPHRASE|TEST_[A-Z_]+|BENCH_[A-Z_]+)$/;

export type Origin =
  | { readonly from: 'default' }
  | { readonly from: 'file'; readonly file: string; readonly line: number }
  | { readonly from: 'variable'; readonly name: string }
  | { readonly from: 'flag'; readonly name: string };

export interface LoadedConfig {
  readonly config: Config;
  /** The same values by dotted key. */
  readonly values: Values;
  readonly origins: Readonly<Record<SettingKey, Origin>>;
  /** The file that was read, if any. */
  readonly file: string | undefined;
}

export interface LoadOptions {
  /** Parsed options by attribute (`utxoPruneDepth`), and `set`: the `KEY=VALUE` texts of `--set`. Others are ignored. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The file named by `--config`: it must exist. Null: none is read, not even the usual one. */
  readonly file?: string | null | undefined;
}

export interface ConfigFlag {
  readonly key: SettingKey;
  /** `--utxo-prune-depth <integer>`: what the command line parser registers. */
  readonly syntax: string;
  /** `utxoPruneDepth`: the name under which the parsed value is found. */
  readonly attribute: string;
  readonly doc: string;
}

/** One flag per setting, in the order of the schema. A boolean's flag may stand alone and then means true. */
export const CONFIG_FLAGS: readonly ConfigFlag[] = SETTING_KEYS.map((key) => {
  const { type, doc } = settingOf(key);
  const operand = { boolean: '[true|false]', integer: '<integer>', bytes: '<size>', oneOf: '<name>', string: '<text>' }[type];
  return { key, syntax: `${flagOf(key)} ${operand}`, attribute: attributeOf(key), doc };
});

export function loadConfig({ flags = {}, env = {}, file }: LoadOptions): LoadedConfig {
  const layers = new Layers();
  const readFile = file === null ? undefined : layers.addFile(file);
  layers.addVariables(env);
  layers.addFlags(flags);
  checkTogether(layers);
  return Object.freeze({ config: nest(layers.values, layers.given), values: layers.values, origins: layers.origins, file: readFile });
}

export function describeOrigin(origin: Origin): string {
  switch (origin.from) {
    case 'default':
      return 'default';
    case 'file':
      return `${origin.file}:${origin.line}`;
    default:
      return origin.name;
  }
}

/** Starts at the defaults; each layer overwrites what it names. */
class Layers {
  readonly #values = new Map<SettingKey, SettingValue>(SETTING_KEYS.map((key) => [key, SETTINGS[key].default]));
  readonly #origins = new Map<SettingKey, Origin>(SETTING_KEYS.map((key) => [key, { from: 'default' }]));

  // Both maps hold every key from the start, and `#put` lets in only what the schema accepts.
  get values(): Values {
    return Object.freeze(Object.fromEntries(this.#values)) as Values;
  }

  get origins(): Readonly<Record<SettingKey, Origin>> {
    return Object.freeze(Object.fromEntries(this.#origins)) as Readonly<Record<SettingKey, Origin>>;
  }

  get given(): readonly SettingKey[] {
    return SETTING_KEYS.filter((key) => this.#origins.get(key)?.from !== 'default');
  }

  addFile(named: string | undefined): string | undefined {
    const file = named ?? DEFAULT_FILE;
    const text = readConfigText(file);
    if (text === undefined) {
      if (named === undefined) return undefined;
      throw new UnspentError('CONFIG', `no such file: ${file} (from --config)`, { file });
    }
    for (const { key, raw, line } of readEntries(text, file)) this.#put(key, raw, { from: 'file', file, line });
    return file;
  }

  /** An empty variable counts as not set: that is how compose files and shells leave one out. */
  addVariables(env: Readonly<Record<string, string | undefined>>): void {
    const keys = new Map<string, SettingKey>(SETTING_KEYS.map((key) => [variableOf(key), key]));
    for (const [name, text] of Object.entries(env)) {
      if (!name.startsWith('UNSPENT_') || OTHER_VARIABLES.test(name)) continue;
      const key = keys.get(name);
      if (key === undefined)
        throw new UnspentError('CONFIG', `unknown variable ${name}${didYouMean(name, keys.keys())}`, { variable: name });
      if (text) this.#put(key, typedText(settingOf(key), text), { from: 'variable', name });
    }
  }

  addFlags({ set, ...flags }: Readonly<Record<string, unknown>>): void {
    const pairs = new Map(setPairs(set));
    for (const [key, text] of pairs) this.#put(key, typedText(settingOf(key), text), { from: 'flag', name: `--set ${key}` });
    for (const { key, attribute } of CONFIG_FLAGS) {
      const given = flags[attribute];
      if (given === undefined) continue;
      if (pairs.has(key)) throw new UnspentError('CONFIG', `${key} is given twice: by ${flagOf(key)} and by --set`, { key });
      const raw = typeof given === 'string' || typeof given === 'number' ? typedText(settingOf(key), String(given)) : given;
      this.#put(key, raw, { from: 'flag', name: flagOf(key) });
    }
  }

  #put(key: SettingKey, raw: unknown, origin: Origin): void {
    const setting = settingOf(key);
    const where = describeOrigin(origin);
    const value = acceptValue(setting, raw);
    if (value === undefined) {
      const meant = setting.type === 'oneOf' && typeof raw === 'string' ? didYouMean(raw, setting.values) : '';
      const message = `bad value for ${key} (from ${where}): expected ${describeAllowed(setting)}, got ${showRaw(raw)}${meant}`;
      throw new UnspentError('CONFIG', message, { key, origin });
    }
    if (value === setting.unavailable?.value) {
      const message = `${key} = ${formatValue(setting, value)} (from ${where}) is not available: ${setting.unavailable.why}`;
      throw new UnspentError('CONFIG', message, { key, origin });
    }
    this.#values.set(key, value);
    this.#origins.set(key, origin);
  }
}

function setPairs(given: unknown): readonly (readonly [SettingKey, string])[] {
  const texts: readonly unknown[] = Array.isArray(given) ? given : given === undefined ? [] : [given];
  return texts.map((text) => {
    const [, key, value] = /^([^=]*)=(.*)$/s.exec(String(text)) ?? [];
    if (key === undefined || value === undefined) throw new UnspentError('USAGE', `--set wants KEY=VALUE, got '${text}'`);
    const name = key.trim();
    if (!isSettingKey(name))
      throw new UnspentError('CONFIG', `unknown key '${name}' (from --set)${didYouMean(name, SETTING_KEYS)}`, { key: name });
    return [name, value.trim()];
  });
}

function checkTogether({ values, origins }: Layers): void {
  checkHistoryElsewhere(values);
  const prune = values['utxo.pruneDepth'];
  const window = values['utxo.rollbackWindow'];
  if (window >= prune || window === 0) return;
  const named = (key: SettingKey) => `${key} (${values[key]}, from ${describeOrigin(origins[key])})`;
  const message = `${named('utxo.rollbackWindow')} must be at least ${named('utxo.pruneDepth')}`;
  throw new UnspentError('CONFIG', message, { rollbackWindow: window, pruneDepth: prune });
}

/** What cannot be where history is in a published copy alone. */
function checkHistoryElsewhere(values: Layers['values']): void {
  if (values['publish.history'] !== 'copy') return;
  const wrong = [
    values['publish.form'] !== 'columns' && 'publish.form must be columns',
    values['utxo.delta.selfContained'] && 'utxo.delta.selfContained must be off',
    values['utxo.historyDepth'] !== 0 && 'utxo.historyDepth must be 0',
    values['txs.store'] !== 'off' && 'txs.store must be off',
  ].filter((text) => text !== false);
  if (wrong.length > 0) throw new UnspentError('CONFIG', `publish.history = copy: ${wrong.join('; ')}`);
}

type Tree = { [name: string]: Tree | SettingValue };

function nest(values: Values, given: readonly SettingKey[]): Config {
  const root: Tree = {};
  for (const key of SETTING_KEYS) {
    const parents = key.split('.');
    const leaf = parents.pop() ?? key;
    let node = root;
    for (const part of parents) {
      node[part] ??= {};
      node = node[part] as Tree;
    }
    node[leaf] = values[key];
  }
  return Object.freeze({ ...freezeTree(root), given: Object.freeze(given) }) as Config;
}

function freezeTree(tree: Tree): Tree {
  for (const child of Object.values(tree)) if (typeof child === 'object') freezeTree(child);
  return Object.freeze(tree);
}

/** The name under which the command line parser leaves a flag's value: `--utxo-prune-depth` -> `utxoPruneDepth`. */
function attributeOf(key: SettingKey): string {
  return flagOf(key)
    .slice(2)
    .replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

function showRaw(raw: unknown): string {
  if (typeof raw === 'object') return Array.isArray(raw) ? 'a list' : 'a date';
  const text = typeof raw === 'string' ? JSON.stringify(raw) : String(raw);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
