/**
 * JSON-RPC 2.0 as Electrum clients speak it: messages taken apart, answers and
 * notifications written. A message that is no JSON at all ends a session, as
 * every Electrum server does; whatever else is wrong is answered.
 */
import { isUnspentError, type UnspentError } from '../../../util/errors.ts';
import { ELECTRUM_BATCH_MAX } from '../../../util/limits.ts';

/** 1 and 2 are Electrum's own: a request that cannot be answered, and what the node said. */
export const RPC = {
  badRequest: 1,
  node: 2,
  parse: -32700,
  invalid: -32600,
  noMethod: -32601,
  params: -32602,
  internal: -32603,
} as const;

export class RpcError extends Error {
  readonly code: number;
  /** The session ends behind the answer. */
  readonly fatal: boolean;

  constructor(code: number, message: string, fatal = false) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.fatal = fatal;
  }
}

type Id = string | number | null;

export interface Call {
  /** Undefined: nobody waits for an answer. */
  readonly id: Id | undefined;
  readonly method: string;
  readonly params: readonly unknown[] | Readonly<Record<string, unknown>>;
}

/** What should have been a call. */
interface BadCall {
  readonly id: Id;
  readonly error: RpcError;
}

export interface Message {
  readonly batch: boolean;
  readonly calls: readonly (Call | BadCall)[];
}

/** Throws an RpcError for what cannot be answered call by call. */
export function readMessage(text: string): Message {
  const value = parse(text);
  if (!Array.isArray(value)) return { batch: false, calls: [readCall(value)] };
  if (value.length === 0) throw new RpcError(RPC.invalid, 'a batch without requests');
  if (value.length > ELECTRUM_BATCH_MAX) {
    throw new RpcError(RPC.invalid, `a batch has at most ${ELECTRUM_BATCH_MAX} requests, this one has ${value.length}`, true);
  }
  return { batch: true, calls: value.map(readCall) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RpcError(RPC.parse, 'the message is not JSON', true);
  }
}

function readCall(value: unknown): Call | BadCall {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return bad(null, 'a request is an object');
  const { id, method, params = [], jsonrpc } = value as Record<string, unknown>;
  if (id !== undefined && !isId(id)) return bad(null, 'an id is a string, a number or null');
  if (jsonrpc !== undefined && jsonrpc !== '2.0' && jsonrpc !== '1.0') return bad(id ?? null, 'the version of JSON-RPC is 2.0');
  if (typeof method !== 'string') return bad(id ?? null, 'a request names a method');
  if (typeof params !== 'object' || params === null) return bad(id ?? null, 'parameters are an array or an object');
  return { id, method, params: params as Call['params'] };
}

function isId(value: unknown): value is Id {
  return value === null || typeof value === 'string' || typeof value === 'number';
}

function bad(id: Id, message: string): BadCall {
  return { id, error: new RpcError(RPC.invalid, message) };
}

export function resultText(id: Id, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', result, id });
}

export function errorText(id: Id, { code, message }: RpcError): string {
  return JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id });
}

export function notificationText(method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

/** What a client is told of a failure; null: it is ours, and nobody's business but the log's. */
export function rpcErrorOf(error: unknown): RpcError | null {
  if (error instanceof RpcError) return error;
  return isUnspentError(error) ? worldsError(error) : null;
}

function worldsError({ code, message }: UnspentError): RpcError | null {
  switch (code) {
    case 'USAGE':
    case 'LIMIT':
    case 'BLOCK_INVALID':
      return new RpcError(RPC.badRequest, message);
    case 'TX_REFUSED':
    case 'UNSUPPORTED':
    case 'SOURCE_UNREACHABLE':
    case 'INDEX_NOT_READY':
    case 'BUSY':
    case 'COPY_UNREACHABLE':
    case 'COPY_MOVED':
      return new RpcError(RPC.node, message);
    case 'CLOSED':
      return new RpcError(RPC.internal, 'the server is stopping', true);
    default:
      return null;
  }
}
