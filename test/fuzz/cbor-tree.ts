/**
 * A block as a tree of CBOR items, and ways to write the same tree down again
 * in other bytes: what a sound decoder must not care about. Also tells where
 * the heads stand, so that damage can be aimed.
 */
import assert from 'node:assert/strict';
import { ARRAY, BYTES, Cursor, MAP, SIMPLE, TAG, TEXT } from '../../src/util/cbor.ts';

export interface Item {
  readonly major: number;
  readonly start: number;
  readonly end: number;
  /** Where the head ends: content or items follow. */
  readonly body: number;
  readonly hi: number;
  readonly lo: number;
  readonly indefinite: boolean;
  /** Elements, or keys and values in turn, or what a tag is on, or pieces of a string. */
  readonly items: readonly Item[];
}

export function readTree(raw: Uint8Array): Item {
  const cursor = new Cursor(raw);
  const item = readItem(cursor);
  assert.equal(cursor.at, raw.length);
  return item;
}

function readItem(cursor: Cursor): Item {
  const start = cursor.at;
  const definite = cursor.head();
  const { major, hi, lo, at: body } = cursor;
  const items: Item[] = [];
  const isString = major === BYTES || major === TEXT;
  if (!definite) {
    while (cursor.bytes[cursor.at] !== 0xff) items.push(readItem(cursor));
    cursor.at++;
  } else if (isString) cursor.at += lo;
  else {
    const count = major === ARRAY ? lo : major === MAP ? 2 * lo : major === TAG ? 1 : 0;
    for (let i = 0; i < count; i++) items.push(readItem(cursor));
  }
  return { major, start, end: cursor.at, body, hi, lo, indefinite: !definite, items };
}

/** Every item, outermost first. */
export function* everyItem(item: Item): Iterable<Item> {
  yield item;
  for (const inner of item.items) yield* everyItem(inner);
}

/** `indefinite`, `definite`: arrays and maps. `wide`: every head eight bytes longer than its first. */
export type Style = 'indefinite' | 'definite' | 'wide';

export function rewrite(raw: Uint8Array, style: Style): Uint8Array {
  const out: number[] = [];
  writeItem(raw, readTree(raw), style, out);
  return Uint8Array.from(out);
}

function writeItem(raw: Uint8Array, item: Item, style: Style, out: number[]): void {
  const { major, start, body, end, items } = item;
  const isContainer = major === ARRAY || major === MAP;
  if (isContainer && style !== 'wide') {
    const count = major === MAP ? items.length / 2 : items.length;
    if (style === 'indefinite') out.push((major << 5) | 31);
    else out.push((major << 5) | 26, count >>> 24, (count >>> 16) & 0xff, (count >>> 8) & 0xff, count & 0xff);
    for (const inner of items) writeItem(raw, inner, style, out);
    if (style === 'indefinite') out.push(0xff);
    return;
  }
  if (style === 'wide' && !item.indefinite && major !== SIMPLE) pushWide(item, out);
  else for (let at = start; at < body; at++) out.push(raw[at]);
  for (const inner of items) writeItem(raw, inner, style, out);
  if (item.indefinite) out.push(0xff);
  else if (items.length === 0) for (let at = body; at < end; at++) out.push(raw[at]);
}

function pushWide({ major, hi, lo }: Item, out: number[]): void {
  out.push((major << 5) | 27);
  for (const half of [hi, lo]) out.push(half >>> 24, (half >>> 16) & 0xff, (half >>> 8) & 0xff, half & 0xff);
}
