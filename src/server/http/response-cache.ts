/**
 * Short answers, cached until the store moves. An answer is a function of its
 * URL, its form and the block it is at; wallets and pages ask for the same again
 * and again while no block comes, and then get it without a read of the store.
 * A short answer that was made quickly is cached when it is asked for the second
 * time: most are asked for once, and to keep them costs a part of making them.
 * Failures, streams and long answers are not cached.
 */
import type { FastifyReply } from 'fastify';
import { CACHED_RESPONSE_CHARS_MAX, RESPONSE_CACHE_CHARS_MAX, RESPONSE_NAMES_REMEMBERED, SHORT_RESPONSE_CHARS } from '../../util/limits.ts';
import type { ResponseFormat } from './conditional.ts';
import type { EncodedRow } from './rows.ts';

/** Headers that belong to an answer and not to its point. */
const OWN_HEADERS = ['x-next-after', 'link'] as const;

interface CachedResponse {
  readonly body: EncodedRow;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export class ResponseCache {
  readonly #responses = { json: new Map<string, CachedResponse>(), cbor: new Map<string, CachedResponse>() };
  /** Hashes of URLs that were asked for, each in its place until another one comes there. */
  readonly #asked = new Uint32Array(RESPONSE_NAMES_REMEMBERED);
  #chars = 0;

  /** The body, with its headers set on the reply; undefined: not in the cache. */
  get(form: ResponseFormat, url: string, reply: FastifyReply): EncodedRow | undefined {
    const cached = this.#responses[form].get(url);
    if (cached === undefined) return undefined;
    for (const [header, value] of cached.headers) reply.header(header, value);
    return cached.body;
  }

  /** `isCheap`: to make it took no longer than a slice. */
  set(form: ResponseFormat, url: string, body: EncodedRow, reply: FastifyReply, isCheap: boolean): void {
    if (body.length > CACHED_RESPONSE_CHARS_MAX) return;
    if (isCheap && body.length <= SHORT_RESPONSE_CHARS && !this.#isAskedAgain(form, url)) return;
    if (this.#chars + url.length + body.length > RESPONSE_CACHE_CHARS_MAX) this.#empty();
    this.#chars += url.length + body.length;
    const headers = OWN_HEADERS.flatMap((header) => {
      const value = reply.getHeader(header);
      return typeof value === 'string' ? [[header, value] as const] : [];
    });
    this.#responses[form].set(url, { body, headers });
  }

  /** To be called when the store has moved to another block. */
  clear(): void {
    this.#empty();
    this.#asked.fill(0);
  }

  #empty(): void {
    for (const responses of Object.values(this.#responses)) responses.clear();
    this.#chars = 0;
  }

  #isAskedAgain(form: ResponseFormat, url: string): boolean {
    const hash = hashOf(form, url);
    const place = hash % RESPONSE_NAMES_REMEMBERED;
    if (this.#asked[place] === hash) return true;
    this.#asked[place] = hash;
    return false;
  }
}

/** Of FNV-1a, 32 bits, never 0. Two URLs of one hash: one of them is cached sooner, and no more. */
function hashOf(form: ResponseFormat, url: string): number {
  let hash = form === 'json' ? 0x811c9dc5 : 0x050c5d1f;
  for (let i = 0; i < url.length; i++) hash = Math.imul(hash ^ url.charCodeAt(i), 0x01000193);
  return hash >>> 0 || 1;
}
