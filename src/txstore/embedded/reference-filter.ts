/**
 * Which parents certainly have no reference, so that nobody has to look: how
 * many references there are, by a hash of the parent. Where the count is 0 there
 * is none; elsewhere the index (TX_REFERENCE) decides.
 */
import { idHash } from '../../util/id-map.ts';

/** 8 MB: with a million references one parent in five is looked up in vain. */
const COUNTS = 2 ** 22;
/** A count that has reached it stays: nobody knows how many there are then. */
const COUNT_MAX = 0xffff;

export class ReferenceFilter {
  readonly #counts = new Uint16Array(COUNTS);

  /** The parent whose id stands at `at`. */
  mayHave(parent: Uint8Array, at = 0): boolean {
    return this.#counts[idHash(parent, at) % COUNTS] !== 0;
  }

  add(parent: Uint8Array): void {
    const at = idHash(parent) % COUNTS;
    if (this.#counts[at] < COUNT_MAX) this.#counts[at]++;
  }

  remove(parent: Uint8Array): void {
    const at = idHash(parent) % COUNTS;
    if (this.#counts[at] < COUNT_MAX) this.#counts[at]--;
  }
}
