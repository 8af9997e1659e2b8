/**
 * An output as a reader wants it: address, lovelace, assets, datum, script.
 * Works on the bytes the store keeps, in each form an era has used: Byron's
 * `[address, coin]`, the array of Shelley to Alonzo, the map of Babbage on.
 * Nothing here is on the path of the fold.
 */

import { blake2b224 } from '../../crypto/hash.ts';
import { concatBytes } from '../../util/bytes.ts';
import { ARRAY, Cursor, MAP, TAG, UINT } from '../../util/cbor.ts';
import type { Asset } from '../asset.ts';

const TAG_ENCODED_CBOR = 24;
const TAG_SET = 258;
const HASH_BYTES = 32;
const SCRIPT_NATIVE = 0;

/** An output, decoded. */
export interface DescribedOutput {
  /** The raw address of its owner. */
  readonly address: Uint8Array;
  /** Its lovelace. */
  readonly lovelace: bigint;
  /** Its assets, in the order of the output. */
  readonly assets: readonly Asset[];
  /** The hash of its datum; null: it has none by hash. */
  readonly datumHash: Uint8Array | null;
  /** The datum's own CBOR. */
  readonly inlineDatum: Uint8Array | null;
  /** CBOR `[kind, script]`: kind 0 native, 1 and up Plutus V1 and up. */
  readonly scriptRef: Uint8Array | null;
  /** The hash of the script it carries; null: it carries none. */
  readonly scriptHash: Uint8Array | null;
}

interface Draft {
  address: Uint8Array | null;
  lovelace: bigint | null;
  assets: readonly Asset[];
  datumHash: Uint8Array | null;
  inlineDatum: Uint8Array | null;
  scriptRef: Uint8Array | null;
}

/** Throws BLOCK_INVALID with the position when the bytes are not an output. */
export function describeOutput(raw: Uint8Array, start = 0, end = raw.length): DescribedOutput {
  const cursor = new Cursor(raw, start, end);
  const output = readOutput(cursor);
  if (cursor.at !== end) cursor.fail('bytes after the end of the output');
  return output;
}

/** Reads the output that begins at the cursor and leaves the cursor behind it. */
export function readOutput(cursor: Cursor): DescribedOutput {
  const from = cursor.at;
  const draft: Draft = { address: null, lovelace: null, assets: [], datumHash: null, inlineDatum: null, scriptRef: null };
  if (cursor.peek() === MAP) readMapForm(cursor, draft);
  else readArrayForm(cursor, draft);
  const { address, lovelace, scriptRef } = draft;
  if (address === null || lovelace === null) return cursor.fail('output without address or value', from);
  return { ...draft, address, lovelace, scriptHash: scriptRef === null ? null : scriptRefHash(scriptRef) };
}

/** The hash that names a reference script: blake2b-224 of its kind and its bytes. */
export function scriptRefHash(scriptRef: Uint8Array): Uint8Array {
  const { kind, script } = readScriptRef(scriptRef);
  return blake2b224(concatBytes(Uint8Array.of(kind), script));
}

/** The kind of a reference script and its own bytes, without what stands around them. Throws BLOCK_INVALID. */
export function readScriptRef(scriptRef: Uint8Array): { readonly kind: number; readonly script: Uint8Array } {
  const cursor = new Cursor(scriptRef);
  const fields = cursor.tuple(2, 'script');
  const kind = cursor.uint();
  if (kind > 0xff) cursor.fail('script of unknown kind');
  const from = cursor.at;
  let script: Uint8Array;
  if (kind === SCRIPT_NATIVE) {
    cursor.skip();
    script = scriptRef.subarray(from, cursor.at);
  } else {
    script = cursor.byteString();
  }
  cursor.close(fields);
  return { kind, script };
}

/** `{policy: {name: quantity}}`, of an output or a mint, flattened in the order it stands. */
export function readAssets(cursor: Cursor): Asset[] {
  const assets: Asset[] = [];
  for (let i = 0, policies = cursor.map(); cursor.more(policies, i); i++) {
    const policy = cursor.byteString();
    for (let j = 0, names = cursor.map(); cursor.more(names, j); j++) {
      const name = cursor.byteString();
      assets.push({ policy, name, quantity: cursor.bigInt() });
    }
  }
  return assets;
}

/** CDDL: `[address, value, ? datum_hash]`; Byron's is the same without the third. */
function readArrayForm(cursor: Cursor, draft: Draft): void {
  const count = cursor.array();
  for (let i = 0; cursor.more(count, i); i++) {
    if (i === 0) draft.address = readOutputAddress(cursor);
    else if (i === 1) readValue(cursor, draft);
    else if (i === 2) draft.datumHash = cursor.nullish() ? null : readHash(cursor);
    else cursor.fail('output of more than three fields');
  }
}

/** CDDL: `{0: address, 1: value, ? 2: datum_option, ? 3: script_ref}`. */
function readMapForm(cursor: Cursor, draft: Draft): void {
  const count = cursor.map();
  for (let i = 0; cursor.more(count, i); i++) {
    const key = cursor.uint();
    if (key === 0) draft.address = readOutputAddress(cursor);
    else if (key === 1) readValue(cursor, draft);
    else if (key === 2) readDatum(cursor, draft);
    else if (key === 3) draft.scriptRef = readEncoded(cursor);
    else cursor.skip();
  }
}

/** Byron writes an address as CBOR in place, every later era as a byte string: the same bytes either way. */
function readOutputAddress(cursor: Cursor): Uint8Array {
  if (cursor.peek() !== ARRAY) return cursor.byteString();
  const from = cursor.at;
  cursor.skip();
  return cursor.bytes.subarray(from, cursor.at);
}

function readValue(cursor: Cursor, draft: Draft): void {
  if (cursor.peek() === UINT) {
    draft.lovelace = cursor.bigUint();
    return;
  }
  const fields = cursor.tuple(2, 'value');
  draft.lovelace = cursor.bigUint();
  draft.assets = readAssets(cursor);
  cursor.close(fields);
}

function readDatum(cursor: Cursor, draft: Draft): void {
  const fields = cursor.tuple(2, 'datum');
  const kind = cursor.uint();
  if (kind === 0) draft.datumHash = readHash(cursor);
  else if (kind === 1) draft.inlineDatum = readEncoded(cursor);
  else cursor.fail(`datum of unknown kind ${kind}`);
  cursor.close(fields);
}

/** Enters a list without repeats, which from Conway on may be written as a tagged set; how many items it has. */
export function enterSet(cursor: Cursor): number {
  if (cursor.peek() === TAG && cursor.tag() !== TAG_SET) cursor.fail('expected a set');
  return cursor.array();
}

export function readHash(cursor: Cursor): Uint8Array {
  cursor.span(HASH_BYTES);
  return cursor.bytes.subarray(cursor.start, cursor.stop);
}

/** CBOR inside CBOR: what stands in the byte string under tag 24. */
export function readEncoded(cursor: Cursor): Uint8Array {
  if (cursor.tag() !== TAG_ENCODED_CBOR) cursor.fail('expected tag 24');
  return cursor.byteString();
}
