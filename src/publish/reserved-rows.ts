/**
 * The reserved rows of `chain` in a copy: what blocks and pruning make of them is
 * followed, and what upkeep of the store made of them otherwise is added to the
 * last change of a round.
 */
import type { Reader } from '../engine/engine.ts';
import { CHAIN, META_PREFIX } from '../projections/chain.ts';
import { ONLY_COPY_KEY } from '../projections/history/elsewhere.ts';
import { equalBytes } from '../util/bytes.ts';
import type { CopyChange } from './change.ts';
import type { PublishedScope } from './identity.ts';
import { keyText, type RowChanges } from './row-changes.ts';

/** The reserved rows of `chain`, by key text. */
export function reservedRows(reader: Reader, scope: Pick<PublishedScope, 'isLocal'>): Map<string, Uint8Array> {
  const rows = new Map<string, Uint8Array>();
  for (const [key, value] of reader.scan(CHAIN, { gte: Uint8Array.of(META_PREFIX) }))
    if (!scope.isLocal(CHAIN, key)) rows.set(keyText(key), value);
  return rows;
}

/** What a change makes of the reserved rows. */
export function trackReserved(rows: Map<string, Uint8Array>, { columns }: Pick<CopyChange, 'columns'>): void {
  for (const { column, puts, deletes } of columns) {
    if (column !== CHAIN) continue;
    for (const [key, value] of puts) if (key[0] === META_PREFIX && key !== ONLY_COPY_KEY) rows.set(keyText(key), value);
    for (const key of deletes) if (key[0] === META_PREFIX) rows.delete(keyText(key));
  }
}

/** Adds what leads from some reserved rows to others. False: they are the same. */
export function addDifference(from: ReadonlyMap<string, Uint8Array>, to: ReadonlyMap<string, Uint8Array>, changes: RowChanges): boolean {
  let isOther = false;
  for (const text of new Set([...from.keys(), ...to.keys()])) {
    const value = to.get(text);
    if (sameValue(from.get(text), value)) continue;
    changes.set(CHAIN, Buffer.from(text, 'latin1'), value);
    isOther = true;
  }
  return isOther;
}

export function sameValue(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equalBytes(a, b);
}
