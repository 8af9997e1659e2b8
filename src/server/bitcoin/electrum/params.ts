/**
 * Parameters as clients give them: by place or by name, and each as the thing
 * it should be. What has the wrong form is an RpcError that says which.
 */
import { parseId } from '../../../ledgers/bitcoin/index.ts';
import { KEY_BYTES } from '../../../ledgers/ledger.ts';
import { isHex } from '../../../util/bytes.ts';
import { type Call, RPC, RpcError } from './rpc.ts';

export interface ParamNames {
  /** In the order of their places. */
  readonly names: readonly string[];
  /** How many of them cannot be left out. */
  readonly needed: number;
  /** More than these are passed over, not refused. */
  readonly open?: true;
}

/** By place; undefined: left out. */
export function readParams({ names, needed, open }: ParamNames, { method, params }: Call): unknown[] {
  const given = Array.isArray(params) ? params : byName(names, method, params as Readonly<Record<string, unknown>>, open === true);
  if (given.length > names.length && open !== true) {
    throw new RpcError(RPC.params, `${method} takes ${names.length} parameters, ${given.length} were given`);
  }
  const args = names.map((_, i) => (given[i] === null ? undefined : given[i]));
  const missing = args.slice(0, needed).indexOf(undefined);
  if (missing >= 0) throw new RpcError(RPC.params, `${method} needs ${names[missing]}`);
  return args;
}

function byName(names: readonly string[], method: string, params: Readonly<Record<string, unknown>>, open: boolean): unknown[] {
  const unknown = Object.keys(params).find((name) => !names.includes(name));
  if (unknown !== undefined && !open) throw new RpcError(RPC.params, `${method} has no parameter '${unknown.slice(0, 60)}'`);
  return names.map((name) => (Object.hasOwn(params, name) ? params[name] : undefined));
}

export interface ScriptHash {
  /** As the client writes it, in small letters. */
  readonly text: string;
  /** In our index. */
  readonly key: Uint8Array;
}

/** The hash of a script, written from its last byte to its first. */
export function scriptHash(value: unknown): ScriptHash {
  if (typeof value !== 'string' || !isHex(value, 32)) throw new RpcError(RPC.badRequest, `${shown(value)} is not a valid script hash`);
  return { text: value.toLowerCase(), key: parseId(value).subarray(0, KEY_BYTES) };
}

export function txId(value: unknown): Uint8Array {
  if (typeof value !== 'string' || !isHex(value, 32)) throw new RpcError(RPC.badRequest, `${shown(value)} is not a transaction hash`);
  return parseId(value);
}

export function rawTx(value: unknown): Uint8Array {
  if (typeof value !== 'string' || value === '' || !isHex(value)) {
    throw new RpcError(RPC.badRequest, `${shown(value)} is not a transaction in hex`);
  }
  return new Uint8Array(Buffer.from(value, 'hex'));
}

export function count(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new RpcError(RPC.badRequest, `${what} is ${shown(value)}; it should be a non-negative integer`);
}

export function flag(value: unknown, what: string): boolean {
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  throw new RpcError(RPC.badRequest, `${what} is ${shown(value)}; it should be a boolean`);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `'${value.slice(0, 80)}'` : (JSON.stringify(value)?.slice(0, 80) ?? 'nothing');
}
