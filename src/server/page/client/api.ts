/**
 * Asking the server: answers as they are, failures as the problem documents
 * they came in (RFC 9457), the token where there is one. Every request has an
 * end: what takes longer than that counts as lost.
 */

const BASE = '/api/v1';
const MPFS = '/mpfs';
const TOKEN_KEY = 'unspent.token';
/** The server waits at most this long itself (server.waitSecondsMax); then nobody is there. */
const TIMEOUT_MS = 30_000;

/** A failure in the server's own words. Status 0: it did not answer at all. */
export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly advice: string;
  readonly code: string;

  constructor(status: number, title: string, detail: string, advice = '', code = '') {
    super(detail);
    this.status = status;
    this.title = title;
    this.advice = advice;
    this.code = code;
  }
}

interface RequestOptions {
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer<T> {
  readonly body: T;
  /** Ask again with it as `after`; null: that was all. */
  readonly next: string | null;
}

export async function get<T>(path: string, query: Readonly<Record<string, string | number | null>> = {}): Promise<Answer<T>> {
  const response = await open(path, query, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  return { body: (await response.json()) as T, next: response.headers.get('x-next-after') };
}

/** From the API of cages. */
export async function getMpfs<T>(path: string): Promise<T> {
  const response = await ask(new URL(MPFS + path, location.origin), { signal: AbortSignal.timeout(TIMEOUT_MS) });
  return (await response.json()) as T;
}

/** The answer as it begins; its body may go on for ever. Throws `Problem`. */
export async function open(
  path: string,
  query: Readonly<Record<string, string | number | null>>,
  options: RequestOptions,
): Promise<Response> {
  const url = new URL(BASE + path, location.origin);
  for (const [name, value] of Object.entries(query)) if (value !== null) url.searchParams.set(name, String(value));
  return ask(url, options);
}

async function ask(url: URL, { signal, headers }: RequestOptions): Promise<Response> {
  const kept = token();
  let response: Response;
  try {
    response = await fetch(url, { signal, headers: { ...headers, ...(kept === null ? {} : { authorization: `Bearer ${kept}` }) } });
  } catch (cause) {
    throw new Problem(0, 'No answer', (cause as Error).message, 'Is the server running? The page tries again by itself.');
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text();
  try {
    const { title, detail, advice, code } = JSON.parse(text) as { title?: string; detail?: string; advice?: string; code?: string };
    return new Problem(response.status, title ?? response.statusText, detail ?? '', advice, code);
  } catch {
    return new Problem(response.status, response.statusText, text.slice(0, 200));
  }
}

export function problem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(0, 'The page failed', error instanceof Error ? error.message : String(error));
}

function token(): string | null {
  return sessionStorage.getItem(TOKEN_KEY);
}

export function keepToken(value: string): void {
  sessionStorage.setItem(TOKEN_KEY, value);
}

/** `/#token=...` brings one along: what is behind the # never goes over the network. */
export function takeToken(): void {
  const [, value] = /^#token=(.+)$/.exec(location.hash) ?? [];
  if (value === undefined) return;
  keepToken(decodeURIComponent(value));
  history.replaceState(null, '', '/');
}
