/**
 * The fill: a projection that is switched on for a store that has blocks
 * already is built from the unspent set, a bounded step at a time, while blocks
 * come and go. A reserved row `fill.<projection>` in `chain` holds its cursor:
 * the last key of `utxo_unspent` done (empty: none yet); no row means ready.
 *
 * What is promised at every commit: the projection's columns are what they
 * would be if the unspent set ended at the cursor. So a step of the fold shows
 * it only the outputs up to there; the others are met by the scan later, in
 * whatever state they are then. The cursor is in the same batch as the rows it
 * stands for: there is nothing to reconcile after a rollback, a restart or a
 * crash.
 */
import type { Batch, Engine, Reader } from '../engine/engine.ts';
import { OUTPOINT_BYTES } from '../ledgers/outpoint.ts';
import { CHAIN } from '../projections/chain.ts';
import type { Coin } from '../projections/coin.ts';
import { coinOfRow, type OwnerKeys } from '../projections/packed.ts';
import type { ForwardBlock, Projection, PrunedBlock, SettledBlock, Step, StepBlock, Undo } from '../projections/projection.ts';
import { UNSPENT } from '../projections/utxo.ts';
import { compareBytes, equalBytes } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { keyAfter } from '../util/key-range.ts';
import { FILL_BYTES_MAX, FILL_ROWS_MAX, FILL_ROWS_MIN, FILL_STEP_MS } from '../util/limits.ts';
import { metaKey } from './head.ts';

const FILL = 'fill.';
const FILL_ROWS = { gte: metaKey(FILL), lt: metaKey('fill/') } as const;
const NOTHING = new Uint8Array(0);

/** The projections that are not ready yet, by name, with how far each is. */
export function readFills(reader: Reader): Map<string, Uint8Array> {
  const fills = new Map<string, Uint8Array>();
  for (const [key, cursor] of reader.scan(CHAIN, FILL_ROWS)) {
    const name = new TextDecoder().decode(key.subarray(FILL_ROWS.gte.length));
    if (cursor.length !== 0 && cursor.length !== OUTPOINT_BYTES) {
      throw new UnspentError('STORE_DAMAGED', `the cursor of the fill of ${name} has ${cursor.length} bytes`, { projection: name });
    }
    fills.set(name, cursor);
  }
  return fills;
}

/** From this batch on the projection, whose columns are empty, is filling. */
export function writeFillStart(batch: Batch, name: string): void {
  batch.put(CHAIN, metaKey(FILL + name), NOTHING);
}

/** From this batch on nothing is known of a fill: the projection is ready, or no longer kept. */
export function deleteFill(batch: Batch, name: string): void {
  batch.del(CHAIN, metaKey(FILL + name));
}

/** A projection that sees only the outputs up to its cursor. Once it is ready it passes everything on. */
class FillingProjection implements Projection {
  readonly name: string;
  readonly columns: Projection['columns'];
  readonly inner: Projection;
  /** Null: ready. */
  cursor: Uint8Array | null;

  constructor(inner: Projection, cursor: Uint8Array) {
    this.name = inner.name;
    this.columns = inner.columns;
    this.inner = inner;
    this.cursor = cursor;
  }

  apply(step: Step<ForwardBlock>, view: Reader, batch: Batch): Undo | undefined {
    return this.inner.apply(this.seen(step), view, batch);
  }

  revert(step: Step, undo: Undo, view: Reader, batch: Batch): void {
    this.inner.revert(this.seen(step), undo, view, batch);
  }

  prune(block: PrunedBlock, batch: Batch): number {
    return this.inner.prune?.(block, batch) ?? 0;
  }

  settle(blocks: readonly SettledBlock[], view: Reader, batch: Batch): void {
    this.inner.settle?.(blocks, view, batch);
  }

  private seen<B extends StepBlock>(step: Step<B>): Step<B> {
    const { cursor } = this;
    if (cursor === null) return step;
    const isDone = (coin: Coin): boolean => isUpTo(coin, cursor);
    return { blocks: step.blocks, added: step.added.filter(isDone), removed: step.removed.filter(isDone) };
  }
}

/** Whether the coin's key is not behind the cursor. */
function isUpTo({ keyBytes, keyAt }: Coin, cursor: Uint8Array): boolean {
  if (cursor.length === 0) return false;
  for (let i = 0; i < OUTPOINT_BYTES; i++) {
    const difference = keyBytes[keyAt + i] - cursor[i];
    if (difference !== 0) return difference < 0;
  }
  return true;
}

/** How far something that was switched on for a store with blocks has come. */
export interface FillProgress {
  /** Its name. */
  readonly projection: string;
  /** Share of the unspent set done, from 0 to 1: ids are hashes, so their place among all ids tells. */
  readonly done: number;
  /** Outputs gone through since the store was opened. */
  readonly rows: number;
}

