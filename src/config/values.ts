/**
 * One value of one setting: from the text of a flag or variable, from a TOML
 * value, and back to text. Strict on purpose: a value that needs guessing is
 * refused, and the caller says where it came from.
 */
import { withoutSecret } from '../util/secret.ts';
import type { Setting, SettingValue } from '../util/setting.ts';

const UNITS: readonly (readonly [name: string, bytes: number])[] = [
  ['GiB', 2 ** 30],
  ['GB', 1e9],
  ['MiB', 2 ** 20],
  ['MB', 1e6],
  ['KiB', 2 ** 10],
  ['kB', 1e3],
  ['B', 1],
];

const SIZE = /^(\d[\d_]*) ?([a-z]*)$/i;

/** `96MB` is 96,000,000 bytes, `96MiB` is 96 * 2^20; a number alone is bytes. */
export function parseSize(text: string): number | undefined {
  const [, digits, suffix] = SIZE.exec(text.trim()) ?? [];
  if (digits === undefined || suffix === undefined) return undefined;
  const unit = UNITS.find(([name]) => name.toLowerCase() === (suffix.toLowerCase() || 'b'));
  if (unit === undefined) return undefined;
  const bytes = Number(digits.replaceAll('_', '')) * unit[1];
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** The shortest exact form: the largest unit that leaves no rest. */
export function formatSize(bytes: number): string {
  if (bytes === 0) return '0B';
  const [name, unit] = UNITS.filter(([, unit]) => bytes % unit === 0).reduce((best, next) => (next[1] > best[1] ? next : best));
  return `${bytes / unit}${name}`;
}

/** Gives text the type TOML would have given it. Text that does not fit stays text, and is refused as such. */
export function typedText(setting: Setting, text: string): unknown {
  if (setting.type === 'boolean') {
    if (text === 'true' || text === '1') return true;
    if (text === 'false' || text === '0') return false;
  }
  if (setting.type === 'integer' && /^\d+(_\d+)*$/.test(text)) return BigInt(text.replaceAll('_', ''));
  return text;
}

/** The setting's value, or `undefined` when `raw` is not one. Integers come as bigint: that tells them from floats. */
export function acceptValue(setting: Setting, raw: unknown): SettingValue | undefined {
  switch (setting.type) {
    case 'boolean':
      return typeof raw === 'boolean' ? raw : undefined;
    case 'integer':
      return typeof raw === 'bigint' ? inRange(setting, Number(raw)) : undefined;
    case 'bytes':
      if (typeof raw === 'bigint') return inRange(setting, Number(raw));
      return typeof raw === 'string' ? inRange(setting, parseSize(raw)) : undefined;
    case 'oneOf':
      return typeof raw === 'string' && (setting.values.includes(raw) || setting.or?.pattern.test(raw)) ? raw : undefined;
    case 'string':
      return typeof raw === 'string' && (raw !== '' || setting.filled !== true) ? raw : undefined;
  }
}

function inRange(range: { readonly min: number; readonly max: number }, value: number | undefined): number | undefined {
  return value !== undefined && value >= range.min && value <= range.max ? value : undefined;
}

/** What a reader may write, in words: ends the sentence "expected ...". */
export function describeAllowed(setting: Setting): string {
  switch (setting.type) {
    case 'boolean':
      return 'true or false';
    case 'integer':
      return `an integer from ${setting.min} to ${setting.max}`;
    case 'bytes':
      return `a size from ${formatSize(setting.min)} to ${formatSize(setting.max)}, such as 96MB, 1GiB or a number of bytes`;
    case 'oneOf': {
      const named = setting.values.filter((value) => value !== setting.unavailable?.value);
      const values = setting.or === undefined ? named : [...named, setting.or.text];
      return values.length === 1 ? values[0] : `one of ${values.join(', ')}`;
    }
    case 'string':
      return setting.filled ? 'text that is not empty' : 'text';
  }
}

/** A value as its owner would write it. */
export function formatValue(setting: Setting, value: SettingValue): string {
  if (setting.type === 'bytes' && typeof value === 'number') return formatSize(value);
  return typeof value === 'string' && setting.type === 'string' ? JSON.stringify(value) : String(value);
}

/** The value as it may be shown: `***` stands for what is secret of it. */
export function shownValue({ secret }: Setting, value: SettingValue): SettingValue {
  if (secret === undefined || typeof value !== 'string' || value === '') return value;
  return secret === 'all' ? '***' : withoutSecret(value);
}
