/** Which candidates the last passes kept, since when, and because of which child. */
import { toHex } from '../../util/bytes.ts';
import { PRUNE_BLOCKED_MAX } from '../../util/limits.ts';
import type { KeptParent } from './chunk.ts';

export class BlockedParents {
  #kept: ReadonlyMap<string, KeptParent> = new Map();

  /** A pass that looked at everything replaces what was known; one that did not adds to it. */
  update(kept: readonly KeptParent[], deleted: readonly Uint8Array[], isWhole: boolean): void {
    const next = new Map(isWhole ? [] : this.#kept);
    for (const txId of deleted) next.delete(toHex(txId));
    for (const parent of kept) {
      if (next.size >= PRUNE_BLOCKED_MAX) break;
      next.set(toHex(parent.txId), parent);
    }
    this.#kept = next;
  }

  /** Those that are due longest first. */
  list(limit: number): readonly KeptParent[] {
    return [...this.#kept.values()].sort((a, b) => a.since - b.since).slice(0, limit);
  }

  ageAt(height: number): number {
    const [oldest] = this.list(1);
    return oldest === undefined ? 0 : Math.max(0, height - oldest.since);
  }
}
