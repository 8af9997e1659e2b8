/**
 * How a verifier answers. Bytes or JSON that are no proof at all are refused by
 * the decoders, with a typed error (USAGE); a proof that was decoded and does
 * not show what it claims gets `{ ok: false, why }`. A verifier throws only
 * where we made a mistake.
 */
import { isUnspentError, UnspentError } from '../util/errors.ts';

/** The claim is not shown, and why. */
export type Refused = { readonly ok: false; readonly why: string };
/** Whether a proof shows what is claimed. */
export type Verdict = { readonly ok: true } | Refused;

/** Bytes of every digest here: BLAKE2b-256. */
export const HASH_BYTES = 32;

/** Leaves a verification early. Not an Error: refusing is a normal answer, and a stack trace costs more than the hashing. */
class Refusal {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** Inside `verdictOf` only. */
export function check(condition: unknown, why: string): asserts condition {
  if (!condition) throw new Refusal(why);
}

export function checkHash(bytes: Uint8Array, what: string): void {
  check(isHash(bytes), `${what} is not ${HASH_BYTES} bytes`);
}

export function isHash(bytes: unknown): bytes is Uint8Array {
  return bytes instanceof Uint8Array && bytes.length === HASH_BYTES;
}

/** Runs checks: what they return, or the first that failed. */
export function verdictOf<T extends object>(checks: () => T): (T & { readonly ok: true }) | Refused {
  try {
    return { ...checks(), ok: true };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, why: error.why };
    throw error;
  }
}

/** What is made of a claim; one that cannot be a claim at all is refused like any other that is wrong. */
export function claim<T extends object>(make: () => T): (T & { readonly ok: true }) | Refused {
  try {
    return { ...make(), ok: true };
  } catch (error) {
    if (isUnspentError(error, 'USAGE')) return { ok: false, why: error.message };
    throw error;
  }
}

/** For input that is no proof at all. */
export function malformed(what: string): never {
  throw new UnspentError('USAGE', `malformed proof: ${what}`);
}

/** Runs a decoder; what its cursor finds wrong becomes the same typed error as everything else. */
export function decoding<T>(what: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    throw new UnspentError('USAGE', `malformed proof: ${what}: ${error.message}`, error.meta, error);
  }
}
