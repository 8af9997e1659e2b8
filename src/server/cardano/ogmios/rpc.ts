/**
 * One request of JSON-RPC 2.0 and its answer. Failures have the codes of Ogmios
 * where it has one for them, and say ours beside; whatever is the server's own
 * fault goes to its log.
 */
import { isUnspentError, type UnspentError } from '../../../util/errors.ts';
import { OGMIOS_ID_DEPTH_MAX } from '../../../util/limits.ts';
import type { ServerState } from '../../http/server-state.ts';
import type { Task } from '../../http/work/task.ts';
import { type JsonValue, jsonText } from './json-text.ts';

/** JSON-RPC 2.0, and https://ogmios.dev: errors of `findIntersection`, `evaluateTransaction` and of the mempool. */
const CODES = {
  parse: -32_700,
  request: -32_600,
  method: -32_601,
  parameters: -32_602,
  internal: -32_603,
  server: -32_000,
  intersection: 1000,
  evaluationContext: 3004,
  scriptExecution: 3010,
  validation: 3012,
  mempool: 4000,
} as const;

/** They are about the state of a connection. */
const OVER_WEB_SOCKET: readonly string[] = [
  'findIntersection',
  'nextBlock',
  'acquireMempool',
  'nextTransaction',
  'hasTransaction',
  'sizeOfMempool',
  'releaseMempool',
];

type RpcParams = Readonly<Record<string, unknown>>;
/** `task`: the work of the request, for what may take longer than a turn. */
export type RpcMethod = (params: RpcParams, task: Task) => JsonValue | Promise<JsonValue>;

/** Methods that are answered, by their names. */
export type RpcMethods = ReadonlyMap<string, RpcMethod>;

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonValue;
}

interface RpcAnswer {
  readonly isError: boolean;
  readonly text: string;
}

/** The method that a request names; null: it is none. */
export function methodOf(text: string): string | null {
  const request = parse(text);
  return isObject(request) && typeof request['method'] === 'string' ? request['method'] : null;
}

export async function answerTo(text: string, methods: RpcMethods, state: ServerState, task: Task): Promise<RpcAnswer> {
  const request = parse(text);
  if (request === undefined) return failure(undefined, undefined, { code: CODES.parse, message: 'the request is no JSON' });
  const { method, params = {}, id } = (isObject(request) ? request : {}) as { method?: unknown; params?: unknown; id?: JsonValue };
  if (!isShallow(id, OGMIOS_ID_DEPTH_MAX))
    return failure(undefined, undefined, { code: CODES.request, message: `the id is nested deeper than ${OGMIOS_ID_DEPTH_MAX}` });
  if (typeof method !== 'string' || !isObject(params)) {
    return failure(undefined, id, {
      code: CODES.request,
      message: 'the request is no JSON-RPC 2.0: it has no method, or its params are no object',
    });
  }
  const run = methods.get(method);
  if (run === undefined) {
    const message = OVER_WEB_SOCKET.includes(method)
      ? `'${method}' is answered over a WebSocket alone`
      : `this server does not answer '${method.slice(0, 100)}'; it answers ${[...methods.keys(), ...OVER_WEB_SOCKET].join(', ')}`;
    return failure(method, id, { code: CODES.method, message });
  }
  try {
    return { isError: false, text: jsonText({ jsonrpc: '2.0', method, result: await task.run(() => run(params, task)), id: id ?? null }) };
  } catch (error) {
    if (!isUnspentError(error) || error.status === 500) state.onFailure(error as Error, method);
    return failure(method, id, errorOf(error));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What is written again must not be nested without end: writing it would take more stack than there is. */
function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((each) => isShallow(each, depth - 1));
}

function isObject(value: unknown): value is RpcParams {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `@cardano-ogmios/client` takes any answer to a query that names its method for a success, and waits for one that does after other requests. */
function failure(method: string | undefined, id: JsonValue | undefined, { code, message, data }: RpcError): RpcAnswer {
  const named = method?.startsWith('query') ? {} : { method };
  return { isError: true, text: jsonText({ jsonrpc: '2.0', ...named, error: { code, message, data }, id: id ?? null }) };
}

function errorOf(error: unknown): RpcError {
  if (!isUnspentError(error) || error.status === 500) return { code: CODES.internal, message: 'an error of the server; its log says more' };
  const { code, message, meta } = error;
  if (code === 'USAGE') return { code: meta['mustAcquireMempool'] === true ? CODES.mempool : CODES.parameters, message };
  if (code === 'POINT_UNKNOWN') return { code: CODES.intersection, message, data: { tip: meta['tip'] as JsonValue } };
  if (code === 'OUTPUT_UNKNOWN') return { code: CODES.evaluationContext, message, data: { reason: message } };
  if (code === 'SCRIPT_FAILED') return scriptError(error);
  const reason = meta['reason'];
  return { code: CODES.server, message: `${message}. ${error.advice}`, data: { code, ...(typeof reason === 'string' ? { reason } : {}) } };
}

function scriptError({ message, meta }: UnspentError): RpcError {
  const { purpose, index, reason } = meta as { readonly purpose?: string; readonly index?: number; readonly reason: string };
  if (purpose === undefined || index === undefined) return { code: CODES.evaluationContext, message, data: { reason } };
  const error = { code: CODES.validation, message: reason, data: { validationError: reason, traces: [] } };
  return { code: CODES.scriptExecution, message, data: [{ validator: { purpose, index }, error }] };
}
