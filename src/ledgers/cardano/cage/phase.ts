/**
 * What may be done with a request, and when. Times are POSIX milliseconds; the
 * scripts hold them against the validity interval of a transaction, a reader
 * against a moment.
 */
import type { CageRequest, CageTerms } from './datum.ts';

/**
 * `process`: the owner of the token may apply it. `retract`: its author may take it back. `reject`: the owner may
 * reject it. `dishonest`: it says that it was submitted later than now, and may be applied or rejected.
 */
export type RequestPhase = 'process' | 'retract' | 'reject' | 'dishonest';

/** Null: the token or the request is of v0, which has no phases: everything is allowed at any time. */
export function requestPhase({ terms }: CageRequest, state: CageTerms | null, nowMs: bigint): RequestPhase | null {
  if (terms === null || state === null) return null;
  const { submittedAt } = terms;
  if (nowMs < submittedAt) return 'dishonest';
  if (nowMs < submittedAt + state.processTime) return 'process';
  return nowMs < submittedAt + state.processTime + state.retractTime ? 'retract' : 'reject';
}
