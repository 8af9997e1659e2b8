/**
 * Slots, epochs and times. A network has two clocks: Byron's slots and epochs
 * up to its first Shelley slot, Shelley's from there on; no era since has
 * changed them. Times are unix seconds, with a fraction where slots are short.
 */
import { assert, UnspentError } from '../../util/errors.ts';
import type { CardanoNetwork } from './networks.ts';

/** Unix seconds at which a slot begins. */
export function slotToTime(network: CardanoNetwork, slot: number): number {
  assertCount(slot, 'slot');
  const byronSlots = Math.min(slot, network.firstShelleySlot);
  const ms = byronSlots * network.byronSlotMs + (slot - byronSlots) * network.shelleySlotMs;
  return (startMs(network) + ms) / 1000;
}

/** The slot in which a moment falls; USAGE when the network had not started. */
export function timeToSlot(network: CardanoNetwork, unixSeconds: number): number {
  const ms = Math.round(unixSeconds * 1000) - startMs(network);
  if (!(ms >= 0))
    throw new UnspentError('USAGE', `${network.name} starts at ${network.systemStart}, after ${unixSeconds}`, { unixSeconds });
  const byronMs = network.firstShelleySlot * network.byronSlotMs;
  if (ms < byronMs) return Math.floor(ms / network.byronSlotMs);
  return network.firstShelleySlot + Math.floor((ms - byronMs) / network.shelleySlotMs);
}

/** The slot in which a moment falls that anybody may have written: 0 before the network began. */
export function slotAtMs(network: CardanoNetwork, ms: bigint): number {
  if (ms < BigInt(startMs(network))) return 0;
  return timeToSlot(network, Math.min(Number(ms), Number.MAX_SAFE_INTEGER / 1000) / 1000);
}

/** The first slot that begins at such a moment or later. */
export function firstSlotFromMs(network: CardanoNetwork, ms: bigint): number {
  const slot = slotAtMs(network, ms);
  return BigInt(Math.round(1000 * slotToTime(network, slot))) < ms ? slot + 1 : slot;
}

/** The epoch that a slot is in. */
export function slotToEpoch(network: CardanoNetwork, slot: number): number {
  assertCount(slot, 'slot');
  if (slot < network.firstShelleySlot) return Math.floor(slot / network.byronEpochSlots);
  return network.firstShelleyEpoch + Math.floor((slot - network.firstShelleySlot) / network.shelleyEpochSlots);
}

/** First slot of an epoch. */
export function epochToSlot(network: CardanoNetwork, epoch: number): number {
  assertCount(epoch, 'epoch');
  if (epoch < network.firstShelleyEpoch) return epoch * network.byronEpochSlots;
  return network.firstShelleySlot + (epoch - network.firstShelleyEpoch) * network.shelleyEpochSlots;
}

/** In whole milliseconds: a tenth of a second is not exact as a fraction. */
function startMs(network: CardanoNetwork): number {
  return Math.round(network.systemStart * 1000);
}

function assertCount(value: number, what: string): void {
  assert(Number.isSafeInteger(value) && value >= 0, `${what} is a whole number, not ${value}`);
}
