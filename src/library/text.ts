/**
 * What programs write as text, as what it names: outputs by `TXID#INDEX`, blocks
 * by a place or a point. Ids are read the way people of the family write them.
 */
import type { Point } from '../ledgers/ledger.ts';
import type { Dialect } from '../query/dialect.ts';
import { parsePlace, pointAt } from '../query/place.ts';
import type { Query } from '../query/query.ts';
import type { PointJson } from '../query/render.ts';

/**
 * A block of the chain: `height:N`, `slot:N` (the newest block not above it), its hash, `origin` (before the first
 * block), or a point that a read or an event gave.
 */
export type BlockPlace = string | Pick<PointJson, 'hash'>;

/** Null: the origin. Throws USAGE or POINT_UNKNOWN. */
export function findBlock(query: Query, place: BlockPlace, dialect: Dialect): Point | null {
  const text = typeof place === 'string' ? place : place.hash;
  return pointAt(query, parsePlace(text, dialect.parseId), dialect);
}
