/**
 * Plutus data, taken apart: what datums and redeemers are made of. The forms in
 * which others write it (`plutus-json.ts`, the messages of UTxO RPC) are made of
 * this.
 *
 * CDDL: `plutus_data`.
 */

import { ARRAY, BYTES, Cursor, MAP, TAG } from '../../util/cbor.ts';
import { CBOR_RECURSION_MAX } from '../../util/limits.ts';

export type PlutusData =
  | { readonly kind: 'constructor'; readonly number: number; readonly fields: readonly PlutusData[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [key: PlutusData, value: PlutusData])[] }
  | { readonly kind: 'list'; readonly items: readonly PlutusData[] }
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'bytes'; readonly value: Uint8Array };

/** Constructors 0 to 6 have tags of their own, 7 to 127 too; tag 102 names any. */
const FEW_TAGS = { first: 121, last: 127, alternative: 0 } as const;
const MORE_TAGS = { first: 1280, last: 1400, alternative: 7 } as const;
export const TAG_ANY_CONSTRUCTOR = 102;
const TAG_BIG_POSITIVE = 2;
const TAG_BIG_NEGATIVE = 3;

/** The tag that names a constructor; null: it has none of its own, and stands in `TAG_ANY_CONSTRUCTOR`. */
export function constructorTag(number: number): number | null {
  for (const { first, last, alternative } of [FEW_TAGS, MORE_TAGS]) {
    const tag = number - alternative + first;
    if (tag >= first && tag <= last) return tag;
  }
  return null;
}

/** Throws BLOCK_INVALID where the bytes are no Plutus data, or of too many levels. */
export function readPlutusData(bytes: Uint8Array): PlutusData {
  const c = new Cursor(bytes);
  const data = readData(c, 0);
  if (c.at !== bytes.length) c.fail('bytes after the end of the data');
  return data;
}

function readData(c: Cursor, depth: number): PlutusData {
  if (depth > CBOR_RECURSION_MAX) c.fail(`data of more than ${CBOR_RECURSION_MAX} levels`);
  switch (c.peek()) {
    case BYTES:
      return { kind: 'bytes', value: c.byteString() };
    case ARRAY:
      return { kind: 'list', items: readList(c, depth) };
    case MAP:
      return { kind: 'map', entries: readEntries(c, depth) };
    case TAG:
      return readTagged(c, depth);
    default:
      return { kind: 'int', value: c.bigInt() };
  }
}

function readTagged(c: Cursor, depth: number): PlutusData {
  const at = c.at;
  const tag = c.tag();
  if (tag === TAG_BIG_POSITIVE || tag === TAG_BIG_NEGATIVE) {
    c.at = at;
    return { kind: 'int', value: c.bigInt() };
  }
  for (const { first, last, alternative } of [FEW_TAGS, MORE_TAGS]) {
    if (tag >= first && tag <= last) return { kind: 'constructor', number: tag - first + alternative, fields: readList(c, depth) };
  }
  if (tag !== TAG_ANY_CONSTRUCTOR) c.fail(`tag ${tag} is of no Plutus data`, at);
  const pair = c.tuple(2, 'a constructor');
  const number = c.uint();
  const fields = readList(c, depth);
  c.close(pair);
  return { kind: 'constructor', number, fields };
}

function readList(c: Cursor, depth: number): readonly PlutusData[] {
  const items: PlutusData[] = [];
  for (let i = 0, count = c.array(); c.more(count, i); i++) items.push(readData(c, depth + 1));
  return items;
}

function readEntries(c: Cursor, depth: number): readonly (readonly [PlutusData, PlutusData])[] {
  const entries: (readonly [PlutusData, PlutusData])[] = [];
  for (let i = 0, count = c.map(); c.more(count, i); i++) entries.push([readData(c, depth + 1), readData(c, depth + 1)]);
  return entries;
}
