/**
 * When a transaction of a cage may be valid: scripts compare its interval with
 * the phases of requests, in POSIX milliseconds; a transaction says it in slots.
 */
import { type CardanoNetwork, timeToSlot } from '../../../ledgers/cardano/index.ts';
import { firstSlotFromMs, slotAtMs } from '../../../ledgers/cardano/time.ts';
import { UnspentError } from '../../../util/errors.ts';
import { CAGE_VALIDITY_SECONDS } from '../../../util/limits.ts';
import type { RequestDocument, TokenTerms } from './documents.ts';

/** From `afterMs` on, and entirely before `beforeMs`. */
export interface Interval {
  readonly afterMs?: bigint;
  readonly beforeMs?: bigint;
}

/** When the first and the second phase of a request end. A v0 request has no time: its phases are counted from 0. */
export function phaseEnds({ submittedAt }: RequestDocument, { processTime, retractTime }: TokenTerms): readonly [bigint, bigint] {
  const from = submittedAt ?? 0n;
  return [from + processTime, from + processTime + retractTime];
}

/** All of them together. */
export function within(intervals: readonly Interval[]): Interval {
  const sorted = (times: readonly (bigint | undefined)[]): bigint[] =>
    times.filter((time) => time !== undefined).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const afterMs = sorted(intervals.map((each) => each.afterMs)).at(-1);
  const beforeMs = sorted(intervals.map((each) => each.beforeMs)).at(0);
  return { ...(afterMs === undefined ? {} : { afterMs }), ...(beforeMs === undefined ? {} : { beforeMs }) };
}

/**
 * The slots of an interval: the first that begins in it, and the first that is not wholly in it. It never goes further
 * than a node can foresee its clock. Throws CAGE_CONFLICT when nothing of it is left.
 */
export function slotsOf(
  network: CardanoNetwork,
  { afterMs, beforeMs }: Interval,
  nowMs: number,
): { readonly from?: number; readonly until: number } {
  const last = timeToSlot(network, nowMs / 1000 + CAGE_VALIDITY_SECONDS);
  const until = beforeMs === undefined ? last : Math.min(last, slotAtMs(network, beforeMs));
  const from = afterMs === undefined ? undefined : firstSlotFromMs(network, afterMs);
  if (until <= timeToSlot(network, nowMs / 1000) || (from !== undefined && from >= until)) {
    throw new UnspentError('CAGE_CONFLICT', 'the requests leave no time in which the transaction could be valid');
  }
  return from === undefined ? { until } : { from, until };
}
