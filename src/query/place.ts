/**
 * How people name a place on the chain: `slot:N`, `height:N`, a block hash,
 * `origin`, or a bare number, which is a slot.
 */
import type { Point } from '../ledgers/ledger.ts';
import { fromHex, isHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import type { Dialect } from './dialect.ts';
import type { Query } from './query.ts';

export type Place =
  | { readonly kind: 'slot'; readonly slot: number }
  | { readonly kind: 'height'; readonly height: number }
  | { readonly kind: 'hash'; readonly hash: Uint8Array }
  | { readonly kind: 'origin' };

/** `parseId` is the chain's own; without it a hash is taken as it stands. */
export function parsePlace(text: string, parseId: Dialect['parseId'] = fromHex): Place {
  if (text === 'origin') return { kind: 'origin' };
  const match = /^(?:(slot|height):)?(\d{1,15})$/.exec(text);
  if (match !== null)
    return match[1] === 'height' ? { kind: 'height', height: Number(match[2]) } : { kind: 'slot', slot: Number(match[2]) };
  if (isHex(text, 32)) return { kind: 'hash', hash: parseId(text) };
  throw new UnspentError('USAGE', `'${text}' is not a place on the chain: use slot:N, height:N, a block hash, origin, or a slot number`);
}

/** The block at a place (for a slot without a block: the newest before it); null is the origin. Throws POINT_UNKNOWN. */
export function pointAt(query: Query, place: Place, { formatId }: Pick<Dialect, 'formatId'>): Point | null {
  if (place.kind === 'origin') return null;
  const { head } = query;
  if (head === null) throw new UnspentError('POINT_UNKNOWN', 'the store has no block yet');
  if (place.kind === 'slot') {
    if (place.slot > head.slot) throw new UnspentError('POINT_UNKNOWN', `slot ${place.slot} is above our tip (slot ${head.slot})`);
    return query.blockAtSlot(place.slot);
  }
  const row = place.kind === 'height' ? query.blockAtHeight(place.height) : query.blockByHash(place.hash);
  if (row !== null) return row;
  const what = place.kind === 'height' ? `height ${place.height} (tip ${head.height})` : `block ${formatId(place.hash)}`;
  throw new UnspentError('POINT_UNKNOWN', `${what} is not on our chain`);
}
