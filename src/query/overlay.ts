/**
 * The outputs that were unspent after an earlier block and are spent now: with
 * them, today's unspent set can answer for that block. Read from the undo
 * records of the blocks above it, once, and kept for whoever asks next.
 *
 * An overlay never changes. When the chain grows, the next one is made of the
 * last and of what the new blocks spent.
 */
import type { SetSummary } from '../ledgers/ledger.ts';
import { OUTPOINT_BYTES } from '../ledgers/outpoint.ts';
import type { ChainRow } from '../projections/chain.ts';
import { AT, Coin, SPENT_AT } from '../projections/coin.ts';
import { wholeLength, writeWhole } from '../projections/packed.ts';
import { SPENT } from '../projections/utxo.ts';
import { blockByHash, rowKey } from '../state/blocks.ts';
import { DELTA, readDelta } from '../state/delta.ts';
import { type Head, headKey } from '../state/head.ts';
import { Arena } from '../util/arena.ts';
import { equalBytes, readU32, toHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { keyAfter } from '../util/key-range.ts';
import { PAST_BYTES_MAX, PAST_POINTS_MAX, SCAN_ROWS } from '../util/limits.ts';
import { finish, type Steps } from '../util/steps.ts';
import { CoinSet } from './coin-set.ts';
import { PastMmrs } from './past-mmr.ts';
import { PastTrees } from './past-tree.ts';
import { CarriedOutputs } from './spent-rows.ts';
import type { StoreColumns } from './store-columns.ts';

export class Overlay extends CoinSet {
  /** Of the keys and values of its outputs. */
  readonly bytes: number;
  /** The hash of the unspent set as of this past, once it was worked out (`set-hash.ts`). */
  setSummary: SetSummary | null = null;

  constructor(coins: readonly Coin[], bytes: number) {
    super(coins);
    this.bytes = bytes;
  }
}

interface CachedOverlay {
  readonly point: ChainRow;
  readonly tip: Uint8Array;
  readonly overlay: Overlay;
}

/** The overlays made last. One of these serves every query of a store, so that pages of the same past build it once. */
export class Overlays {
  private readonly bytesMax: number;
  private entries: CachedOverlay[] = [];
  readonly ranges = new PastMmrs();
  /** How many were read from undo records, from the point on or from an older tip on. */
  built = 0;
  extended = 0;

  /** What undo records carry and `utxo_spent` has forgotten. */
  readonly carried = new CarriedOutputs();

  /** The trees of the same pasts. */
  readonly trees: PastTrees;

  constructor(bytesMax = PAST_BYTES_MAX, trees = new PastTrees()) {
    this.bytesMax = bytesMax;
    this.trees = trees;
  }

  /** For a block of our chain whose undo records above it are all there. */
  at(point: ChainRow, head: Head, columns: StoreColumns): Overlay {
    return finish(this.making(point, head, columns));
  }

  /** Whether it is remembered. */
  has(point: ChainRow, head: Head): boolean {
    return this.entries.some((entry) => equalBytes(entry.point.hash, point.hash) && equalBytes(entry.tip, head.hash));
  }

  /** The same in steps, one for each block that is read. */
  *making(point: ChainRow, head: Head, columns: StoreColumns): Steps<Overlay> {
    const mine = this.entries.filter((entry) => equalBytes(entry.point.hash, point.hash));
    const exact = mine.find((entry) => equalBytes(entry.tip, head.hash));
    if (exact !== undefined) {
      this.remember(exact, exact);
      return exact.overlay;
    }
    const older = mine.map((entry) => ({ entry, tip: blockByHash(columns.reader, entry.tip) })).find(({ tip }) => tip !== null);
    const overlay = yield* this.reading(point, older?.tip ?? point, older?.entry.overlay ?? NOTHING, head, columns);
    if (older === undefined) this.built++;
    else this.extended++;
    this.remember({ point, tip: head.hash, overlay }, older?.entry);
    return overlay;
  }

  private remember(entry: CachedOverlay, instead: CachedOverlay | undefined): void {
    this.entries = [entry, ...this.entries.filter((each) => each !== instead)].slice(0, PAST_POINTS_MAX);
    // All of them together take no more than one may.
    let bytes = 0;
    this.entries = this.entries.filter(({ overlay }, i) => {
      bytes += overlay.bytes;
      return i === 0 || bytes <= this.bytesMax;
    });
  }

  private *reading(point: ChainRow, above: ChainRow, base: Overlay, head: Head, columns: StoreColumns): Steps<Overlay> {
    const reading = new Reading(point, base, columns, this.bytesMax);
    for (const [key, value] of columns.reader.scan(DELTA, { gte: keyAfter(rowKey(above)), lt: keyAfter(headKey(head)) })) {
      const delta = readDelta(value, `the delta of block ${toHex(key)}`);
      for (const { key: outpoint, carried } of delta.spent) reading.add(outpoint, carried?.value);
      yield;
    }
    return reading.end();
  }
}

const NOTHING = new Overlay([], 0);

/** Collects what the blocks above a point spent and it had. */
class Reading {
  private readonly point: ChainRow;
  private readonly columns: StoreColumns;
  private readonly bytesMax: number;
  private readonly coins: Coin[];
  private bytes: number;
  private readonly arena = new Arena();
  private pending: Uint8Array[] = [];

  constructor(point: ChainRow, base: Overlay, columns: StoreColumns, bytesMax: number) {
    this.point = point;
    this.columns = columns;
    this.bytesMax = bytesMax;
    this.coins = [...base.coins];
    this.bytes = base.bytes;
  }

  add(key: Uint8Array, value: Uint8Array | undefined): void {
    if (value !== undefined) this.take(key, value, 0);
    else if (this.pending.push(key) === SCAN_ROWS) this.flush();
  }

  end(): Overlay {
    this.flush();
    return new Overlay(this.coins, this.bytes);
  }

  private flush(): void {
    if (this.pending.length === 0) return;
    const rows = this.columns.reader.getMany(SPENT, this.pending);
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i];
      if (row === undefined) {
        const key = toHex(this.pending[i]);
        throw new UnspentError('STORE_DAMAGED', `${SPENT} lacks ${key}, which a block above ${this.point.height} spent`, {
          column: SPENT,
          key,
        });
      }
      this.take(this.pending[i], row, SPENT_AT.value);
    }
    this.pending = [];
  }

  /** Copied: what was read holds on to more than this one row. */
  private take(key: Uint8Array, value: Uint8Array, at: number): void {
    if (!isCreatedBy(this.point, readU32(value, at + AT.height))) return;
    const { rules } = this.columns;
    const length = OUTPOINT_BYTES + wholeLength(value, at, value.length);
    this.bytes += length;
    if (this.bytes > this.bytesMax) throw tooLarge(this.point, this.bytesMax);
    const keyAt = this.arena.take(length);
    const { slab } = this.arena;
    slab.set(key, keyAt);
    writeWhole(value, at, value.length, slab, keyAt + OUTPOINT_BYTES, rules);
    this.coins.push(new Coin(slab, keyAt, slab, keyAt + OUTPOINT_BYTES, keyAt + length, false));
  }
}

/**
 * Whether an output of that height was there after the block. A boundary block
 * has the height of the block before it, but no transactions: only where it is
 * the first of the chain does it create anything, and then nothing is before it.
 */
export function isCreatedBy(point: ChainRow, height: number): boolean {
  return height <= point.height;
}

function tooLarge({ height }: ChainRow, bytesMax: number): UnspentError {
  return new UnspentError('LIMIT', `the outputs spent since height ${height} take more than ${bytesMax} bytes; ask for a newer point`, {
    height,
    bytesMax,
  });
}
