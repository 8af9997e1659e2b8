/**
 * What the embedded store has at hand without asking its engine: the records
 * that were read or written last, since when the best chain has many more, which
 * parents have references, and which ids have no record. All of it is of the state with a certain mark (totals.ts); of any other state nothing is
 * believed. Whoever writes through units of one cache keeps it up to date;
 * whoever writes without it makes it start anew.
 */
import type { Reader } from '../../engine/engine.ts';
import { TX_CACHE_BYTES, TX_CACHE_HEIGHTS } from '../../util/limits.ts';
import { TX_REFERENCE } from './columns.ts';
import { KnownIds } from './known-ids.ts';
import { MinedHeights } from './mined-heights.ts';
import { ReferenceFilter } from './reference-filter.ts';
import { RowCache } from './row-cache.ts';

/** Of a store with few records: with 128 MB of rows 4 MB of counts, good for 800,000. */
const ROW_BYTES_PER_ID_COUNT = 32;

const caches = new WeakMap<Reader, TxCache>();

/** The one that all who write to the engine share, so that nobody makes it start anew for the others. */
export function cacheOf(engine: Reader): TxCache {
  const known = caches.get(engine);
  if (known !== undefined) return known;
  const cache = new TxCache();
  caches.set(engine, cache);
  return cache;
}

export class TxCache {
  readonly rows: RowCache;
  readonly heights: MinedHeights;
  #references: ReferenceFilter | null = null;
  #ids: KnownIds | null = null;
  readonly #idCountsMin: number;
  #mark: number | null = null;

  constructor(bytes: number = TX_CACHE_BYTES, heights: number = TX_CACHE_HEIGHTS) {
    this.rows = new RowCache(bytes);
    this.#idCountsMin = 2 ** Math.ceil(Math.log2(bytes / ROW_BYTES_PER_ID_COUNT));
    this.heights = new MinedHeights(heights);
  }

  /** What is at hand is of the state with this mark from here on. */
  follow(mark: number): void {
    if (mark === this.#mark) return;
    this.rows.clear();
    this.heights.clear();
    this.#references = null;
    this.#ids = null;
    this.#mark = mark;
  }

  /** What is at hand is of the state after the change with this mark; if that is never committed, `follow` finds another. */
  written(mark: number): void {
    this.#mark = mark;
  }

  /** Null: nobody has asked for them yet. */
  get references(): ReferenceFilter | null {
    return this.#references;
  }

  /** Null: nobody has asked for them yet. */
  get ids(): KnownIds | null {
    return this.#ids;
  }

  /** Of so many records; it reads `rows` of those that it does not know yet. */
  learnIds(reader: Reader, records: number, rows: number): KnownIds {
    if (this.#ids === null || this.#ids.isSmallFor(records)) this.#ids = new KnownIds(records, this.#idCountsMin);
    this.#ids.learn(reader, rows);
    return this.#ids;
  }

  /** Reads every reference, the first time. */
  loadReferences(reader: Reader): ReferenceFilter {
    if (this.#references !== null) return this.#references;
    const filter = new ReferenceFilter();
    for (const [key] of reader.scan(TX_REFERENCE)) filter.add(key);
    this.#references = filter;
    return filter;
  }
}
