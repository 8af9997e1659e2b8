/**
 * Slots between which a transaction is valid, from the times that the scripts of
 * a cage hold against them. A node turns slots into times only up to its
 * horizon: an upper bound is taken back to it, a lower bound beyond it cannot be
 * used yet, and saying so is better than the node's "past horizon".
 */
import type { CardanoNetwork } from '../../../ledgers/cardano/index.ts';
import { firstSlotFromMs, slotAtMs } from '../../../ledgers/cardano/time.ts';
import type { Point } from '../../../ledgers/ledger.ts';
import { UnspentError } from '../../../util/errors.ts';

/** POSIX milliseconds; null: no bound. */
export interface TimeBounds {
  /** The first moment at which it may be valid. */
  readonly from: bigint | null;
  /** The moment before which it must be in a block. */
  readonly before: bigint | null;
}

export interface ValidityJson {
  /** The first slot of it; null: none is needed. */
  readonly invalid_before: number | null;
  /** The first slot that is not of it any more; null: none is needed. */
  readonly invalid_hereafter: number | null;
}

/** Throws CAGE_CONFLICT when there is no such interval, or not yet. */
export function validity(network: CardanoNetwork, head: Point | null, { from, before }: TimeBounds): ValidityJson {
  const now = head?.slot ?? 0;
  const horizon = horizonOf(network, now);
  const first = from === null ? null : firstSlotFromMs(network, from);
  const end = before === null ? null : Math.min(slotAtMs(network, before), horizon);
  if (first !== null && first > horizon) {
    const message = `it can be valid from slot ${first} on, past the horizon of the network (slot ${horizon}): ask again later`;
    throw new UnspentError('CAGE_CONFLICT', message, { slot: first, horizon });
  }
  if (end !== null && end <= Math.max(now, first ?? 0)) {
    throw new UnspentError('CAGE_CONFLICT', `it had to be in a block before slot ${end}; the newest block is at slot ${now}`, {
      slot: end,
    });
  }
  return { invalid_before: first, invalid_hereafter: end };
}

/**
 * Three k/f slots ahead of the tip: the ledger promises that its clock does not change before. An epoch has ten k/f on
 * the public networks; where a private one has another length, it is a shorter or longer promise.
 */
function horizonOf({ shelleyEpochSlots }: CardanoNetwork, slot: number): number {
  return slot + Math.floor((3 * shelleyEpochSlots) / 10);
}
