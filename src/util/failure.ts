/**
 * An error on its way between two threads, which lose its class when they clone
 * it: what it takes to make it again on the other side.
 */
import { type ErrorCode, isUnspentError, UnspentError } from './errors.ts';

export interface Failure {
  /** Null: not one of ours. */
  readonly code: ErrorCode | null;
  readonly message: string;
  readonly meta: Readonly<Record<string, unknown>>;
}

export function failureOf(error: unknown): Failure {
  if (isUnspentError(error)) return { code: error.code, message: error.message, meta: error.meta };
  return { code: null, message: error instanceof Error ? (error.stack ?? error.message) : String(error), meta: {} };
}

export function errorOf({ code, message, meta }: Failure): Error {
  return code === null ? new Error(message) : new UnspentError(code, message, meta);
}
