/**
 * Keys and rows between the thread that reads and the thread that asks the
 * database: in one piece of memory, which is handed over and not copied. A
 * message of a thousand small arrays costs a hundred times as much.
 *
 *   keys    length u32, bytes, for each
 *   values  length u32 (all ones: there is none), bytes, for each
 *   rows    length of the key u32, length of the value u32, key, value, for each
 */
import type { Row } from '../../engine/engine.ts';

const NONE = 0xffff_ffff;

export function packKeys(keys: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return packValues(keys);
}

export function unpackKeys(packed: Uint8Array): Uint8Array[] {
  return unpackValues(packed) as Uint8Array[];
}

export function packValues(values: readonly (Uint8Array | undefined)[]): Uint8Array<ArrayBuffer> {
  let size = 0;
  for (const value of values) size += 4 + (value?.length ?? 0);
  const packed = new Uint8Array(size);
  const view = new DataView(packed.buffer);
  let at = 0;
  for (const value of values) {
    view.setUint32(at, value?.length ?? NONE);
    at += 4;
    if (value === undefined) continue;
    packed.set(value, at);
    at += value.length;
  }
  return packed;
}

/** Views of the packed bytes. */
export function unpackValues(packed: Uint8Array): (Uint8Array | undefined)[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
  const values: (Uint8Array | undefined)[] = [];
  for (let at = 0; at < packed.length; ) {
    const length = view.getUint32(at);
    at += 4;
    values.push(length === NONE ? undefined : packed.subarray(at, at + length));
    if (length !== NONE) at += length;
  }
  return values;
}

export function packRows(rows: readonly Row[]): Uint8Array<ArrayBuffer> {
  let size = 0;
  for (const [key, value] of rows) size += 8 + key.length + value.length;
  const packed = new Uint8Array(size);
  const view = new DataView(packed.buffer);
  let at = 0;
  for (const [key, value] of rows) {
    view.setUint32(at, key.length);
    view.setUint32(at + 4, value.length);
    packed.set(key, at + 8);
    packed.set(value, at + 8 + key.length);
    at += 8 + key.length + value.length;
  }
  return packed;
}

/** Views of the packed bytes. */
export function unpackRows(packed: Uint8Array): Row[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
  const rows: Row[] = [];
  for (let at = 0; at < packed.length; ) {
    const keyEnd = at + 8 + view.getUint32(at);
    const end = keyEnd + view.getUint32(at + 4);
    rows.push([packed.subarray(at + 8, keyEnd), packed.subarray(keyEnd, end)]);
    at = end;
  }
  return rows;
}
