/** Blocks with a bit flipped, and what becomes of them: nothing of the body may change without being noticed. */
import { verifyBody } from '../../../src/ledgers/cardano/body-proof.ts';
import { decodeBlock } from '../../../src/ledgers/cardano/decode.ts';
import { isUnspentError } from '../../../src/util/errors.ts';

/** Of mainnet. */
export const BYRON_EPOCH_SLOTS = 21_600;

/** What becomes of changed bytes: both refusals are BLOCK_INVALID, anything else is a failure of the test. */
export function fateOf(raw: Uint8Array, byronEpochSlots = BYRON_EPOCH_SLOTS): 'accepted' | 'undecodable' | 'unproven' {
  let decoded = false;
  try {
    const block = decodeBlock(raw, byronEpochSlots);
    decoded = true;
    verifyBody(block);
    return 'accepted';
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    return decoded ? 'unproven' : 'undecodable';
  }
}

/** Counts the fates of one flipped bit at each of the places. */
export function flipAt(
  raw: Uint8Array,
  places: Iterable<number>,
  bitOf: (at: number) => number,
  byronEpochSlots?: number,
): Record<string, number> {
  const changed = raw.slice();
  const fates: Record<string, number> = { accepted: 0, undecodable: 0, unproven: 0 };
  for (const at of places) {
    changed[at] ^= 1 << bitOf(at);
    fates[fateOf(changed, byronEpochSlots)]++;
    changed[at] = raw[at];
  }
  return fates;
}

export function* between(start: number, end: number, most = Number.POSITIVE_INFINITY): Iterable<number> {
  const step = Math.max(1, Math.floor((end - start) / most));
  for (let at = start; at < end; at += step) yield at;
}
