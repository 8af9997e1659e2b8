/**
 * Who may ask, and what an answer may do in a browser. Loopback unless told
 * otherwise; a name in `Host` that is not ours is refused, because a page from
 * elsewhere can point its own name at this machine (DNS rebinding); the token is
 * compared without telling how much of it was right. No answer ever allows
 * another origin to read it.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/schema.ts';
import { UnspentError } from '../util/errors.ts';
import { HTTP_URL_CHARS_MAX } from '../util/limits.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without the token too: health, and files that say nothing of the store. */
    readonly withoutToken?: boolean;
  }
}

/** No script, style or picture from elsewhere, none inside a document, no frame around it. */
const CONTENT_POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

/** Spellings of a `Host` that are remembered as ours, so that most requests cost one lookup. */
const REMEMBERED_HOSTS_MAX = 64;

/** Throws CONFIG when the server would be open to others without anybody having said so. */
export function checkBind({ host, token, allowPublic }: Config['server']): void {
  if (isLoopback(host) || token !== '' || allowPublic) return;
  throw new UnspentError(
    'CONFIG',
    `server.host ${host} can be reached by others; set server.token, or server.allowPublic where something else guards it`,
    { setting: 'server.host' },
  );
}

export function isLoopback(host: string): boolean {
  const bare = withoutBrackets(host);
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}

/** One hook before everything else, on every route and where there is none. */
export function guard(app: FastifyInstance, { server }: Config): void {
  checkBind(server);
  const isOurs = hostCheck(server);
  const isToken = server.token === '' ? null : tokenCheck(server.token);
  app.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
    protect(reply);
    const { raw } = request;
    if ((raw.url?.length ?? 0) > HTTP_URL_CHARS_MAX) return done(tooLong());
    if (!isOurs(raw)) return done(foreign(raw));
    if (isToken !== null && request.routeOptions.config.withoutToken !== true && !isToken(raw.headers.authorization)) {
      reply.header('www-authenticate', 'Bearer realm="unspent"');
      return done(new UnspentError('UNAUTHORIZED', 'the request has no token, or another one'));
    }
    done();
  });
}

/** What every answer says to a browser. */
export function protect(reply: FastifyReply): void {
  reply
    .header('content-security-policy', CONTENT_POLICY)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-resource-policy', 'same-origin');
}

function hostCheck({ host, hosts }: Config['server']): (request: IncomingMessage) => boolean {
  const names = new Set(['localhost', withoutBrackets(host).toLowerCase(), ...listOf(hosts)]);
  const remembered = new Set<string>();
  return ({ headers, socket }) => {
    const given = headers.host ?? '';
    if (remembered.has(given)) return true;
    const name = nameOf(given);
    // An address of ours, typed as such, cannot have been pointed here by somebody else's name server.
    const ours = name !== '' && (names.has(name) || isLoopback(name) || (isIP(name) > 0 && name === plainAddress(socket.localAddress)));
    if (ours && remembered.size < REMEMBERED_HOSTS_MAX) remembered.add(given);
    return ours;
  };
}

/** The name of `name:port`, `[v6]:port` or either without the port; a port never matters. */
function nameOf(host: string): string {
  const [, bracketed, plain] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/@\s]+))(?::\d{1,5})?$/.exec(host) ?? [];
  return (bracketed ?? plain ?? '').toLowerCase();
}

/** Without the mark of an IPv4 address on a socket that speaks both. */
function plainAddress(address: string | undefined): string | undefined {
  return address?.replace(/^::ffff:(?=\d+\.)/, '');
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

function listOf(hosts: string): string[] {
  return hosts
    .split(',')
    .map((name) => withoutBrackets(name.trim().toLowerCase()))
    .filter((name) => name !== '');
}

/** Compares digests: always the same length, always the same time. */
function tokenCheck(token: string): (authorization: string | undefined) => boolean {
  const digest = (text: string): Uint8Array => createHash('sha256').update(text).digest();
  const wanted = digest(token);
  return (authorization) => {
    const [, given] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
    return timingSafeEqual(digest(given ?? ''), wanted);
  };
}

function foreign({ headers }: IncomingMessage): UnspentError {
  return new UnspentError('FORBIDDEN', `the request is for '${(headers.host ?? '').slice(0, 100)}', which is not this server`, {
    field: 'host',
  });
}

function tooLong(): UnspentError {
  return new UnspentError('LIMIT', `a URL has at most ${HTTP_URL_CHARS_MAX} characters`, { limit: HTTP_URL_CHARS_MAX, field: 'url' });
}
