/**
 * Failures as RFC 9457 problem documents. What a caller can do something about
 * is said in full; what is wrong inside is written to the log once and told
 * without its particulars. Never a stack, never a path of this machine.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ERROR_CODES, isUnspentError, UnspentError } from '../../util/errors.ts';
import { HTTP_BODY_BYTES_MAX, HTTP_PARAM_CHARS_MAX } from '../../util/limits.ts';
import { isSomebodyLooking, sendNotFoundPage } from './not-found-page.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export interface Problem {
  /** Where the code is explained: a part of this server's own reference. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly advice: string;
  readonly [more: string]: unknown;
}

/** What of an error's particulars is about the chain or the request, and not about this machine. */
const SHOWN_FIELDS = [
  'field',
  'limit',
  'column',
  'setting',
  'key',
  'projection',
  'height',
  'slot',
  'hash',
  'tip',
  'horizon',
  'knownFrom',
  'knownAbove',
];

/** Where the reference of the HTTP API is; problems link to their code there. */
export const REFERENCE_PATH = '/docs/api';

/** For an error without a code of ours. It is not among the codes, because nothing raises it. */
export const UNFORESEEN = {
  type: `${REFERENCE_PATH}#${anchorOf('INTERNAL')}`,
  title: 'Something went wrong inside the server.',
  status: 500,
  detail: 'The request was not answered; the log of the server says why.',
  code: 'INTERNAL',
  advice: 'Try again; if it happens again, the log is what to look at.',
} as const satisfies Problem;

export function anchorOf(code: string): string {
  return `error-${code}`;
}

export function problemOf(error: UnspentError): Problem {
  const { code, message, status, advice } = error;
  const meaning = ERROR_CODES[code].meaning;
  // A failure of the server itself may name files; its meaning does not.
  const detail = status === 500 ? meaning : message;
  return { type: `${REFERENCE_PATH}#${anchorOf(code)}`, title: meaning, status, detail, code, advice, ...shownFields(error.meta) };
}

function shownFields(meta: UnspentError['meta']): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const name of SHOWN_FIELDS) {
    const value = meta[name];
    if (value !== undefined) out[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value;
  }
  return out;
}

/** How a shape writes a failure. */
export interface ProblemForm {
  /** The media type. */
  readonly type: string;
  /** What is sent, before it is made JSON. */
  document(problem: Problem): object;
}

const OWN_FORM: ProblemForm = { type: PROBLEM_TYPE, document: (problem) => problem };

function sendProblem(reply: FastifyReply, problem: Problem, { type, document }: ProblemForm): FastifyReply {
  // Headers of an answer that did not come about.
  for (const name of ['etag', 'content-length', 'link', 'x-next-after']) reply.removeHeader(name);
  if (problem.status === 503) reply.header('retry-after', '1');
  return reply
    .code(problem.status)
    .header('cache-control', 'no-store')
    .header('content-type', type)
    .send(JSON.stringify(document(problem)));
}

export interface FailureListener {
  /** Told each failure of the server itself, once. */
  onFailure(error: Error, request: FastifyRequest): void;
}

/** Every way a request can end without an answer. */
export function handleErrors(app: FastifyInstance, trouble: FailureListener): void {
  app.setErrorHandler((error: unknown, request, reply) => answerError(error, request, reply, trouble));
  app.setNotFoundHandler((request) => {
    throw new UnspentError('NO_ROUTE', `there is no route ${routeText(request)}`);
  });
}

/** Routes that are added to `api` fail in the form of their shape. */
export function answerErrorsIn(api: FastifyInstance, trouble: FailureListener, form: ProblemForm): void {
  api.setErrorHandler((error: unknown, request, reply) => answerError(error, request, reply, trouble, form));
}

/** What was asked for, as messages name it. */
export function routeText({ method, raw }: FastifyRequest): string {
  return `${method} ${(raw.url ?? '').split('?')[0].slice(0, 100)}`;
}

export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  trouble: FailureListener,
  form: ProblemForm = OWN_FORM,
): FastifyReply {
  const known = isUnspentError(error) ? error : fromFastify(error as FastifyError, request);
  if (known === null ? !isLeft(error, request) : known.status === 500) trouble.onFailure(error as Error, request);
  if (known?.code === 'NO_ROUTE' && isSomebodyLooking(request)) return sendNotFoundPage(reply, known.message);
  return sendProblem(reply, known === null ? UNFORESEEN : problemOf(known), form);
}

/** The client hung up before the first piece of its stream: nothing of ours failed. */
function isLeft(error: unknown, { raw }: FastifyRequest): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE' && raw.socket.destroyed;
}

/** What fastify refuses, in our words; null: not a refusal. */
function fromFastify(error: FastifyError, { routeOptions }: FastifyRequest): UnspentError | null {
  const { validation, validationContext, statusCode = 500, code, message } = error;
  if (validation !== undefined) return invalid(validation[0], validationContext ?? 'request');
  if (statusCode === 413) {
    const limit = routeOptions?.bodyLimit ?? HTTP_BODY_BYTES_MAX;
    return new UnspentError('LIMIT', `the body of a request has at most ${limit} bytes here`, { limit, field: 'body' });
  }
  if (statusCode === 414) {
    const detail = `one part of a path has at most ${HTTP_PARAM_CHARS_MAX} characters`;
    return new UnspentError('LIMIT', detail, { limit: HTTP_PARAM_CHARS_MAX, field: 'path' });
  }
  if (statusCode === 503) return new UnspentError('CLOSED', 'the server is stopping');
  if (statusCode >= 400 && statusCode < 500) return new UnspentError('USAGE', refusal(`${code}`, message));
  return null;
}

/** Fastify's own words, without what a caller sent. */
function refusal(code: string, message: string): string {
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return 'a body must be application/json';
  if (code === 'FST_ERR_CTP_EMPTY_JSON_BODY') return 'the body is empty';
  if (code === 'FST_ERR_BAD_URL') return 'the URL is not one';
  if (code.startsWith('FST_')) return message.slice(0, 200);
  return 'the body is not JSON';
}

interface Violation {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

function invalid({ keyword, instancePath, params, message }: Violation, context: string): UnspentError {
  const where = context === 'querystring' ? 'query' : context;
  const missing = params['missingProperty'] ?? params['additionalProperty'];
  const path = instancePath.split('/').filter((part) => part !== '');
  const field = [...path, ...(typeof missing === 'string' ? [missing] : [])].join('.');
  const what = keyword === 'additionalProperties' ? 'is not a parameter of this route' : keyword === 'required' ? 'is missing' : message;
  return new UnspentError('USAGE', `${where} ${field}: ${what ?? 'is wrong'}`.replace('  ', ' '), { field: field === '' ? where : field });
}
