/**
 * What a script received and spent over the whole chain: a walk over its
 * history, in slices. The sums are remembered with the block they were made at,
 * so that for a script that is asked for again only what came since is walked;
 * after a rollback below that block they are made anew.
 */
import type { Point } from '../../../ledgers/ledger.ts';
import type { HistoryRow, ScriptTotals } from '../../../query/history.ts';
import type { Query } from '../../../query/query.ts';
import { equalBytes, toHex } from '../../../util/bytes.ts';
import { ESPLORA_STATS_MAX } from '../../../util/limits.ts';
import type { Task } from '../../http/work/task.ts';

export interface Totals extends ScriptTotals {
  readonly txs: number;
}

interface Known {
  readonly at: Point;
  readonly totals: Totals;
}

const NOTHING: Totals = { fundedCount: 0, fundedSum: 0n, spentCount: 0, spentSum: 0n, txs: 0 };
/** Behind every transaction of a block. */
const LAST_INDEX = 0xffff_ffff;

export class ScriptStats {
  readonly #known = new Map<string, Known>();

  of(query: Query, key: Uint8Array, task: Task): Totals | Promise<Totals> {
    const history = query.history();
    const { head } = query;
    if (head === null) return NOTHING;
    const name = toHex(key);
    const known = this.#standing(query, name);
    if (known !== null && equalBytes(known.at.hash, head.hash)) return known.totals;
    const after = known === null ? {} : { after: { height: known.at.height, txIndex: LAST_INDEX } };
    const sum: Sum = { ...(known?.totals ?? NOTHING) };
    return task.inSlices(
      history.ofKey('address', key, { order: 'asc', ...after }),
      (row) => add(sum, row),
      () => this.#remember(name, head, sum),
    );
  }

  /** What is known of it, if the block it was known at is still one of ours. */
  #standing(query: Query, name: string): Known | null {
    const known = this.#known.get(name);
    const row = known === undefined ? null : query.blockAtHeight(known.at.height);
    return known !== undefined && row !== null && equalBytes(row.hash, known.at.hash) ? known : null;
  }

  #remember(name: string, at: Point, totals: Totals): Totals {
    // The one that was asked for longest ago stands first.
    this.#known.delete(name);
    if (this.#known.size >= ESPLORA_STATS_MAX) this.#known.delete(this.#known.keys().next().value ?? '');
    this.#known.set(name, { at, totals });
    return totals;
  }
}

type Sum = { -readonly [K in keyof Totals]: Totals[K] };

function add(sum: Sum, { fundedCount, fundedSum, spentCount, spentSum }: HistoryRow): boolean {
  sum.fundedCount += fundedCount;
  sum.fundedSum += fundedSum;
  sum.spentCount += spentCount;
  sum.spentSum += spentSum;
  sum.txs++;
  return true;
}
