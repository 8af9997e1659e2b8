/**
 * Strict reading of proofs from JSON values: objects with exactly the fields
 * that belong there, hex of the right length, whole numbers. What is not so is
 * refused with its place.
 */
import { fromHex, isHex } from '../util/bytes.ts';
import { type Bits, bitsFromText } from './bits.ts';
import { malformed } from './verdict.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** An object with exactly these fields. */
export function objectAt(value: unknown, at: string, names: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) malformed(`${at} is not an object`);
  const fields = value as Fields;
  for (const name of names) if (!Object.hasOwn(fields, name)) malformed(`${at} has no ${name}`);
  for (const name of Object.keys(fields)) if (!names.includes(name)) malformed(`${at} has an unknown field ${name.slice(0, 40)}`);
  return fields;
}

export function arrayAt(value: unknown, at: string): readonly unknown[] {
  if (!Array.isArray(value)) malformed(`${at} is not an array`);
  return value;
}

/** One of a few words, as `type` is. */
export function kindOf<K extends string>(value: unknown, at: string, kinds: readonly K[]): K {
  const kind = typeof value === 'object' && value !== null ? (value as Fields)['type'] : undefined;
  const found = kinds.find((name) => name === kind);
  return found ?? malformed(`${at}.type is none of ${kinds.join(', ')}`);
}

export function hexAt(value: unknown, at: string, byteLength?: number): Uint8Array {
  if (typeof value !== 'string' || !isHex(value, byteLength)) {
    malformed(`${at} is not ${byteLength === undefined ? '' : `${byteLength} bytes of `}hex`);
  }
  return fromHex(value);
}

export function countAt(value: unknown, at: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) malformed(`${at} is not a whole number`);
  return value;
}

/** A number that may be large: text of decimal digits, without leading zeros. */
export function decimalAt(value: unknown, at: string): number {
  const number = typeof value === 'string' && /^(0|[1-9][0-9]{0,15})$/.test(value) ? Number(value) : -1;
  if (number < 0 || !Number.isSafeInteger(number)) malformed(`${at} is not a decimal number below 2^53`);
  return number;
}

/** Text of zeros and ones. */
export function bitsAt(value: unknown, at: string, lengthMax: number): Bits {
  const bits = typeof value === 'string' && value.length <= lengthMax ? bitsFromText(value) : null;
  return bits ?? malformed(`${at} is not text of at most ${lengthMax} zeros and ones`);
}
