/** Which candidates the last passes kept, since when, and because of which child. */
import { toHex } from '../../util/bytes.ts';
import { PRUNE_BLOCKED_MAX } from '../../util/limits.ts';
import type { ChunkResult, KeptParent } from './chunk.ts';

export class BlockedParents {
  #kept: Map<string, KeptParent> = new Map();
  /** What the pass at work has kept since its beginning; null: it began in another process, or none is at work. */
  #ofPass: Map<string, KeptParent> | null = null;

  /** A pass begins, or goes on where it was interrupted. */
  begin(isResumed: boolean): void {
    if (!isResumed) this.#ofPass = new Map();
  }

  add({ kept, deleted }: ChunkResult): void {
    for (const known of [this.#kept, this.#ofPass]) {
      if (known === null) continue;
      if (known.size > 0) for (const txId of deleted) known.delete(toHex(txId));
      for (const parent of kept) {
        const key = toHex(parent.txId);
        if (known.size < PRUNE_BLOCKED_MAX || known.has(key)) known.set(key, parent);
      }
    }
  }

  /** The pass has looked at everything: what it has not kept is blocked no more. */
  complete(): void {
    if (this.#ofPass !== null) this.#kept = this.#ofPass;
    this.#ofPass = null;
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
