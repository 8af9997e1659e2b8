/**
 * The difference of two looks at a mempool, for sources that are shown all of it
 * each time.
 */
import type { MempoolChange } from '../ledgers/mempool-change.ts';
import { fromHex } from '../util/bytes.ts';

/**
 * From what was told to what there is, by ids in hex. What left comes before what came, because one may have taken the
 * other's place. `slot`: the one that the mempool is for.
 */
export function mempoolDifference(
  told: ReadonlySet<string>,
  present: ReadonlyMap<string, Uint8Array>,
  slot: number,
): readonly MempoolChange[] {
  const gone = [...told].filter((id) => !present.has(id)).map((id) => fromHex(id));
  const txs = [...present].filter(([id]) => !told.has(id)).map(([, tx]) => tx);
  return [
    ...(gone.length > 0 ? [{ kind: 'remove', ids: gone, slot } as const] : []),
    ...(txs.length > 0 ? [{ kind: 'add', txs } as const] : []),
  ];
}
