/**
 * Asking the server: answers as they are, failures as the problem documents
 * they came in (RFC 9457), the token where there is one. Every request has an
 * end: what takes longer than that counts as lost.
 */

const BASE = '/api/v1';
const MPFS = '/mpfs';
const ESPLORA = '/api';
/** Wallets have a token of their own, and are asked with that one only. */
export type TokenOf = 'server' | 'wallets';
const TOKEN_KEYS: Readonly<Record<TokenOf, string>> = { server: 'unspent.token', wallets: 'unspent.wallet-token' };
/** The server waits at most this long itself (server.waitSecondsMax); then nobody is there. */
const TIMEOUT_MS = 30_000;

/** A failure in the server's own words. Status 0: it did not answer at all. */
export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly advice: string;
  readonly code: string;
  /** Which token was missing or wrong, where the status is 401. */
  readonly tokenOf: TokenOf;

  constructor(status: number, title: string, detail: string, advice = '', code = '', tokenOf: TokenOf = 'server') {
    super(detail);
    this.tokenOf = tokenOf;
    this.status = status;
    this.title = title;
    this.advice = advice;
    this.code = code;
  }
}

/** The block that pages are shown as of; null: the newest. */
export const travel: { height: number | null } = { height: null };
/** Reads that answer for an earlier block. */
const TIMED =
  /^\/(?:(?:addresses|credentials|stake|policies|utxos|csmt|utxo\/mmr)\/|assets\/[^/]+(?:\/utxos)?$|roots$|(?:datums|scripts|txs)\/[^/]+\/utxos$)/;

interface RequestOptions {
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

type Query = Readonly<Record<string, string | number | null>>;

export interface Answer<T> {
  readonly body: T;
  /** Ask again with it as `after`; null: that was all. */
  readonly next: string | null;
  /** Of the block that the answer is at; null: it names none. */
  readonly height: number | null;
  /** Of that block. */
  readonly hash: string | null;
}

export async function get<T>(path: string, query: Query = {}): Promise<Answer<T>> {
  const { height } = travel;
  const timed = height !== null && TIMED.test(path) ? { ...query, at: `height:${height}` } : query;
  return answerOf(await open(path, timed, { signal: AbortSignal.timeout(TIMEOUT_MS) }));
}

/** In the API of Esplora, which the Bitcoin family has. */
export async function getEsplora<T>(path: string): Promise<Answer<T>> {
  return answerOf(await ask(new URL(ESPLORA + path, location.origin), { signal: AbortSignal.timeout(TIMEOUT_MS) }));
}

async function answerOf<T>(response: Response): Promise<Answer<T>> {
  const { headers } = response;
  const height = headers.get('x-block-height');
  const body = (await response.json()) as T;
  return { body, next: headers.get('x-next-after'), height: height === null ? null : Number(height), hash: headers.get('x-block-hash') };
}

/** From the API of cages. */
export async function getMpfs<T>(path: string): Promise<T> {
  const response = await ask(new URL(MPFS + path, location.origin), { signal: AbortSignal.timeout(TIMEOUT_MS) });
  return (await response.json()) as T;
}

/** From the API of wallets, with their token. Throws `Problem`, without asking where there is no token. */
export async function getWallets<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Answer<T>> {
  if (keptToken('wallets') === null) throw new Problem(401, 'Token needed', '', '', '', 'wallets');
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const options = { signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]) };
  return answerOf(await ask(urlOf(`${BASE}/wallets${path}`, query), options, 'wallets'));
}

/** The answer as it begins; its body may go on for ever. Throws `Problem`. */
export async function open(path: string, query: Query, options: RequestOptions): Promise<Response> {
  return ask(urlOf(BASE + path, query), options);
}

function urlOf(path: string, query: Query): URL {
  const url = new URL(path, location.origin);
  for (const [name, value] of Object.entries(query)) if (value !== null) url.searchParams.set(name, String(value));
  return url;
}

async function ask(url: URL, options: RequestOptions, tokenOf: TokenOf = 'server'): Promise<Response> {
  const { signal, headers } = options;
  const kept = keptToken(tokenOf);
  let response: Response;
  try {
    response = await fetch(url, { signal, headers: { ...headers, ...(kept === null ? {} : { authorization: `Bearer ${kept}` }) } });
  } catch (cause) {
    throw new Problem(0, 'No answer', (cause as Error).message, 'Is the server running? The page tries again by itself.');
  }
  // Another token was given meanwhile: that the one before was refused says nothing of it.
  if (response.status === 401 && keptToken(tokenOf) !== kept) return ask(url, options, tokenOf);
  if (!response.ok) throw await problemOf(response, tokenOf);
  return response;
}

async function problemOf(response: Response, tokenOf: TokenOf): Promise<Problem> {
  const text = await response.text();
  try {
    const { title, detail, advice, code } = JSON.parse(text) as { title?: string; detail?: string; advice?: string; code?: string };
    return new Problem(response.status, title ?? response.statusText, detail ?? '', advice, code, tokenOf);
  } catch {
    const title = response.status === 404 ? 'There is no such thing in the store.' : response.statusText;
    return new Problem(response.status, title, text.slice(0, 200), '', '', tokenOf);
  }
}

export function problem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(0, 'The page failed', error instanceof Error ? error.message : String(error));
}

/** Null: none was given. */
export function keptToken(of: TokenOf): string | null {
  return sessionStorage.getItem(TOKEN_KEYS[of]);
}

/** For this tab, until it is closed. */
export function keepToken(of: TokenOf, value: string): void {
  sessionStorage.setItem(TOKEN_KEYS[of], value);
}

export function dropToken(of: TokenOf): void {
  sessionStorage.removeItem(TOKEN_KEYS[of]);
}

/** `/#token=...` and `/#wallet-token=...` bring one along: what is behind the # never goes over the network. */
export function takeToken(): void {
  const [, ofWallets, value] = /^#(wallet-)?token=(.+)$/.exec(location.hash) ?? [];
  if (value === undefined) return;
  keepToken(ofWallets === undefined ? 'server' : 'wallets', decodeURIComponent(value));
  history.replaceState(null, '', ofWallets === undefined ? '/' : '/#/wallets');
}
