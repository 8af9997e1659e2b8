/**
 * Metadata of transactions: what stands under each label, as bytes, taken apart,
 * and as JSON in the form that cardano-cli writes without a schema. There bytes
 * are `0x` and hex; keys of maps are texts; an integer that a double cannot hold
 * is a string of digits.
 *
 * CDDL: `auxiliary_data = metadata / [metadata, scripts] / #6.259({? 0 => metadata, ...})`,
 * `metadatum = {* metadatum => metadatum} / [* metadatum] / int / bytes / text`.
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

/** What stands under a label, taken apart. */
export type Metadatum =
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'bytes'; readonly value: Uint8Array }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'list'; readonly items: readonly Metadatum[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [key: Metadatum, value: Metadatum])[] };

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

/** The map of labels as it stands; null: the auxiliary data has none. Throws BLOCK_INVALID. */
export function metadataBytes(auxiliary: Uint8Array): Uint8Array | null {
  const c = new Cursor(auxiliary);
  if (!enterMetadata(c)) return null;
  const start = c.at;
  c.skip();
  return auxiliary.subarray(start, c.at);
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
export function readMetadatum(value: Uint8Array): Metadatum {
  const c = new Cursor(value);
  const item = readItem(c, 0);
  if (c.at !== value.length) c.fail('bytes after the end of the metadata');
  return item;
}

/** Throws BLOCK_INVALID where the bytes are no metadata, or of too many levels. */
export function metadataJson(value: Uint8Array): MetadataJson {
  return jsonOf(readMetadatum(value));
}

function readItem(c: Cursor, depth: number): Metadatum {
  if (depth > CBOR_RECURSION_MAX) c.fail(`metadata of more than ${CBOR_RECURSION_MAX} levels`);
  switch (c.peek()) {
    case BYTES:
      return { kind: 'bytes', value: c.byteString() };
    case TEXT:
      return { kind: 'text', value: c.text() };
    case ARRAY: {
      const items: Metadatum[] = [];
      for (let i = 0, count = c.array(); c.more(count, i); i++) items.push(readItem(c, depth + 1));
      return { kind: 'list', items };
    }
    case MAP: {
      const entries: (readonly [Metadatum, Metadatum])[] = [];
      for (let i = 0, count = c.map(); c.more(count, i); i++) entries.push([readItem(c, depth + 1), readItem(c, depth + 1)]);
      return { kind: 'map', entries };
    }
    default:
      return { kind: 'int', value: c.bigInt() };
  }
}

function jsonOf(item: Metadatum): MetadataJson {
  switch (item.kind) {
    case 'bytes':
      return `0x${toHex(item.value)}`;
    case 'text':
      return item.value;
    case 'list':
      return item.items.map(jsonOf);
    case 'map':
      return Object.fromEntries(item.entries.map(([key, value]) => [keyText(jsonOf(key)), jsonOf(value)]));
    case 'int':
      return Number.isSafeInteger(Number(item.value)) ? Number(item.value) : item.value.toString();
  }
}

/** Numbers and texts as they are, lists and maps as their JSON. */
function keyText(key: MetadataJson): string {
  return typeof key === 'object' ? JSON.stringify(key) : `${key}`;
}
