/**
 * Where cages rest (`ledgers/cardano/cage`), in three columns:
 *
 *   cage         00                              -> counters
 *                01 | policy 28 | asset name     -> token
 *                02 | name length u8 | name | slot u64 | tx index u32 | output index u32
 *                                                -> tx id 32: an unspent output that asks for a change of that token
 *                03 | trie u32                   -> trie: visible or hidden, facts, height at which it was hidden
 *                04 | trie u32                   -> nothing: a trie that is being deleted
 *                05 | script hash 28             -> key of the token whose request script it is
 *                06                              -> the deployments that are followed, as text
 *   cage_nodes   trie u32 | key of a node        -> record of a branch (`proofs/radix`)
 *   cage_values  trie u32 | raw key              -> slot u64 at which it was set | raw value
 *
 * A trie has a number of its own, given when its token comes into being, so that
 * a token that moves to another policy takes its trie along without a row of it
 * moving. Rows of `cage` are CBOR arrays.
 */

import type { ColumnSpec, Reader } from '../../../engine/engine.ts';
import type { AssetId } from '../../../ledgers/asset.ts';
import {
  type CageState,
  type CageVersion,
  decodeCageDatum,
  encodeCageDatum,
  type PlacedRef,
  SCRIPT_HASH_BYTES,
} from '../../../ledgers/cardano/cage/index.ts';
import { OUTPOINT_BYTES, outpointIndex, outpointKey, outpointTxId } from '../../../ledgers/outpoint.ts';
import { concatBytes, readU32, readU64, writeU32, writeU64 } from '../../../util/bytes.ts';
import { Cursor } from '../../../util/cbor.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { assert, isUnspentError, UnspentError } from '../../../util/errors.ts';
import { keyAfterPrefix } from '../../../util/key-range.ts';

export const CAGE = 'cage';
export const CAGE_NODES = 'cage_nodes';
export const CAGE_VALUES = 'cage_values';

export const TRIE_BYTES = 4;

export const cageColumns: readonly ColumnSpec[] = [
  { name: CAGE, access: 'order', weight: 1 },
  { name: CAGE_NODES, access: 'prefix', prefixBytes: TRIE_BYTES, weight: 1 },
  { name: CAGE_VALUES, access: 'prefix', prefixBytes: TRIE_BYTES, weight: 1 },
];

/** First bytes of the keys of `cage`. */
export const CAGE_ROW = { counters: 0, token: 1, request: 2, trie: 3, dead: 4, requestScript: 5, deployments: 6 } as const;

export const COUNTERS_KEY = Uint8Array.of(CAGE_ROW.counters);
export const DEPLOYMENTS_KEY = Uint8Array.of(CAGE_ROW.deployments);

/**
 * Whether the trie is what the root on chain commits to. `consistent`: it is. `nonCanonical`: the root on chain is one
 * that no trie has, and the faults of the proof library that the validators use explain it. `inconsistent`: it differs
 * and nothing explains it. `incomplete`: the token came with facts from where we did not follow it, so there is no trie.
 */
export type TrieStatus = 'consistent' | 'nonCanonical' | 'inconsistent' | 'incomplete';
const STATUSES: readonly TrieStatus[] = ['consistent', 'nonCanonical', 'inconsistent', 'incomplete'];
const VERSIONS: readonly CageVersion[] = ['v0', 'v1', 'v2'];

export interface TokenRow {
  readonly version: CageVersion;
  readonly status: TrieStatus;
  /** Null: there is none (`incomplete`). */
  readonly trie: number | null;
  /** The output that holds the token. */
  readonly txId: Uint8Array;
  readonly index: number;
  readonly state: CageState;
  /** Where its requests belong; null: its deployment does not say. */
  readonly requestScript: Uint8Array | null;
  /** The policy it came from; null: it was made under its own. */
  readonly migratedFrom: Uint8Array | null;
}

export interface TrieRow {
  readonly facts: number;
  /** Height of the block that burned its token; null: the trie is visible. */
  readonly hiddenAt: number | null;
}

export interface CageCounters {
  readonly nextTrie: number;
  readonly tokens: number;
  /** Tokens whose trie is not what the root on chain commits to. */
  readonly diverged: number;
  readonly requests: number;
  /** Outputs at scripts of cages whose datum was none. */
  readonly malformed: number;
  /** Requests that were spent in a way that the protocol does not know. */
  readonly gone: number;
}

export const NO_COUNTERS: CageCounters = { nextTrie: 0, tokens: 0, diverged: 0, requests: 0, malformed: 0, gone: 0 };

export function tokenKey({ policy, name }: AssetId): Uint8Array {
  return concatBytes(Uint8Array.of(CAGE_ROW.token), policy, name);
}

export function tokenIdOf(key: Uint8Array): AssetId {
  return { policy: key.slice(1, 1 + SCRIPT_HASH_BYTES), name: key.slice(1 + SCRIPT_HASH_BYTES) };
}

/** Begins the keys of all requests for tokens of this name. */
export function requestPrefix(name: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(CAGE_ROW.request, name.length), name);
}

const REQUEST_PLACE_BYTES = 16;

export function requestKey(name: Uint8Array, { slot, txIndex, index }: PlacedRef): Uint8Array {
  const place = new Uint8Array(REQUEST_PLACE_BYTES);
  writeU64(place, 0, slot);
  writeU32(place, 8, txIndex);
  writeU32(place, 12, index);
  return concatBytes(requestPrefix(name), place);
}

/** The output that a row of a request names. Throws STORE_DAMAGED. */
export function requestOutpoint(key: Uint8Array, txId: Uint8Array): Uint8Array {
  if (key.length !== 2 + key[1] + REQUEST_PLACE_BYTES || txId.length !== 32) damaged('a request', 'has the wrong length');
  return outpointKey(txId, readU32(key, key.length - 4));
}

