/**
 * One step back, written into a batch: the reverts of every projection, newest
 * block first, the undo records that go, and the head below. The fold commits
 * such a batch; publishing records it, because what undoing a block touches is
 * what the block changed.
 */
import type { Batch, Reader } from '../engine/engine.ts';
import { CHAIN, type ChainRow, readChainRow } from '../projections/chain.ts';
import { AT, type Coin } from '../projections/coin.ts';
import type { OwnerKeys } from '../projections/packed.ts';
import type { Projection, Step } from '../projections/projection.ts';
import { equalBytes, readU32, toHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { keyAfter } from '../util/key-range.ts';
import { planBack, type UndoneBlock } from './back.ts';
import { blockBelow } from './blocks.ts';
import { DELTA, readDelta } from './delta.ts';
import type { Head, Totals } from './head.ts';
import { lowerPruned } from './pruned.ts';

/** What it takes to undo blocks, besides the rows. */
export interface Undoing {
  /** In the order of apply. */
  readonly projections: readonly Projection[];
  readonly options: { readonly utxo: boolean };
  readonly ledger: OwnerKeys;
}

/** Rows and deltas from below `end`, a key, down to the block at `floor`, which stays (null: to the origin), newest first. */
export function blocksToUndo(reader: Pick<Reader, 'scan'>, end: Uint8Array, floor: Uint8Array | null, blocksMax: number): UndoneBlock[] {
  const range = { lt: end, reverse: true, limit: blocksMax, ...(floor === null ? {} : { gte: keyAfter(floor) }) };
  const rows = [...reader.scan(CHAIN, range)];
  const deltas = [...reader.scan(DELTA, range)];
  return rows.map(([key, value], i) => {
    const delta = deltas[i];
    if (delta === undefined || !equalBytes(delta[0], key)) {
      throw new UnspentError('STORE_DAMAGED', `the delta of block ${toHex(key)} is missing`, { key: toHex(key) });
    }
    return { key, row: readChainRow(key, value), delta: readDelta(delta[1], `the delta of block ${toHex(key)}`) };
  });
}

/** Returns the head below, which the caller writes; null: the origin. `head`: the one that is taken back; `under`: the block below, where it is known. */
export function writeStepBack(
  undone: readonly UndoneBlock[],
  head: Head,
  { projections, options, ledger }: Undoing,
  reader: Reader,
  batch: Batch,
  under?: ChainRow,
): Head | null {
  const step = planBack(undone, options.utxo, reader, ledger);
  // Reverse order of apply, so that a projection may rely on those before it.
  for (const projection of [...projections].reverse()) {
    const undo = undone.map(({ delta }) => delta.undo.get(projection.name));
    projection.revert(step, undo, reader, batch);
  }
  let missing = 0;
  for (const { key, delta } of undone) {
    batch.del(DELTA, key);
    missing += delta.missing;
  }
  const below = under ?? blockBelow(reader, undone[undone.length - 1].key);
  lowerPruned(below?.height ?? -1, reader, batch);
  if (below === null) return null;
  const { height, slot, boundary, era } = below;
  // Not `slice`: of a Buffer that would be a view.
  return { height, slot, hash: new Uint8Array(below.hash), boundary, era, ...movedTotals(head, step, -missing) };
}

/** The totals after a step, whichever way it goes. */
export function movedTotals(totals: Totals, step: Step, missing: number): Totals {
  return {
    utxos: totals.utxos + step.added.length - step.removed.length,
    value: totals.value + sumOf(step.added) - sumOf(step.removed),
    missing: totals.missing + missing,
  };
}

/** Sums in two halves: exact for two million outputs, and no bigint per output. */
function sumOf(coins: readonly Coin[]): bigint {
  let hi = 0;
  let lo = 0;
  for (const { bytes, at } of coins) {
    hi += readU32(bytes, at + AT.value);
    lo += readU32(bytes, at + AT.value + 4);
  }
  return (BigInt(hi) << 32n) + BigInt(lo);
}
