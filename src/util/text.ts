/**
 * Bytes that strangers chose, as text: names of assets, keys and values of facts.
 * Bytes that are not UTF-8 are no text, and a mark of byte order is a part of it,
 * so that the text stands for exactly these bytes.
 */
import { fromHex, isHex, toHex, utf8 } from './bytes.ts';
import { UnspentError } from './errors.ts';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const HEX = '0x';

/** Null: they are no text. */
function utf8Text(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

/** Null: they are no text, or none that a terminal should be given: empty, or with something that moves the cursor, hides, or turns the direction. */
export function printableText(bytes: Uint8Array): string | null {
  const text = utf8Text(bytes);
  return text !== null && /^[^\p{C}\p{Z}][^\p{C}\p{Zl}\p{Zp}]*$/u.test(text) ? text : null;
}

/** For people: text where it can be shown, else `0x` and hex. What begins with `0x` is always hex. */
export function shownText(bytes: Uint8Array): string {
  const text = printableText(bytes);
  return text === null || text.startsWith(HEX) ? HEX + toHex(bytes) : text;
}

/** For programs, no byte lost: text where the bytes are text, else `0x` and hex. What begins with `0x` is always hex. */
export function losslessText(bytes: Uint8Array): string {
  const text = utf8Text(bytes);
  return text === null || text.startsWith(HEX) ? HEX + toHex(bytes) : text;
}

/** The bytes that `losslessText` stands for. Throws USAGE for `0x` with what is not hex. */
export function losslessBytes(text: string): Uint8Array {
  if (!text.startsWith(HEX)) return utf8(text);
  const digits = text.slice(HEX.length);
  if (!isHex(digits)) throw new UnspentError('USAGE', `what begins with '0x' is hex, and '${text.slice(0, 40)}' is not`);
  return fromHex(digits);
}
