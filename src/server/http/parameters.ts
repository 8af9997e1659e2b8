/**
 * Parameters of requests to shapes that others have specified, which read them
 * without a schema: what stands in the query, and hashes in hex.
 */
import { fromHex, isHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';

/** As fastify gives them: an array where a name stands twice. */
export type GivenParameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Undefined: it is not given. Throws USAGE for a parameter that is given twice. */
export function parameter(given: GivenParameters, name: string): string | undefined {
  const value = given[name];
  if (typeof value === 'string' || value === undefined) return value;
  throw wrongParameter(name, 'it is given more than once');
}

export function wrongParameter(field: string, reason: string): UnspentError {
  return new UnspentError('USAGE', `${field}: ${reason}`, { field });
}

/** Throws USAGE. */
export function hexParameter(text: string, what: string, bytes: number): Uint8Array {
  if (isHex(text, bytes)) return fromHex(text);
  throw new UnspentError('USAGE', `a ${what} is hex of ${bytes} bytes, got '${text.slice(0, 120)}'`);
}
