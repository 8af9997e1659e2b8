/**
 * How interchange records are written and read: canonical CBOR (RFC 8949,
 * 4.2.1), maps with integer keys in ascending order, absent fields left out. A
 * record has one form: what reads back but would be written otherwise is
 * refused.
 */
import { equalBytes } from '../util/bytes.ts';
import { Cursor } from '../util/cbor.ts';
import { CborWriter } from '../util/cbor-write.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';

/** Each form with how it is written and read. */
export interface RecordForm<T> {
  readonly name: string;
  write(w: CborWriter, value: T): void;
  read(c: Cursor): T;
}

export function encodeCanonical<T>(form: RecordForm<T>, value: T): Uint8Array {
  const w = new CborWriter(512);
  form.write(w, value);
  return w.take();
}

/** Throws USAGE for bytes that are not this record in its one form. */
export function decodeCanonical<T>(form: RecordForm<T>, bytes: Uint8Array): T {
  const value = readAll(form, bytes);
  if (!equalBytes(encodeCanonical(form, value), bytes)) throw refused(form.name, 'its CBOR is not canonical');
  return value;
}

function readAll<T>(form: RecordForm<T>, bytes: Uint8Array): T {
  try {
    const cursor = new Cursor(bytes);
    const value = form.read(cursor);
    if (cursor.at !== bytes.length) cursor.fail('bytes behind the record');
    return value;
  } catch (cause) {
    if (isUnspentError(cause, 'BLOCK_INVALID')) throw refused(form.name, cause.message, cause);
    throw cause;
  }
}

function refused(name: string, why: string, cause?: unknown): UnspentError {
  return new UnspentError('USAGE', `not a ${name}: ${why}`, {}, cause);
}

/** Reads the fields of a map in order; those that are not there stay as they are. */
export function readFields(c: Cursor, what: string, read: (key: number) => boolean): void {
  for (let i = 0, pairs = c.map(); c.more(pairs, i); i++) {
    const at = c.at;
    const key = c.uint();
    if (!read(key)) c.fail(`${what} has no field ${key}`, at);
  }
}

export function required<T>(c: Cursor, value: T | null, what: string): T {
  return value === null ? c.fail(`${what} is missing`) : value;
}

export function bytesIf(w: CborWriter, key: number, value: Uint8Array | null): void {
  if (value !== null) w.uint(key).bytes(value);
}

export function uintIf(w: CborWriter, key: number, value: number | null): void {
  if (value !== null) w.uint(key).uint(value);
}

export function fieldCount(...fields: readonly boolean[]): number {
  return fields.filter((there) => there).length;
}

/** `true`; a field that would be false is left out. */
export function readTrue(c: Cursor): boolean {
  if (c.bytes[c.at] !== 0xf5) c.fail('expected true');
  c.at++;
  return true;
}

export function readList<T>(c: Cursor, read: () => T): T[] {
  const list: T[] = [];
  for (let i = 0, n = c.array(); c.more(n, i); i++) list.push(read());
  return list;
}

/** A record while it is read. */
export type PartialRecord<T> = { -readonly [K in keyof T]: T[K] | null };
