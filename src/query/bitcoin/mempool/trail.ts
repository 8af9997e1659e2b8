/**
 * The blocks a mempool was held against, so that at the next point it is known
 * which blocks are new and where the chain turned. Only so many are remembered;
 * a turn before them is a turn somewhere.
 */
import type { ChainRow } from '../../../projections/chain.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { MEMPOOL_BLOCKS_MAX, MEMPOOL_TRAIL_MAX } from '../../../util/limits.ts';
import type { Query } from '../../query.ts';

export interface Step {
  /** Blocks up to this height are those of before; -1: perhaps none. */
  readonly fork: number;
  /** Blocks of before may be gone. */
  readonly turned: boolean;
  /** Those above `fork`, oldest first; null: too many to look at each. */
  readonly rows: readonly ChainRow[] | null;
}

export class Trail {
  private points: { readonly height: number; readonly hash: Uint8Array }[] = [];

  /** What happened since the last call; null: nothing. */
  follow(query: Query): Step | null {
    const { points } = this;
    const { head } = query;
    const last = points.at(-1);
    if (head === null ? last === undefined : last !== undefined && equalBytes(last.hash, head.hash)) return null;
    let turned = false;
    for (let point = last; point !== undefined && !isOn(query, point); point = points.at(-1)) {
      points.pop();
      turned = true;
    }
    const fork = points.at(-1)?.height ?? -1;
    if (head === null) return { fork, turned, rows: [] };
    const rows = rowsAbove(query, fork, head.height);
    points.push(...(rows ?? [{ height: head.height, hash: head.hash }]).map(({ height, hash }) => ({ height, hash })));
    if (points.length > MEMPOOL_TRAIL_MAX) points.splice(0, points.length - MEMPOOL_TRAIL_MAX);
    return { fork, turned, rows };
  }
}

function isOn(query: Query, { height, hash }: { readonly height: number; readonly hash: Uint8Array }): boolean {
  const row = query.blockAtHeight(height);
  return row !== null && equalBytes(row.hash, hash);
}

function rowsAbove(query: Query, fork: number, height: number): readonly ChainRow[] | null {
  const from = fork < 0 ? null : query.blockAtHeight(fork);
  if (from === null || height - fork > MEMPOOL_BLOCKS_MAX) return null;
  return [...query.blocksAfter(from)];
}
