/**
 * Names of the projections that a test wants kept: all that a ledger supports,
 * so that a new projection is in every test of all of them, or the unspent set
 * and a few.
 */
import type { Ledger } from '../../src/ledgers/ledger.ts';
import { supports } from '../../src/projections/entry.ts';
import { PROJECTIONS, type ProjectionTable } from '../../src/projections/registry.ts';

/** Without the unspent set. */
export const BLOCKS_ONLY: readonly string[] = ['chain', 'transactions'];

/** The unspent set, and these. */
export function keep(...names: readonly string[]): readonly string[] {
  return [...BLOCKS_ONLY, 'utxo', ...names];
}

/** Everything a store of this ledger can keep, but for what changes the kind of store. */
export function keepAll(ledger: Ledger): readonly string[] {
  const table: ProjectionTable = PROJECTIONS;
  return table.filter((entry) => supports(entry, ledger) && entry.onRequestOnly !== true).map(({ name }) => name);
}

/** `index` stands for every `index.` there is. */
export function leaveOut(names: readonly string[], ...out: readonly string[]): readonly string[] {
  return names.filter((name) => !out.some((each) => name === each || name.startsWith(`${each}.`)));
}
