/**
 * Rows of bytes in the forms that PostgreSQL itself sends and receives: a list as
 * one parameter (`$1::bytea[]`), and the rows of COPY ... WITH (FORMAT binary).
 * Bytes go as they are, not as hexadecimal text of twice the length.
 */
import { writeU32 } from '../util/bytes.ts';

const BYTEA = 17;
const ARRAY_HEAD_BYTES = 20;

/** A list of bytes, as a parameter that is declared `bytea[]`. */
export function byteaList(items: readonly Uint8Array[]): Buffer {
  let length = ARRAY_HEAD_BYTES;
  for (const item of items) length += 4 + item.length;
  const bytes = Buffer.allocUnsafe(length);
  // Dimensions, no nulls, type of the elements; elements, number of the first.
  writeU32(bytes, 0, 1);
  writeU32(bytes, 4, 0);
  writeU32(bytes, 8, BYTEA);
  writeU32(bytes, 12, items.length);
  writeU32(bytes, 16, 1);
  let at = ARRAY_HEAD_BYTES;
  for (const item of items) {
    writeU32(bytes, at, item.length);
    bytes.set(item, at + 4);
    at += 4 + item.length;
  }
  return bytes;
}

const COPY_HEAD = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);

/** Rows of two columns of bytes, with head and trailer. */
export function binaryCopyRows(rows: readonly (readonly [Uint8Array, Uint8Array])[]): Buffer {
  let length = COPY_HEAD.length + 2;
  for (const [key, value] of rows) length += 10 + key.length + value.length;
  const bytes = Buffer.allocUnsafe(length);
  bytes.set(COPY_HEAD, 0);
  let at = COPY_HEAD.length;
  for (const [key, value] of rows) {
    bytes[at] = 0;
    bytes[at + 1] = 2;
    writeU32(bytes, at + 2, key.length);
    bytes.set(key, at + 6);
    at += 6 + key.length;
    writeU32(bytes, at, value.length);
    bytes.set(value, at + 4);
    at += 4 + value.length;
  }
  bytes[at] = 0xff;
  bytes[at + 1] = 0xff;
  return bytes;
}
