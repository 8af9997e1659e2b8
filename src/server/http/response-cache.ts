/**
 * Short answers, cached until the store moves. An answer is a function of its
 * URL, its form and the block it is at; wallets and pages ask for the same again
 * and again while no block comes, and then get it without a read of the store.
 * Failures, streams and long answers are not cached.
 */
import type { FastifyReply } from 'fastify';
import { CACHED_RESPONSE_CHARS_MAX, RESPONSE_CACHE_CHARS_MAX } from '../../util/limits.ts';
import type { EncodedRow } from './rows.ts';

/** Headers that belong to an answer and not to its point. */
const OWN_HEADERS = ['x-next-after', 'link'] as const;

interface CachedResponse {
  readonly body: EncodedRow;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export class ResponseCache {
  #responses = new Map<string, CachedResponse>();
  #chars = 0;

  /** The body, with its headers set on the reply; undefined: not in the cache. */
  get(name: string, reply: FastifyReply): EncodedRow | undefined {
    const cached = this.#responses.get(name);
    if (cached === undefined) return undefined;
    for (const [header, value] of cached.headers) reply.header(header, value);
    return cached.body;
  }

  set(name: string, body: EncodedRow, reply: FastifyReply): void {
    if (body.length > CACHED_RESPONSE_CHARS_MAX) return;
    if (this.#chars + name.length + body.length > RESPONSE_CACHE_CHARS_MAX) this.clear();
    this.#chars += name.length + body.length;
    const headers = OWN_HEADERS.flatMap((header) => {
      const value = reply.getHeader(header);
      return typeof value === 'string' ? [[header, value] as const] : [];
    });
    this.#responses.set(name, { body, headers });
  }

  /** To be called when the store has moved to another block. */
  clear(): void {
    if (this.#responses.size > 0) this.#responses = new Map();
    this.#chars = 0;
  }
}