function numbered(kind: number, trie: number): Uint8Array {
  const key = new Uint8Array(1 + TRIE_BYTES);
  key[0] = kind;
  writeU32(key, 1, trie);
  return key;
}

export const trieKey = (trie: number): Uint8Array => numbered(CAGE_ROW.trie, trie);
export const deadKey = (trie: number): Uint8Array => numbered(CAGE_ROW.dead, trie);
export const trieOfKey = (key: Uint8Array): number => readU32(key, 1);

export function requestScriptKey(hash: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(CAGE_ROW.requestScript), hash);
}

/** Begins the rows of a trie in `cage_nodes` and `cage_values`. */
export function triePrefix(trie: number): Uint8Array {
  const prefix = new Uint8Array(TRIE_BYTES);
  writeU32(prefix, 0, trie);
  return prefix;
}

/** All of them, for a scan. */
export function trieRange(trie: number): { readonly gte: Uint8Array; readonly lt: Uint8Array } {
  const gte = triePrefix(trie);
  const lt = keyAfterPrefix(gte);
  assert(lt !== undefined, 'a number of a trie has one behind it');
  return { gte, lt };
}

export function factKey(trie: number, key: Uint8Array): Uint8Array {
  return concatBytes(triePrefix(trie), key);
}

const SLOT_BYTES = 8;

export function encodeFact(slot: number, value: Uint8Array): Uint8Array {
  const row = new Uint8Array(SLOT_BYTES + value.length);
  writeU64(row, 0, slot);
  row.set(value, SLOT_BYTES);
  return row;
}

/** The value alone, as a view. */
export const factValue = (row: Uint8Array): Uint8Array => row.subarray(SLOT_BYTES);
export const factSlot = (row: Uint8Array): number => readU64(row, 0);

export function encodeToken(row: TokenRow): Uint8Array {
  const { version, status, trie, txId, index, state, requestScript, migratedFrom } = row;
  const w = new CborWriter().array(7).uint(VERSIONS.indexOf(version)).uint(STATUSES.indexOf(status));
  optional(w, trie, (number) => w.uint(number));
  w.bytes(outpointKey(txId, index)).bytes(encodeCageDatum({ type: 'state', state }));
  optional(w, requestScript, (hash) => w.bytes(hash));
  optional(w, migratedFrom, (policy) => w.bytes(policy));
  return w.take();
}

export function decodeToken(bytes: Uint8Array): TokenRow {
  return stored('a token', bytes, (c) => {
    const fields = c.tuple(7, 'a token');
    const [version, status] = [VERSIONS[c.uint()], STATUSES[c.uint()]];
    const trie = c.nullish() ? null : c.uint();
    const outpoint = c.byteString();
    const datum = decodeCageDatum(c.byteString());
    const requestScript = c.nullish() ? null : c.byteString();
    const migratedFrom = c.nullish() ? null : c.byteString();
    c.close(fields);
    if (version === undefined || status === undefined || outpoint.length !== OUTPOINT_BYTES || datum?.type !== 'state') {
      return damaged('a token', 'has fields that mean nothing');
    }
    const [txId, index] = [outpointTxId(outpoint), outpointIndex(outpoint)];
    return { version, status, trie, txId, index, state: datum.state, requestScript, migratedFrom };
  });
}

export function encodeTrie({ facts, hiddenAt }: TrieRow): Uint8Array {
  const w = new CborWriter().array(2).uint(facts);
  return optional(w, hiddenAt, (height) => w.uint(height)).take();
}

export function decodeTrie(bytes: Uint8Array): TrieRow {
  return stored('a trie', bytes, (c) => {
    const fields = c.tuple(2, 'a trie');
    const row = { facts: c.uint(), hiddenAt: c.nullish() ? null : c.uint() };
    c.close(fields);
    return row;
  });
}

/** Undefined: all of them are zero, and there is no row. */
export function encodeCounters(counters: CageCounters): Uint8Array | undefined {
  const { nextTrie, tokens, diverged, requests, malformed, gone } = counters;
  const all = [nextTrie, tokens, diverged, requests, malformed, gone];
  if (all.every((count) => count === 0)) return undefined;
  const w = new CborWriter().array(all.length);
  for (const count of all) w.uint(count);
  return w.take();
}

export function decodeCounters(bytes: Uint8Array | undefined): CageCounters {
  if (bytes === undefined) return NO_COUNTERS;
  return stored('counters', bytes, (c) => {
    const fields = c.tuple(6, 'counters');
    const counters = { nextTrie: c.uint(), tokens: c.uint(), diverged: c.uint(), requests: c.uint(), malformed: c.uint(), gone: c.uint() };
    c.close(fields);
    return counters;
  });
}

export function readCounters(reader: Reader): CageCounters {
  return decodeCounters(reader.get(CAGE, COUNTERS_KEY));
}

function optional<T>(w: CborWriter, value: T | null, write: (value: T) => unknown): CborWriter {
  if (value === null) w.null();
  else write(value);
  return w;
}

/** A row that is whole; anything else is STORE_DAMAGED. */
function stored<T>(what: string, bytes: Uint8Array, read: (c: Cursor) => T): T {
  const c = new Cursor(bytes);
  try {
    const row = read(c);
    return c.at === bytes.length ? row : damaged(what, 'has bytes behind its end');
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    return damaged(what, error.message);
  }
}

export function damaged(what: string, why: string): never {
  throw new UnspentError('STORE_DAMAGED', `the row of ${what} in ${CAGE} ${why}`, { column: CAGE });
}
