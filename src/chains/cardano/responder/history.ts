/**
 * Answers about time: when the chain started, and the eras it has gone through
 * with the length of their slots and epochs. Clients turn slots into times with
 * these.
 *
 * Source: ouroboros-consensus HardFork/History/{Summary,EraParams}.hs; pallas localstate/queries_v16.
 */
import { type CardanoNetwork, ERA_NAMES } from '../../../ledgers/cardano/networks.ts';
import { slotToEpoch, slotToTime } from '../../../ledgers/cardano/time.ts';
import { CborWriter } from '../../../util/cbor-write.ts';

const PICOSECONDS = 1_000_000_000_000n;

/** `[year, day of the year, picoseconds of the day]`. */
export function encodeSystemStart({ systemStart }: CardanoNetwork): Uint8Array {
  const date = new Date(1000 * systemStart);
  const year = date.getUTCFullYear();
  const midnight = Date.UTC(year, date.getUTCMonth(), date.getUTCDate());
  const day = 1 + Math.round((midnight - Date.UTC(year, 0, 1)) / 86_400_000);
  const seconds = BigInt(Math.round(date.getTime() - midnight)) / 1000n;
  return new CborWriter()
    .array(3)
    .uint(year)
    .uint(day)
    .bigUint(seconds * PICOSECONDS)
    .take();
}

/** Every era up to the current one, which has no end yet. Where a network does not say when eras began, all did at once. */
export function encodeEraHistory(network: CardanoNetwork, eraIndex: number): Uint8Array {
  const w = new CborWriter().startArray();
  const startOf = (index: number): number => network.eraStartSlots[ERA_NAMES[index]] ?? (index === 0 ? 0 : network.firstShelleySlot);
  for (let i = 0; i <= eraIndex; i++) {
    w.array(3);
    writeBound(w, network, startOf(i));
    if (i < eraIndex) writeBound(w, network, startOf(i + 1));
    else w.null();
    writeParams(w, network, i === 0);
  }
  return w.end().take();
}

/** Time since the start of the system, slot and epoch. */
function writeBound(w: CborWriter, network: CardanoNetwork, slot: number): void {
  const ms = BigInt(Math.round(1000 * (slotToTime(network, slot) - network.systemStart)));
  w.array(3)
    .bigUint((ms * PICOSECONDS) / 1000n)
    .uint(slot)
    .uint(slotToEpoch(network, slot));
}

/** Slots of an epoch, milliseconds of a slot, the zone a fork cannot reach into, and the genesis window. */
function writeParams(
  w: CborWriter,
  { k, byronEpochSlots, byronSlotMs, shelleyEpochSlots, shelleySlotMs }: CardanoNetwork,
  byron: boolean,
): void {
  const window = byron ? 2 * k : Math.round((3 * shelleyEpochSlots) / 10);
  w.array(4)
    .uint(byron ? byronEpochSlots : shelleyEpochSlots)
    .uint(byron ? byronSlotMs : shelleySlotMs);
  w.array(3).uint(0).uint(window).array(1).uint(0).uint(window);
}
