/**
 * Metadata of transactions: what stands under each label, as bytes and as JSON in
 * the form that cardano-cli writes without a schema. Bytes are `0x` and hex; keys
 * of maps are texts; an integer that a double cannot hold is a string of digits.
 *
 * CDDL: `auxiliary_data = metadata / [metadata, scripts] / #6.259({? 0 => metadata, ...})`.
 */
import { toHex } from '../../util/bytes.ts';
import { ARRAY, BYTES, Cursor, MAP, TAG, TEXT } from '../../util/cbor.ts';
import { CBOR_RECURSION_MAX } from '../../util/limits.ts';

const METADATA_KEY = 0;

export interface LabelledMetadata {
  readonly label: bigint;
  /** The CBOR of what stands under the label. */
  readonly value: Uint8Array;
}

export type MetadataJson = number | string | readonly MetadataJson[] | { readonly [key: string]: MetadataJson };

/** In the order of the transaction. Throws BLOCK_INVALID. */
export function readMetadata(auxiliary: Uint8Array): readonly LabelledMetadata[] {
  const c = new Cursor(auxiliary);
  if (!enterMetadata(c)) return [];
  const found: LabelledMetadata[] = [];
  for (let i = 0, count = c.map(); c.more(count, i); i++) {
    const label = c.bigUint();
    const start = c.at;
    c.skip();
    found.push({ label, value: auxiliary.subarray(start, c.at) });
  }
  return found;
}

/** Goes to where the map of labels begins; false: there is none. */
function enterMetadata(c: Cursor): boolean {
  if (c.peek() === ARRAY) c.array();
  if (c.peek() !== TAG) return true;
  c.tag();
  for (let i = 0, count = c.map(); c.more(count, i); i++) {
    if (c.uint() === METADATA_KEY) return true;
    c.skip();
  }
  return false;
}

/** Throws BLOCK_INVALID where the bytes are no metadata, or of too many levels. */
export function metadataJson(value: Uint8Array): MetadataJson {
  const c = new Cursor(value);
  const json = readItem(c, 0);
  if (c.at !== value.length) c.fail('bytes after the end of the metadata');
  return json;
}

function readItem(c: Cursor, depth: number): MetadataJson {
  if (depth > CBOR_RECURSION_MAX) c.fail(`metadata of more than ${CBOR_RECURSION_MAX} levels`);
  switch (c.peek()) {
    case BYTES:
      return `0x${toHex(c.byteString())}`;
    case TEXT:
      return readText(c);
    case ARRAY: {
      const items: MetadataJson[] = [];
      for (let i = 0, count = c.array(); c.more(count, i); i++) items.push(readItem(c, depth + 1));
      return items;
    }
    case MAP: {
      const pairs: [string, MetadataJson][] = [];
      for (let i = 0, count = c.map(); c.more(count, i); i++) pairs.push([keyText(readItem(c, depth + 1)), readItem(c, depth + 1)]);
      return Object.fromEntries(pairs);
    }
    default: {
      const value = c.bigInt();
      return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
    }
  }
}

/** A text, whole or in pieces. */
function readText(c: Cursor): string {
  const start = c.at;
  c.skip();
  const text = new Cursor(c.bytes, start, c.at);
  const pieces: Uint8Array[] = [];
  if (text.head()) pieces.push(c.bytes.subarray(text.at, c.at));
  else while (text.bytes[text.at] !== 0xff) pieces.push(readPiece(text));
  return pieces.map((piece) => new TextDecoder().decode(piece)).join('');
}

function readPiece(text: Cursor): Uint8Array {
  text.head();
  const start = text.at;
  text.at += text.lo;
  return text.bytes.subarray(start, text.at);
}

/** Numbers and texts as they are, lists and maps as their JSON. */
function keyText(key: MetadataJson): string {
  return typeof key === 'object' ? JSON.stringify(key) : `${key}`;
}
