/**
 * Short answers, remembered until the store moves. An answer is a function of
 * its URL, its form and the block it is at; wallets and pages ask the same again
 * and again while no block comes, and get it without another look into the
 * store. Failures, streams and long answers are not kept.
 */
import type { FastifyReply } from 'fastify';
import { REMEMBERED_ANSWER_CHARS_MAX, REMEMBERED_CHARS_MAX } from '../../util/limits.ts';
import type { Encoded } from './rows.ts';

/** Headers that belong to an answer and not to its point. */
const OWN_HEADERS = ['x-next-after', 'link'] as const;

interface Kept {
  readonly body: Encoded;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export class Remembered {
  #answers = new Map<string, Kept>();
  #chars = 0;

  /** The body, its headers set; undefined: nobody asked for it yet. */
  take(name: string, reply: FastifyReply): Encoded | undefined {
    const kept = this.#answers.get(name);
    if (kept === undefined) return undefined;
    for (const [header, value] of kept.headers) reply.header(header, value);
    return kept.body;
  }

  keep(name: string, body: Encoded, reply: FastifyReply): void {
    if (body.length > REMEMBERED_ANSWER_CHARS_MAX) return;
    if (this.#chars + name.length + body.length > REMEMBERED_CHARS_MAX) this.forget();
    this.#chars += name.length + body.length;
    const headers = OWN_HEADERS.flatMap((header) => {
      const value = reply.getHeader(header);
      return typeof value === 'string' ? [[header, value] as const] : [];
    });
    this.#answers.set(name, { body, headers });
  }

  /** The store has moved. */
  forget(): void {
    if (this.#answers.size > 0) this.#answers = new Map();
    this.#chars = 0;
  }
}
