/**
 * Datums of the cage protocol (MPFS) as Plutus data. A cage is a token locked at
 * a script; the datum of the output that holds it, the state, names the owner
 * and the root of the token's trie. A request is an output whose datum asks the
 * owner to insert, delete or update one key of that trie.
 *
 * The number of fields tells the version: v0 has neither a tip nor times.
 */
import { ARRAY, BYTES, Cursor } from '../../../util/cbor.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { isUnspentError } from '../../../util/errors.ts';
import { type ConstructorFields, readConstructor, readPlutusBytes, startConstructor, writePlutusBytes } from '../../../util/plutus.ts';
import { ASSET_NAME_BYTES_MAX } from '../../asset.ts';

export const KEY_HASH_BYTES = 28;
export const ROOT_BYTES = 32;

/** What the owner of a token asks for, and how long a request waits for what. Times are milliseconds. */
export interface CageTerms {
  /** Lovelace that the owner takes for each request. */
  readonly tip: bigint;
  /** From its submission on, a request can be applied for so long. */
  readonly processTime: bigint;
  /** After that it can be retracted for so long, and then rejected. */
  readonly retractTime: bigint;
}

/** The state of a token, as the datum of the output that holds it says. */
export interface CageState {
  /** Hash of the key that may apply requests. */
  readonly owner: Uint8Array;
  /** Of the token's trie; 32 zero bytes: it is empty. */
  readonly root: Uint8Array;
  /** Its terms; null in v0. */
  readonly terms: CageTerms | null;
}

/** What a request asks for. */
export type CageOperation =
  | { readonly type: 'insert'; readonly value: Uint8Array }
  /** `value`: what the key must have. */
  | { readonly type: 'delete'; readonly value: Uint8Array }
  | { readonly type: 'update'; readonly before: Uint8Array; readonly after: Uint8Array };

/** A request, as the datum of its output says. */
export interface CageRequest {
  /** Asset name of the token whose trie it is about. */
  readonly token: Uint8Array;
  /** Hash of the key that may retract it. */
  readonly owner: Uint8Array;
  /** The key of the trie that it is about. */
  readonly key: Uint8Array;
  /** What to do with it. */
  readonly operation: CageOperation;
  /** Null in v0. `submittedAt`: POSIX milliseconds, as its author says. */
  readonly terms: { readonly tip: bigint; readonly submittedAt: bigint } | null;
}

export type CageDatum = { readonly type: 'request'; readonly request: CageRequest } | { readonly type: 'state'; readonly state: CageState };

const DATUM = { request: 0, state: 1 } as const;
const OPERATION = { insert: 0, delete: 1, update: 2 } as const;
/** Every record type of the protocol has one constructor. */
const RECORD = 0;

/** Null: these bytes are no datum of the protocol, which is no error: anybody can put anything anywhere. */
export function decodeCageDatum(bytes: Uint8Array): CageDatum | null {
  if (!mayBeRequest(bytes) && !mayBeState(bytes)) return null;
  return decoded(bytes, (c) =>
    readConstructor<CageDatum>(c, (alternative, fields) => {
      if (alternative > DATUM.state) c.fail('no datum of a cage');
      const inner = fields.next();
      const datum: CageDatum =
        alternative === DATUM.request ? { type: 'request', request: readRequest(inner) } : { type: 'state', state: readState(inner) };
      fields.end();
      return datum;
    }),
  );
}

/** What a decoder makes of all the bytes; null when they are something else. */
export function decoded<T>(bytes: Uint8Array, read: (c: Cursor) => T): T | null {
  const c = new Cursor(bytes);
  try {
    const value = read(c);
    return c.at === bytes.length ? value : null;
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    return null;
  }
}

function readRecord<T>(c: Cursor, what: string, read: (fields: ConstructorFields) => T): T {
  const at = c.at;
  return readConstructor(c, (alternative, fields) => {
    if (alternative !== RECORD) c.fail(`no ${what}`, at);
    return read(fields);
  });
}

function readState(c: Cursor): CageState {
  return readRecord(c, 'state', (fields) => {
    const owner = readPlutusBytes(fields.next(), KEY_HASH_BYTES);
    const root = readPlutusBytes(fields.next(), ROOT_BYTES);
    if (!fields.more()) return { owner, root, terms: null };
    const tip = c.bigInt();
    const processTime = fields.next().bigInt();
    const retractTime = fields.next().bigInt();
    fields.end();
    return { owner, root, terms: { tip, processTime, retractTime } };
  });
}

function readRequest(c: Cursor): CageRequest {
  return readRecord(c, 'request', (fields) => {
    const token = readTokenName(fields.next());
    const owner = readPlutusBytes(fields.next(), KEY_HASH_BYTES);
    const key = readPlutusBytes(fields.next());
    const operation = readOperation(fields.next());
    if (!fields.more()) return { token, owner, key, operation, terms: null };
    const tip = c.bigInt();
    const submittedAt = fields.next().bigInt();
    fields.end();
    return { token, owner, key, operation, terms: { tip, submittedAt } };
  });
}

export function readTokenName(c: Cursor): Uint8Array {
  return readRecord(c, 'token', (fields) => {
    const at = c.at;
    const name = readPlutusBytes(fields.next());
    if (name.length > ASSET_NAME_BYTES_MAX) c.fail('longer than the name of an asset', at);
    fields.end();
    return name;
  });
}

