/**
 * The formats that stores have had, and the way from each to the next. A step
 * rewrites columns row by row; a format that a package was released with keeps
 * its step for ever, and a test that makes a store of it.
 */
import type { StoreIdentity } from '../identity.ts';
import type { RewriteRow } from './rewrite.ts';
import { wideIndexes } from './wide-indexes.ts';

export interface UpgradeStep {
  /** The schema it begins with; it ends with the next. */
  readonly from: number;
  /** In a line: what it does, and what is lost. */
  readonly what: string;
  /** In this order. Those that a store does not have are passed over. */
  readonly columns: readonly { readonly name: string; readonly rewrite: RewriteRow }[];
  /** Throws UNSUPPORTED for stores that it cannot take along. */
  check?(identity: StoreIdentity): void;
}

const STEPS: readonly UpgradeStep[] = [wideIndexes];

/** From a schema to the newest; null: there is no way. */
export function stepsFrom(schema: number, newest: number): readonly UpgradeStep[] | null {
  const steps = STEPS.filter(({ from }) => from >= schema && from < newest);
  return steps.length === newest - schema ? steps : null;
}
