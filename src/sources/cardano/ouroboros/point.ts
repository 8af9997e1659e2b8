/**
 * Points and tips as they are on the wire: a point is `[slot, hash]`, or `[]`
 * for the origin, which is null here; a tip is a point and its block number.
 */
import { equalBytes } from '../../../util/bytes.ts';
import { type Cursor, INDEFINITE } from '../../../util/cbor.ts';
import type { CborWriter } from '../../../util/cbor-write.ts';

export type WirePoint = { readonly slot: number; readonly hash: Uint8Array } | null;

export interface WireTip {
  readonly point: WirePoint;
  /** 0 for an empty chain. */
  readonly height: number;
}

export function writePoint(w: CborWriter, point: WirePoint): CborWriter {
  return point === null ? w.array(0) : w.array(2).uint(point.slot).bytes(point.hash);
}

export function writeTip(w: CborWriter, tip: WireTip): CborWriter {
  return writePoint(w.array(2), tip.point).uint(tip.height);
}

export function readPoint(c: Cursor): WirePoint {
  const at = c.at;
  const count = c.array();
  if (count === 0) return null;
  if (count === INDEFINITE && !c.more(count, 0)) return null;
  if (count !== INDEFINITE && count !== 2) c.fail(`point has ${count} fields, expected 2`, at);
  const slot = c.uint();
  c.span(32);
  const hash = c.bytes.subarray(c.start, c.stop);
  c.close(count);
  return { slot, hash };
}

export function readTip(c: Cursor): WireTip {
  const count = c.tuple(2, 'tip');
  const point = readPoint(c);
  const height = c.uint();
  c.close(count);
  return { point, height };
}

export function samePoint(a: WirePoint, b: WirePoint): boolean {
  if (a === null || b === null) return a === b;
  return a.slot === b.slot && equalBytes(a.hash, b.hash);
}
