/**
 * Reading genesis files exactly. Their amounts go past 2^53, where JSON.parse
 * rounds; here a long integer becomes a bigint. Whatever is missing or of the
 * wrong shape is GENESIS_WRONG, with the name of the field.
 */
import { UnspentError } from '../../util/errors.ts';

export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** Integers of up to 15 digits are exact as numbers. */
const SAFE_DIGITS = 15;
/** Strings are matched first, so that digits inside them are left alone. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Marks what was a long integer on its way through JSON.parse; no genesis string begins like this. */
const MARK = '\u0001int:';

export function wrong(reason: string, cause?: unknown): UnspentError {
  return new UnspentError('GENESIS_WRONG', reason, {}, cause);
}

export function parseGenesis(text: string, file: 'byron' | 'shelley'): JsonObject {
  let value: Json;
  try {
    const marked = text.replace(STRING_OR_NUMBER, (token) =>
      token.length > SAFE_DIGITS && /^-?\d+$/.test(token) ? JSON.stringify(MARK + token) : token,
    );
    value = JSON.parse(marked, (_, item: Json) =>
      typeof item === 'string' && item.startsWith(MARK) ? BigInt(item.slice(MARK.length)) : item,
    );
  } catch (cause) {
    throw wrong(`the ${file} genesis is not JSON`, cause);
  }
  return asObject(value, `the ${file} genesis`);
}

/** Canonical JSON: keys in order, no spaces, integers and strings as they are. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (isObject(value)) {
    const fields = Object.keys(value).sort();
    return `{${fields.map((key) => `${canonicalString(key)}:${canonicalJson(value[key])}`).join(',')}}`;
  }
  return typeof value === 'string' ? canonicalString(value) : String(value);
}

/** Only the quote and the backslash are escaped: that is what makes it canonical. */
function canonicalString(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asObject(value: Json | undefined, what: string): JsonObject {
  if (!isObject(value)) throw wrong(`${what} is not an object`);
  return value;
}

/** The object in a field; an absent one is empty only where `optional`. */
export function objectField(from: JsonObject, name: string, optional = false): JsonObject {
  return optional && from[name] === undefined ? {} : asObject(from[name], name);
}

export function numberField(from: JsonObject, name: string): number {
  const given = from[name];
  // Byron writes its numbers as texts.
  const value = typeof given === 'number' || typeof given === 'bigint' || typeof given === 'string' ? Number(given) : Number.NaN;
  if (!Number.isFinite(value) || value < 0) throw wrong(`${name} is not a number`);
  return value;
}

export function integerField(from: JsonObject, name: string): number {
  const value = numberField(from, name);
  if (!Number.isSafeInteger(value)) throw wrong(`${name} is not a whole number`);
  return value;
}

export function textField(from: JsonObject, name: string): string {
  const value = from[name];
  if (typeof value !== 'string') throw wrong(`${name} is not a text`);
  return value;
}

/** An amount of lovelace: a decimal string (Byron) or an integer (Shelley) of at most 64 bits. */
export function lovelaceField(from: JsonObject, name: string): bigint {
  const value = from[name];
  const exact = typeof value === 'bigint' || Number.isSafeInteger(value) || (typeof value === 'string' && /^\d{1,20}$/.test(value));
  const amount = exact ? BigInt(value as bigint | number | string) : -1n;
  if (amount < 0n || amount >= 1n << 64n) throw wrong(`the amount of '${name.slice(0, 120)}' is not a number of lovelace`);
  return amount;
}