export interface FillLimits {
  readonly rows: number;
  readonly bytes: number;
}

/** Some hundred outputs at first: the first step measures what an output costs. */
export const FIRST_LIMITS: FillLimits = { rows: 4 * FILL_ROWS_MIN, bytes: FILL_BYTES_MAX };

/** For the next step, after one that took this long: an index costs a few microseconds an output, a balance or a datum many times that. */
export function nextLimits({ rows, bytes }: FillLimits, seconds: number): FillLimits {
  if (1000 * seconds > FILL_STEP_MS) return { rows: Math.max(FILL_ROWS_MIN, rows >> 1), bytes };
  return 2000 * seconds > FILL_STEP_MS ? { rows, bytes } : { rows: Math.min(FILL_ROWS_MAX, 2 * rows), bytes };
}

/** The fills of one store. The fold is given `projections`; `step` is called between blocks, when there is time. */
export class Fills {
  readonly projections: readonly Projection[];
  private readonly engine: Engine;
  private readonly ledger: OwnerKeys;
  private filling: readonly FillingProjection[];
  private readonly rows = new Map<string, number>();

  constructor(engine: Engine, projections: readonly Projection[], ledger: OwnerKeys) {
    this.engine = engine;
    this.ledger = ledger;
    const cursors = readFills(engine);
    this.projections = projections.map((projection) => {
      const cursor = cursors.get(projection.name);
      return cursor === undefined ? projection : new FillingProjection(projection, cursor);
    });
    this.filling = this.projections.filter((projection) => projection instanceof FillingProjection);
  }

  get isDone(): boolean {
    return this.filling.length === 0;
  }

  progress(): FillProgress[] {
    return this.filling.map(({ name, cursor }) => ({ projection: name, done: shareOf(cursor), rows: this.rows.get(name) ?? 0 }));
  }

  /**
   * Goes through the next outputs, in one batch. Those that are behind go first,
   * up to where the next one is; from there on they share the scan. Returns the
   * number of outputs.
   */
  step(limits: FillLimits = FIRST_LIMITS): number {
    const [first, ...others] = [...this.filling].sort((a, b) => compareBytes(cursorOf(a), cursorOf(b)));
    if (first === undefined) return 0;
    const from = cursorOf(first);
    const together = [first, ...others.filter((other) => equalBytes(cursorOf(other), from))];
    const next = others[together.length - 1];
    const { coins, ended } = this.read(from, next === undefined ? null : cursorOf(next), limits);
    const end = next === undefined ? null : cursorOf(next);
    this.commit(together, coins, ended ? end : Uint8Array.from(coins[coins.length - 1].keyBytes));
    return coins.length;
  }

  /** Outputs behind `from`, up to and with `to` (null: all). `ended`: there are no more. */
  private read(from: Uint8Array, to: Uint8Array | null, limits: FillLimits): { coins: Coin[]; ended: boolean } {
    const coins: Coin[] = [];
    let bytes = 0;
    const range = { gte: from.length === 0 ? from : keyAfter(from), limit: limits.rows, ...(to === null ? {} : { lt: keyAfter(to) }) };
    for (const [key, value] of this.engine.scan(UNSPENT, range)) {
      coins.push(coinOfRow(key, value, this.ledger));
      bytes += value.length;
      if (bytes >= limits.bytes) return { coins, ended: false };
    }
    return { coins, ended: coins.length < limits.rows };
  }

  /** `cursor` null: there is nothing more, they are ready. */
  private commit(projections: readonly FillingProjection[], coins: readonly Coin[], cursor: Uint8Array | null): void {
    const batch = this.engine.batch();
    for (const { name, inner } of projections) {
      if (coins.length > 0) inner.apply({ blocks: [], added: coins, removed: [] }, this.engine, batch);
      if (cursor === null) deleteFill(batch, name);
      else batch.put(CHAIN, metaKey(FILL + name), cursor);
    }
    batch.commit();
    for (const projection of projections) {
      projection.cursor = cursor;
      this.rows.set(projection.name, (this.rows.get(projection.name) ?? 0) + coins.length);
    }
    this.filling = this.filling.filter((projection) => projection.cursor !== null);
  }
}

function cursorOf({ cursor }: FillingProjection): Uint8Array {
  return cursor ?? NOTHING;
}

const SHARE_BYTES = 6;

function shareOf(cursor: Uint8Array | null): number {
  if (cursor === null) return 1;
  let share = 0;
  for (let i = 0; i < Math.min(SHARE_BYTES, cursor.length); i++) share += cursor[i] / 256 ** (i + 1);
  return share;
}
