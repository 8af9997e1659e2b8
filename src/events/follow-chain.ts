/**
 * Which blocks are applied and undone, from any block of the chain on, for
 * readers that have what is in a block from the history. `StoreEvents` tells what
 * blocks did to the unspent set, from undo records, and so only inside the
 * rollback window; this goes back as far as the chain does.
 *
 * A reader holds one snapshot, in which the block it is at is on the chain, so
 * that a block can be looked into when it is undone.
 */
import type { ChainRow } from '../projections/chain.ts';
import { isOnChain } from '../query/chain-difference.ts';
import type { Query } from '../query/query.ts';
import { Latch } from '../util/latch.ts';
import type { SharedSnapshots } from './shared-snapshots.ts';

/** `query`: in this one the block is on the chain. Only until the next step is asked for. */
export type ChainStep =
  /** The first: where the reader begins; null: at the origin. */
  | { readonly kind: 'begun'; readonly row: ChainRow | null; readonly query: Query }
  | { readonly kind: 'applied' | 'undone'; readonly row: ChainRow; readonly query: Query };

/** Begins right after the block that `start` says (null: the origin), and ends with the signal. Throws what `start` throws. */
export async function* followChain(
  snapshots: Pick<SharedSnapshots, 'lease' | 'onMove'>,
  start: (query: Query) => ChainRow | null,
  signal: AbortSignal,
): AsyncGenerator<ChainStep, void, void> {
  let lease = snapshots.lease();
  const moved = new Latch();
  const wake = (): void => moved.set();
  const stopListening = snapshots.onMove(wake);
  signal.addEventListener('abort', wake);
  try {
    let isBehind = false;
    let row = start(lease.query);
    yield { kind: 'begun', row, query: lease.query };
    while (!signal.aborted) {
      isBehind ||= moved.take();
      if (isBehind) {
        const newest = snapshots.lease();
        if (row !== null && !isOnChain(newest.query, row)) {
          newest.release();
          yield { kind: 'undone', row, query: lease.query };
          row = lease.query.blockByHash(row.prevHash);
          continue;
        }
        lease.release();
        lease = newest;
        isBehind = false;
      }
      const next = lease.query.blockAfter(row);
      if (next === null) await moved.wait();
      else {
        yield { kind: 'applied', row: next, query: lease.query };
        row = next;
      }
    }
  } finally {
    stopListening();
    signal.removeEventListener('abort', wake);
    lease.release();
  }
}
