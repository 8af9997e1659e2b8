/**
 * Plutus data as JSON, in the detailed form that cardano-cli writes:
 * `{"constructor": 0, "fields": [...]}`, `{"map": [{"k": ..., "v": ...}]}`,
 * `{"list": [...]}`, `{"int": 42}`, `{"bytes": "hex"}`. An integer that a double
 * cannot hold is a string of digits.
 *
 * CDDL: `plutus_data`.
 */

import { toHex } from '../../util/bytes.ts';
import { ARRAY, BYTES, Cursor, MAP, TAG } from '../../util/cbor.ts';
import { CBOR_RECURSION_MAX } from '../../util/limits.ts';

export type PlutusJson =
  | { readonly constructor: number; readonly fields: readonly PlutusJson[] }
  | { readonly map: readonly { readonly k: PlutusJson; readonly v: PlutusJson }[] }
  | { readonly list: readonly PlutusJson[] }
  | { readonly int: number | string }
  | { readonly bytes: string };

/** Constructors 0 to 6 have tags of their own, 7 to 127 too; tag 102 names any. */
const FEW_TAGS = { first: 121, last: 127, alternative: 0 } as const;
const MORE_TAGS = { first: 1280, last: 1400, alternative: 7 } as const;
const TAG_ANY = 102;
const TAG_BIG_POSITIVE = 2;
const TAG_BIG_NEGATIVE = 3;

/** Throws BLOCK_INVALID where the bytes are no Plutus data, or of too many levels. */
export function plutusJson(bytes: Uint8Array): PlutusJson {
  const c = new Cursor(bytes);
  const json = readData(c, 0);
  if (c.at !== bytes.length) c.fail('bytes after the end of the data');
  return json;
}

function readData(c: Cursor, depth: number): PlutusJson {
  if (depth > CBOR_RECURSION_MAX) c.fail(`data of more than ${CBOR_RECURSION_MAX} levels`);
  switch (c.peek()) {
    case BYTES:
      return { bytes: toHex(c.byteString()) };
    case ARRAY:
      return { list: readList(c, depth) };
    case MAP:
      return { map: readPairs(c, depth) };
    case TAG:
      return readTagged(c, depth);
    default:
      return integer(c.bigInt());
  }
}

function integer(value: bigint): PlutusJson {
  return { int: Number.isSafeInteger(Number(value)) ? Number(value) : value.toString() };
}

function readTagged(c: Cursor, depth: number): PlutusJson {
  const at = c.at;
  const tag = c.tag();
  if (tag === TAG_BIG_POSITIVE || tag === TAG_BIG_NEGATIVE) {
    c.at = at;
    return integer(c.bigInt());
  }
  for (const { first, last, alternative } of [FEW_TAGS, MORE_TAGS]) {
    if (tag >= first && tag <= last) return { constructor: tag - first + alternative, fields: readList(c, depth) };
  }
  if (tag !== TAG_ANY) c.fail(`tag ${tag} is of no Plutus data`, at);
  const pair = c.tuple(2, 'a constructor');
  const json = { constructor: c.uint(), fields: readList(c, depth) };
  c.close(pair);
  return json;
}

function readList(c: Cursor, depth: number): readonly PlutusJson[] {
  const items: PlutusJson[] = [];
  for (let i = 0, count = c.array(); c.more(count, i); i++) items.push(readData(c, depth + 1));
  return items;
}

function readPairs(c: Cursor, depth: number): readonly { readonly k: PlutusJson; readonly v: PlutusJson }[] {
  const pairs: { readonly k: PlutusJson; readonly v: PlutusJson }[] = [];
  for (let i = 0, count = c.map(); c.more(count, i); i++) pairs.push({ k: readData(c, depth + 1), v: readData(c, depth + 1) });
  return pairs;
}
