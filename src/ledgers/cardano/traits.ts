/**
 * What Cardano's outputs carry besides an owner and lovelace: assets, a datum or
 * its hash, a reference script. Works on the bytes the store keeps, in each form
 * an era has used, as `describe.ts` does; but each question reads only its own
 * field, because here the fold asks.
 */

import { blake2b256 } from '../../crypto/hash.ts';
import { ARRAY, Cursor, MAP, UINT } from '../../util/cbor.ts';
import { POLICY_BYTES } from '../asset.ts';
import type { AssetVisitor, NamedBytes, OutputTraits } from '../ledger.ts';
import { readEncoded, readHash, scriptRefHash } from './describe.ts';
import { readScript, readWitnesses } from './witnesses.ts';

/** CDDL: `asset_name = bytes .size (0 .. 32)`. */
const NAME_BYTES_MAX = 32;

/** Places in an array, keys of a map. */
const FIELD = { value: 1, datum: 2, script: 3 } as const;

const ARRAY_OF_TWO = 0x82;
const MAP_OF_TWO = 0xa2;
const BYTES_SHORT = 0x40;
const BYTES_ONE_BYTE_LENGTH = 0x58;

export const cardanoTraits: OutputTraits = {
  isPlain,
  assets,
  datumHash,
  inlineDatum,
  datumBytes,
  referenceScript,
  witnesses: readWitnesses,
  hashOf: (kind, bytes) => (kind === 'datum' ? blake2b256(bytes) : scriptRefHash(bytes)),
};

/** Two fields, an address and a plain number, as nearly every plain output is written. Anything else may be plain and is not known to be. */
function isPlain(raw: Uint8Array, start: number, end: number): boolean {
  const first = raw[start];
  let at = start + 1;
  if (first === MAP_OF_TWO) {
    if (raw[at++] !== 0) return false;
  } else if (first !== ARRAY_OF_TWO) return false;
  const head = raw[at];
  // Byron's address is an array; its outputs have nothing but a coin.
  if (head >> 5 === ARRAY) return first === ARRAY_OF_TWO;
  if (head === BYTES_ONE_BYTE_LENGTH) at += 2 + raw[at + 1];
  else if (head >= BYTES_SHORT && head < BYTES_ONE_BYTE_LENGTH) at += 1 + (head - BYTES_SHORT);
  else return false;
  if (first === MAP_OF_TWO && raw[at++] !== FIELD.value) return false;
  return at < end && raw[at] >> 5 === UINT;
}

/** A cursor at a field of the output, or null when it has none. As with `describe`, the last one counts. */
function seek(raw: Uint8Array, start: number, end: number, wanted: number): Cursor | null {
  const c = new Cursor(raw, start, end);
  const isMap = c.peek() === MAP;
  const count = isMap ? c.map() : c.array();
  let found = -1;
  for (let i = 0; c.more(count, i); i++) {
    const field = isMap ? c.uint() : i;
    if (field === wanted) found = c.at;
    c.skip();
  }
  if (found < 0) return null;
  c.at = found;
  return c;
}

function isMapForm(raw: Uint8Array, start: number): boolean {
  return raw[start] >> 5 === MAP;
}

/** Eras before Conway let a value name assets of which it has none; such are not there. */
function assets(raw: Uint8Array, start: number, end: number, visit: AssetVisitor): void {
  const c = seek(raw, start, end, FIELD.value);
  if (c === null || c.peek() === UINT) return;
  const fields = c.tuple(2, 'value');
  c.uint64();
  for (let i = 0, policies = c.map(); c.more(policies, i); i++) {
    const policy = c.byteString();
    if (policy.length !== POLICY_BYTES) c.fail(`policy id of ${policy.length} bytes`);
    for (let j = 0, names = c.map(); c.more(names, j); j++) {
      const name = c.byteString();
      if (name.length > NAME_BYTES_MAX) c.fail(`asset name of ${name.length} bytes`);
      const quantity = c.bigInt();
      if (quantity < 0n) c.fail('negative quantity in an output');
      if (quantity > 0n) visit(policy, name, quantity);
    }
  }
  c.close(fields);
}

function datumHash(raw: Uint8Array, start: number, end: number): Uint8Array | null {
  const c = seek(raw, start, end, FIELD.datum);
  if (c === null) return null;
  if (!isMapForm(raw, start)) return c.nullish() ? null : readHash(c);
  const datum = readDatum(c);
  return datum.inline === null ? datum.hash : blake2b256(datum.inline);
}

function inlineDatum(raw: Uint8Array, start: number, end: number): NamedBytes | null {
  const bytes = datumBytes(raw, start, end);
  return bytes === null ? null : { hash: blake2b256(bytes), bytes };
}

function datumBytes(raw: Uint8Array, start: number, end: number): Uint8Array | null {
  // A map of two fields is an address and a value.
  const c = isMapForm(raw, start) && raw[start] !== MAP_OF_TWO ? seek(raw, start, end, FIELD.datum) : null;
  return c === null ? null : readDatum(c).inline;
}

type Datum = { readonly hash: Uint8Array; readonly inline: null } | { readonly hash: null; readonly inline: Uint8Array };

/** CDDL: `datum_option = [0, hash32] / [1, #6.24(bytes)]`. */
function readDatum(c: Cursor): Datum {
  const fields = c.tuple(2, 'datum');
  const kind = c.uint();
  if (kind > 1) c.fail(`datum of unknown kind ${kind}`);
  const datum: Datum = kind === 0 ? { hash: readHash(c), inline: null } : { hash: null, inline: readEncoded(c) };
  c.close(fields);
  return datum;
}

function referenceScript(raw: Uint8Array, start: number, end: number): NamedBytes | null {
  const field = isMapForm(raw, start) ? seek(raw, start, end, FIELD.script) : null;
  if (field === null) return null;
  const c = new Cursor(readEncoded(field));
  const fields = c.tuple(2, 'script');
  const script = readScript(c, c.uint());
  c.close(fields);
  return script;
}
