/**
 * Pages of other origins (CORS). A browser lets a page read an answer from
 * elsewhere only if the answer names the page's origin, and asks first (a
 * preflight) before it sends anything unusual. Nobody is named unless
 * `server.cors` says so:
 *
 *   https://app.example.org   its pages may read and send
 *   *                         pages of every origin may read, not send
 *
 * Cookies and the like are never asked for, so what a page can do here any other
 * program could; a token has to be given to the page.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Config } from '../../config/schema.ts';
import { UnspentError } from '../../util/errors.ts';
import { CORS_HEADER_NAMES_CHARS_MAX, CORS_PREFLIGHT_SECONDS } from '../../util/limits.ts';

const EVERY_ORIGIN = '*';
const READ_METHODS: readonly string[] = ['GET', 'HEAD'];
const ALL_METHODS: readonly string[] = [...READ_METHODS, 'POST', 'PUT', 'DELETE'];

/** Headers of answers that clients read, besides those that every page may. */
const EXPOSED = [
  'etag',
  'link',
  'retry-after',
  'x-block-hash',
  'x-block-height',
  'x-block-slot',
  'x-most-recent-checkpoint',
  'x-next-after',
].join(', ');

export class AllowedOrigins {
  /** True: pages of every origin may read. */
  readonly isOpen: boolean;
  private readonly named: ReadonlySet<string>;

  /** `isPublic`: others than this machine can reach the server anyway. Throws CONFIG. */
  constructor({ cors }: Pick<Config['server'], 'cors'>, isPublic: boolean) {
    const given = cors
      .split(',')
      .map((origin) => origin.trim().toLowerCase())
      .filter((origin) => origin !== '');
    this.isOpen = given.includes(EVERY_ORIGIN);
    this.named = new Set(given.filter((origin) => origin !== EVERY_ORIGIN));
    for (const origin of this.named) if (!isOrigin(origin)) throw wrong(`'${origin}' is no origin, such as https://app.example.org`);
    if (this.isOpen && !isPublic)
      throw wrong('* is for public servers: name the origins, or set server.allowPublic if every page may read from this machine');
  }

  get isEmpty(): boolean {
    return !this.isOpen && this.named.size === 0;
  }

  /** Whether its pages may send as well. */
  names(origin: string): boolean {
    return this.named.has(origin.toLowerCase());
  }

  /** What pages of an origin may ask; none of it where they may not. */
  methodsFor(origin: string): readonly string[] {
    if (this.names(origin)) return ALL_METHODS;
    return this.isOpen ? READ_METHODS : [];
  }
}

/** Names the origin of a request on every answer to it, also on one that refuses it. Before all other hooks. */
export function nameOrigins(app: FastifyInstance, origins: AllowedOrigins): void {
  if (origins.isEmpty) return;
  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.raw.headers;
    if (origin !== undefined && origins.methodsFor(origin).length > 0) {
      reply
        .header('access-control-allow-origin', origins.names(origin) ? origin : EVERY_ORIGIN)
        .header('access-control-expose-headers', EXPOSED);
    }
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // Shapes set it too, for what their answers depend on.
    const vary = reply.getHeader('vary');
    reply.header('vary', vary === undefined ? 'origin' : `${String(vary)}, origin`);
    if (reply.hasHeader('access-control-allow-origin')) reply.header('cross-origin-resource-policy', 'cross-origin');
    done();
  });
}

/** Answers a preflight of an origin that is allowed; false: it is none. */
export function answerPreflight({ method, headers }: IncomingMessage, reply: FastifyReply, origins: AllowedOrigins): boolean {
  const { origin } = headers;
  if (method !== 'OPTIONS' || origin === undefined || headers['access-control-request-method'] === undefined) return false;
  const methods = origins.methodsFor(origin);
  if (methods.length === 0) return false;
  const wanted = headers['access-control-request-headers'] ?? '';
  if (/^[\w\-, ]+$/.test(wanted) && wanted.length <= CORS_HEADER_NAMES_CHARS_MAX) reply.header('access-control-allow-headers', wanted);
  reply
    .code(204)
    .header('access-control-allow-methods', methods.join(', '))
    .header('access-control-max-age', `${CORS_PREFLIGHT_SECONDS}`)
    .send();
  return true;
}

/** As browsers write it: of a page `scheme://host`, with a port that is not the usual one; of an extension its scheme and id. */
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/*?#@\s]+$/.test(text)) return false;
  return !text.startsWith('http') || (URL.canParse(text) && new URL(text).origin === text);
}

function wrong(message: string): UnspentError {
  return new UnspentError('CONFIG', `server.cors: ${message}`, { setting: 'server.cors' });
}
