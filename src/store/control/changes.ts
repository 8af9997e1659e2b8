/**
 * What a command may change in a store that is open: one call, one commit or a
 * few, between two blocks of whoever follows a chain into it. In the process
 * that has the store these are calls; for another one that asks, messages
 * between the thread that runs its command and the thread of the fold.
 */
import type { PinnedFiles } from '../../engine/pinned-files.ts';
import type { Point } from '../../ledgers/ledger.ts';
import type { PruneCounts } from '../../state/pruned.ts';
import { UnspentError } from '../../util/errors.ts';
import { type PinnedStore, pinStore, pinStoreFiles } from '../backup/pinned-store.ts';
import type { OpenStore } from '../store.ts';

export interface StoreChanges {
  /** Throws UNSUPPORTED while a source is followed: it would bring the blocks back at once. */
  rollback(to: Point | null): Promise<{ readonly undone: number; readonly head: Point | null }>;
  /** One bounded batch. */
  prune(): Promise<{ readonly counts: PruneCounts; readonly head: Point | null; readonly horizon: Point | null }>;
  /** Holds the block that the store is at; release it. Throws BUSY. */
  pin(): Promise<PinnedStore>;
}

/** What can be sent to another thread of a store that is held: its files, and the block they are of. */
export interface PinnedBlock {
  readonly files: PinnedFiles | null;
  readonly head: Point | null;
}

/** In the thread of the fold, which takes blocks one after the other: whatever is called here is between two of them. */
export function changesOf(store: OpenStore): StoreChanges {
  return {
    async rollback(to) {
      const { following } = store;
      if (following !== null) {
        const what = `${following.source.name} is followed into the store, and would bring back at once what is undone`;
        throw new UnspentError('UNSUPPORTED', `${what}; stop process ${process.pid} first`, { process: process.pid });
      }
      const undone = store.rollback(to);
      return { undone, head: pointOf(store.fold.head) };
    },
    async prune() {
      const counts = store.prune();
      return { counts, head: pointOf(store.fold.head), horizon: pointOf(store.horizon()) };
    },
    async pin() {
      return pinStore(store);
    },
  };
}

/** In the thread of the fold: whoever asked must read the same block before the next one is applied. */
export function pinBlock(store: OpenStore): PinnedBlock {
  return { files: pinStoreFiles(store), head: pointOf(store.fold.head) };
}

/** Plain data, that can be sent to another thread. */
function pointOf(point: Point | null): Point | null {
  return point === null ? null : { height: point.height, slot: point.slot, hash: Uint8Array.from(point.hash) };
}
