/**
 * Who may ask, and what an answer may do in a browser. Loopback unless told
 * otherwise; a name in `Host` that is not ours is refused, because a page from
 * elsewhere can point its own name at this machine (DNS rebinding); what changes
 * something is not taken from a page of another origin; the token is compared
 * without telling how much of it was right. Pages of other origins may do what
 * `server.cors` allows them (`cors.ts`), which is nothing by default.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/schema.ts';
import { UnspentError } from '../../util/errors.ts';
import { HTTP_URL_CHARS_MAX } from '../../util/limits.ts';
import { type AllowedOrigins, answerPreflight } from './cors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without the token too: health, and files that say nothing of the store. */
    readonly withoutToken?: boolean;
  }
}

/** No script, style or picture from elsewhere, none inside a document, no frame around it. */
const CONTENT_POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

/** Of the page, whose verifier hashes with a WebAssembly module: that word allows no other code from text. */
export const PAGE_CONTENT_POLICY = `${CONTENT_POLICY}; script-src 'self' 'wasm-unsafe-eval'`;

const SENDS_NOTHING = new Set(['GET', 'HEAD', 'OPTIONS']);

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
export function guard(app: FastifyInstance, { server }: Config, origins: AllowedOrigins): void {
  checkBind(server);
  const isOurs = hostCheck(server);
  const names = new Set(listOf(server.hosts));
  const isNamed = (name: string): boolean => names.has(name);
  const isToken = server.token === '' ? null : tokenCheck(server.token);
  app.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
    protect(reply);
    const { raw } = request;
    if ((raw.url?.length ?? 0) > HTTP_URL_CHARS_MAX) return done(tooLong());
    const refusal = addressRefusal(raw, isOurs) ?? originRefusal(raw, isNamed, origins);
    if (refusal !== null) return done(refusal);
    // A browser asks before it sends, and sends no token with the question.
    if (answerPreflight(raw, reply, origins)) return;
    if (isToken !== null && request.routeOptions.config.withoutToken !== true && !isToken(authorizationOf(raw))) {
      reply.header('www-authenticate', 'Bearer realm="unspent"');
      return done(new UnspentError('UNAUTHORIZED', 'the request has no token, or another one'));
    }
    done();
  });
}

/** Clients of Blockfrost have a project id to send, and nothing else. */
function authorizationOf({ headers: { authorization, project_id: project } }: IncomingMessage): string | undefined {
  return authorization ?? (typeof project === 'string' ? `Bearer ${project}` : undefined);
}

/** What every answer says to a browser. */
export function protect(reply: FastifyReply): void {
  reply
    .header('content-security-policy', CONTENT_POLICY)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-resource-policy', 'same-origin');
}

type IsOurs = (given: string, socket: Socket) => boolean;

/** How often a request names its server in `Host`. */
export function hostsIn({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i].length === 4 && rawHeaders[i].toLowerCase() === 'host') count++;
  return count;
}

/** A request names the server once in `Host` (RFC 9112, 3.2), and perhaps again in its target: both must be ours. Null: they are. */
function addressRefusal(raw: IncomingMessage, isOurs: IsOurs): UnspentError | null {
  const { url = '', headers, socket } = raw;
  if (hostsIn(raw) > 1) return new UnspentError('USAGE', 'the request has more than one Host', { field: 'host' });
  const host = headers.host ?? '';
  if (!isOurs(host, socket)) return foreign(host);
  if (url.startsWith('/') || url === '*') return null;
  const [, target = ''] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url) ?? [];
  return isOurs(target, socket) ? null : foreign(target);
}

/**
 * Refuses requests that change something if they come from a page of another origin: browsers name the origin of such a
 * page, so a request that names none is not from a page. Null: allowed.
 */
function originRefusal(
  { method, headers }: IncomingMessage,
  isNamed: (name: string) => boolean,
  origins: AllowedOrigins,
): UnspentError | null {
  const { origin, host = '' } = headers;
  if (origin === undefined || method === undefined || SENDS_NOTHING.has(method) || origins.names(origin)) return null;
  const page = URL.canParse(origin) ? new URL(origin) : null;
  // Behind a proxy the two may differ in all but the name that was set for it.
  if (page !== null && page.host !== '' && (page.host === host.toLowerCase() || isNamed(page.hostname))) return null;
  return new UnspentError('FORBIDDEN', `a page of '${origin.slice(0, 100)}' may not send anything here`, { field: 'origin' });
}

function hostCheck({ host, hosts }: Config['server']): IsOurs {
  const names = new Set(['localhost', withoutBrackets(host).toLowerCase(), ...listOf(hosts)]);
  const remembered = new Set<string>();
  return (given, socket) => {
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
export function tokenCheck(token: string): (authorization: string | undefined) => boolean {
  const digest = (text: string): Uint8Array => createHash('sha256').update(text).digest();
  const wanted = digest(token);
  return (authorization) => {
    const [, given] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
    return timingSafeEqual(digest(given ?? ''), wanted);
  };
}

function foreign(host: string): UnspentError {
  return new UnspentError('FORBIDDEN', `the request is for '${host.slice(0, 100)}', which is not this server`, { field: 'host' });
}

function tooLong(): UnspentError {
  return new UnspentError('LIMIT', `a URL has at most ${HTTP_URL_CHARS_MAX} characters`, { limit: HTTP_URL_CHARS_MAX, field: 'url' });
}
