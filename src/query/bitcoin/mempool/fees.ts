/**
 * Fees by what is in the mempool: how much of it pays which rate, and what rate
 * would get into the next blocks if they took the best-paying first. Rates are
 * satoshi for a virtual byte. Nothing here knows of transactions that have not
 * come yet: it is a reading, not a forecast.
 */

/** Virtual bytes of a block: a quarter of the four million that a weight may be. */
const BLOCK_VIRTUAL_SIZE = 1_000_000;

/** Virtual bytes of the first step of a histogram; each further step is a tenth larger, because low rates matter less. */
const STEP_VIRTUAL_SIZE = 100_000;
const STEP_GROWTH = 1.1;

/** What nodes relay at the least, unless told otherwise. */
const RATE_MIN = 1;

/** A list that takes longer than this to sort, in milliseconds, is used again for so many times as long. */
const SORT_MS = 5;
const SORT_REUSE = 20;

interface Paying {
  readonly rate: number;
  readonly virtualSize: number;
}

export type FeeStep = readonly [rate: number, virtualSize: number];

/**
 * Fees of the mempool, sorted by rate, highest first; transactions of unknown fee are left out. It is sorted again
 * after a change, but if it is long not at every request, because sorting it each time would keep other requests
 * waiting.
 */
export class FeeList {
  private sorted: readonly Paying[] | null = null;
  private isCurrent = false;
  private goodUntilMs = 0;

  changed(): void {
    this.isCurrent = false;
  }

  of(txs: Iterable<Paying & { readonly fee: bigint | null }>): readonly Paying[] {
    const started = performance.now();
    if (this.sorted !== null && (this.isCurrent || started < this.goodUntilMs)) return this.sorted;
    const paying: Paying[] = [];
    for (const { fee, rate, virtualSize } of txs) if (fee !== null) paying.push({ rate, virtualSize });
    this.sorted = paying.sort((a, b) => b.rate - a.rate);
    this.isCurrent = true;
    const ended = performance.now();
    this.goodUntilMs = ended - started > SORT_MS ? ended + SORT_REUSE * (ended - started) : 0;
    return this.sorted;
  }
}

/** Of what is sorted by rate, highest first. Each step says the lowest rate in it; together they are all there is. */
export function feeHistogram(paying: readonly Paying[]): readonly FeeStep[] {
  const steps: FeeStep[] = [];
  let wanted = STEP_VIRTUAL_SIZE;
  let size = 0;
  for (const [i, { rate, virtualSize }] of paying.entries()) {
    size += virtualSize;
    // What pays the same stays together.
    const isLast = i + 1 === paying.length;
    if (!isLast && (size < wanted || paying[i + 1].rate === rate)) continue;
    steps.push([rate, size]);
    size = 0;
    wanted *= STEP_GROWTH;
  }
  return steps;
}

/** The rate of the first that would not fit into so many blocks. */
export function rateWithin(paying: readonly Paying[], blocks: number): number {
  let size = 0;
  for (const { rate, virtualSize } of paying) {
    size += virtualSize;
    if (size > blocks * BLOCK_VIRTUAL_SIZE) return Math.max(RATE_MIN, rate);
  }
  return RATE_MIN;
}
