/**
 * When a transaction of a cage can be valid. Scripts hold its interval against
 * the phases of requests, in POSIX milliseconds; a transaction says it in slots.
 *
 * A node turns slots into times only up to its horizon, so an upper bound beyond
 * it is taken back to it. A lower bound beyond it cannot be used yet: the node
 * would refuse the transaction as "past horizon", so we say so first.
 */
import { UnspentError } from '../../../util/errors.ts';
import type { CardanoNetwork } from '../networks.ts';
import { firstSlotFromMs, slotAtMs } from '../time.ts';
import type { CageRequest, CageTerms } from './datum.ts';
import type { RequestPhase } from './phase.ts';

/** POSIX milliseconds; null: no bound. */
export interface TimeBounds {
  /** The first moment at which it may be valid. */
  readonly from: bigint | null;
  /** The moment before which it must be in a block. */
  readonly before: bigint | null;
}

/** Null: no bound. */
export interface SlotBounds {
  /** The first slot of it. */
  readonly from: number | null;
  /** The first slot that is not of it any more. */
  readonly until: number | null;
}

/** Where a chain is: the slot of its newest block, and the slot of the present moment, which may be later. */
export interface ChainMoment {
  readonly headSlot: number;
  readonly nowSlot: number;
}

const NO_BOUNDS: TimeBounds = { from: null, before: null };

/** When the scripts let a request be put to a use. `phase` is its phase now; v0 has none, and no bounds either. */
export function boundsFor(
  use: 'apply' | 'retract' | 'reject',
  { terms }: CageRequest,
  state: CageTerms | null,
  phase: RequestPhase | null,
): TimeBounds {
  if (terms === null || state === null) return NO_BOUNDS;
  const processEnd = terms.submittedAt + state.processTime;
  const retractEnd = processEnd + state.retractTime;
  if (use === 'apply') return { from: null, before: processEnd };
  if (use === 'retract') return { from: processEnd, before: retractEnd };
  return phase === 'dishonest' ? { from: null, before: terms.submittedAt } : { from: retractEnd, before: null };
}

/** The moments that lie within all of them. */
export function commonBounds(all: readonly TimeBounds[]): TimeBounds {
  return all.reduce(
    (common, { from, before }) => ({
      from: common.from === null || (from !== null && from > common.from) ? from : common.from,
      before: common.before === null || (before !== null && before < common.before) ? before : common.before,
    }),
    NO_BOUNDS,
  );
}

/**
 * The slots that lie wholly within the bounds, none of them past the horizon. Throws CAGE_CONFLICT where there are none,
 * or none yet.
 */
export function slotsWithin(network: CardanoNetwork, { from, before }: TimeBounds, { headSlot, nowSlot }: ChainMoment): SlotBounds {
  const horizon = horizonOf(network, headSlot);
  const first = from === null ? null : firstSlotFromMs(network, from);
  const until = before === null ? null : Math.min(slotAtMs(network, before), horizon);
  if (first !== null && first > horizon) {
    const message = `it can be valid from slot ${first} on, past the horizon of the network (slot ${horizon}): ask again later`;
    throw new UnspentError('CAGE_CONFLICT', message, { slot: first, horizon });
  }
  if (until !== null && until === horizon && until <= nowSlot) {
    const message = `now is slot ${nowSlot}, past the horizon of the network (slot ${horizon}): the newest block, at slot ${headSlot}, is too old`;
    throw new UnspentError('CAGE_CONFLICT', message, { slot: nowSlot, horizon });
  }
  if (until !== null && until <= Math.max(nowSlot, first ?? 0)) {
    const message = `it had to be in a block before slot ${until}; now is slot ${nowSlot}, and the newest block is at slot ${headSlot}`;
    throw new UnspentError('CAGE_CONFLICT', message, { slot: until });
  }
  return { from: first, until };
}

/**
 * Three k/f slots ahead of the tip: the ledger promises that its clock does not change before. An epoch has ten k/f on
 * the public networks; where a private one has another length, it is a shorter or longer promise.
 */
function horizonOf({ shelleyEpochSlots }: CardanoNetwork, slot: number): number {
  return slot + Math.floor((3 * shelleyEpochSlots) / 10);
}
