/** Lists as long as a test wants them, over the few rows of a small store. */
import type { Served } from './served.ts';

/** Every key has endless rows, or as many as it says; counts those that were read and the lists that are being read. */
export class Endless {
  rows = 0;
  open = 0;
  openMax = 0;
  /** Called before each row. */
  onRow: (() => void) | null = null;

  /** `max`: how many rows each has. */
  constructor(served: Served, max = Number.POSITIVE_INFINITY) {
    const lease = served.reads.lease.bind(served.reads);
    served.reads.lease = () => {
      const held = lease();
      const { query } = held;
      const byKey = Object.getPrototypeOf(query).byKey.bind(query) as typeof query.byKey;
      query.byKey = (kind, key, page) => this.repeat([...byKey(kind, key, { ...page, limit: undefined })], page?.limit ?? max);
      return held;
    };
  }

  private *repeat<T>(few: readonly T[], limit: number): Generator<T, void, void> {
    this.openMax = Math.max(this.openMax, ++this.open);
    try {
      for (let i = 0; i < limit; i++, this.rows++) {
        this.onRow?.();
        yield few[i % few.length];
      }
    } finally {
      this.open--;
    }
  }
}