export function readOperation(c: Cursor): CageOperation {
  const at = c.at;
  return readConstructor<CageOperation>(c, (alternative, fields) => {
    if (alternative > OPERATION.update) c.fail('no operation', at);
    const first = readPlutusBytes(fields.next());
    let operation: CageOperation;
    if (alternative === OPERATION.update) operation = { type: 'update', before: first, after: readPlutusBytes(fields.next()) };
    else operation = { type: alternative === OPERATION.insert ? 'insert' : 'delete', value: first };
    fields.end();
    return operation;
  });
}

export function encodeCageDatum(datum: CageDatum): Uint8Array {
  const w = startConstructor(new CborWriter(), DATUM[datum.type]);
  if (datum.type === 'state') writeState(w, datum.state);
  else writeRequest(w, datum.request);
  return w.end().take();
}

function writeState(w: CborWriter, { owner, root, terms }: CageState): void {
  startConstructor(w, RECORD).bytes(owner).bytes(root);
  if (terms !== null) w.int(terms.tip).int(terms.processTime).int(terms.retractTime);
  w.end();
}

function writeRequest(w: CborWriter, { token, owner, key, operation, terms }: CageRequest): void {
  writeTokenName(startConstructor(w, RECORD), token).bytes(owner);
  writeOperation(writePlutusBytes(w, key), operation);
  if (terms !== null) w.int(terms.tip).int(terms.submittedAt);
  w.end();
}

export function writeTokenName(w: CborWriter, token: Uint8Array): CborWriter {
  return startConstructor(w, RECORD).bytes(token).end();
}

export function writeOperation(w: CborWriter, operation: CageOperation): CborWriter {
  startConstructor(w, OPERATION[operation.type]);
  if (operation.type === 'update') writePlutusBytes(writePlutusBytes(w, operation.before), operation.after);
  else writePlutusBytes(w, operation.value);
  return w.end();
}

/*
 * What follows is asked of every datum of a chain, nearly all of which are of other protocols: an error costs a hundred
 * times what these comparisons do, and they make no object. Heads longer than need be are left to the decoder.
 */

const NO = -1;
/** Not in the usual form: it may be anything. */
const UNUSUAL = -2;

const TAG_HEAD = 0xd8;
const WIDE_TAG_HEAD_MAX = 0xdb;
const GENERAL_TAG = 102;
const FIRST_TAG = 121;
const LIST_OPEN = 0x9f;
const LONG_BYTES_HEAD = 0x58;
const BREAK = 0xff;

/** False only where the datum is surely no request. */
export function mayBeRequest(bytes: Uint8Array): boolean {
  const outer = fieldsAt(bytes, 0, DATUM.request);
  const inner = outer < 0 ? outer : fieldsAt(bytes, outer, RECORD);
  const token = inner < 0 ? inner : fieldsAt(bytes, inner, RECORD);
  let at = token < 0 ? token : bytesEnd(bytes, token);
  if (at < 0) return at === UNUSUAL;
  if (bytes[token - 1] === LIST_OPEN && bytes[at++] !== BREAK) return false;
  // An address begins like a token, but has no bytes behind its first part.
  at = hashEnd(bytes, at, KEY_HASH_BYTES);
  if (at >= 0) at = bytesEnd(bytes, at);
  if (at < 0) return at === UNUSUAL;
  const head = bytes[at];
  if (head !== TAG_HEAD) return head > TAG_HEAD && head <= WIDE_TAG_HEAD_MAX;
  const tag = bytes[at + 1];
  return tag === GENERAL_TAG || (tag >= FIRST_TAG && tag <= FIRST_TAG + OPERATION.update);
}

/** False only where the datum is surely no state. */
function mayBeState(bytes: Uint8Array): boolean {
  const outer = fieldsAt(bytes, 0, DATUM.state);
  const inner = outer < 0 ? outer : fieldsAt(bytes, outer, RECORD);
  const root = inner < 0 ? inner : hashEnd(bytes, inner, KEY_HASH_BYTES);
  const end = root < 0 ? root : hashEnd(bytes, root, ROOT_BYTES);
  return end !== NO;
}

/** Where the fields of the constructor at `at` begin, if it is this one. */
function fieldsAt(bytes: Uint8Array, at: number, alternative: number): number {
  const head = bytes[at];
  if (head !== TAG_HEAD) return head > TAG_HEAD && head <= WIDE_TAG_HEAD_MAX ? UNUSUAL : NO;
  const tag = bytes[at + 1];
  if (tag !== FIRST_TAG + alternative) return tag === GENERAL_TAG ? UNUSUAL : NO;
  const list = bytes[at + 2];
  if (list === LIST_OPEN) return at + 3;
  if (list >> 5 !== ARRAY) return NO;
  return (list & 0x1f) < 24 ? at + 3 : UNUSUAL;
}

/** Where the byte string at `at` ends. */
function bytesEnd(bytes: Uint8Array, at: number): number {
  const head = bytes[at];
  if (head >> 5 !== BYTES) return NO;
  const short = head & 0x1f;
  if (short < 24) return at + 1 + short;
  return head === LONG_BYTES_HEAD ? at + 2 + bytes[at + 1] : UNUSUAL;
}

/** Where the byte string at `at` ends, if it has this length, which is above 23. */
function hashEnd(bytes: Uint8Array, at: number, length: number): number {
  if (bytes[at] === LONG_BYTES_HEAD) return bytes[at + 1] === length ? at + 2 + length : NO;
  const end = bytesEnd(bytes, at);
  return end === UNUSUAL ? UNUSUAL : NO;
}
