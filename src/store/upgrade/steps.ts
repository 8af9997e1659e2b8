/**
 * The formats that stores have had, and the way from each to the next. A step
 * rewrites columns row by row; a format that a package was released with keeps
 * its step for ever, and a test that makes a store of it.
 */
import type { Reader } from '../../engine/engine.ts';
import type { Ledger } from '../../ledgers/ledger.ts';
import type { StoreIdentity } from '../identity.ts';
import { fewerBytes } from './fewer-bytes.ts';
import type { ColumnRewrite } from './rewrite.ts';
import { wideIndexes } from './wide-indexes.ts';

export interface UpgradeStep {
  /** The schema it begins with; it ends with the next. */
  readonly from: number;
  /** In a line: what it does, and what is lost. */
  readonly what: string;
  /** Of a store of this ledger, in this order. Those that a store does not have are passed over. */
  columns(ledger: Ledger): readonly ColumnRewrite[];
  /** The columns that it makes. Absent: none. */
  makes?(ledger: Ledger): readonly string[];
  /** Throws UNSUPPORTED for stores that it cannot take along. */
  check?(identity: StoreIdentity): void;
  /** The same, where only rows tell; of a store that nothing was changed in yet. */
  checkRows?(reader: Reader): void;
}

const STEPS: readonly UpgradeStep[] = [wideIndexes, fewerBytes];

/** From a schema to the newest; null: there is no way. */
export function stepsFrom(schema: number, newest: number): readonly UpgradeStep[] | null {
  const steps = STEPS.filter(({ from }) => from >= schema && from < newest);
  return steps.length === newest - schema ? steps : null;
}
