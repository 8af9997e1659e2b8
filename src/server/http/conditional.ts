/**
 * Asking again for what one has. The state is a function of the block it is at,
 * so the hash of that block, with the form of the answer, is a validator for
 * every read. Weak, because an answer may be spelled differently and mean the
 * same, and because pruning may forget a spent output without a new block: what
 * a client kept is then still true, only no longer to be had here.
 */
import { VERSION } from '../../util/version.ts';

export type ResponseFormat = 'json' | 'cbor';

export const MEDIA_TYPES: Readonly<Record<ResponseFormat, string>> = { json: 'application/json; charset=utf-8', cbor: 'application/cbor' };

/** `hash` null: before the first block. Another version of the server may write its rows differently. */
export function etagOf(hash: string | null, form: ResponseFormat): string {
  return `W/"${hash ?? 'origin'}-${form}-${VERSION}"`;
}

/** RFC 9110, 13.1.2, by weak comparison. `*` asks whether there is anything at all, which we do not know before the work. */
export function isFresh(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag) return true;
  const bare = opaque(etag);
  return ifNoneMatch.split(',').some((given) => opaque(given.trim()) === bare);
}

function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}

/** CBOR only where it is asked for by name, and not less than JSON. */
export function formOf(accept: string | undefined, format: ResponseFormat | undefined): ResponseFormat {
  if (format !== undefined) return format;
  if (accept === undefined || !/cbor/i.test(accept)) return 'json';
  const wanted = new Map(accept.split(',').map(preference));
  const cbor = wanted.get('application/cbor') ?? 0;
  return cbor > 0 && cbor >= (wanted.get('application/json') ?? 0) ? 'cbor' : 'json';
}

function preference(part: string): [type: string, quality: number] {
  const [type, ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  return [type, quality === undefined ? 1 : Number(quality.slice(2)) || 0];
}
