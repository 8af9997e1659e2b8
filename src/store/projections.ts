/** Every projection that a store may keep: those of `projections/`, the transaction store, and a program's own. */
import type { ProjectionEntry } from '../projections/entry.ts';
import { type ProjectionTable, projectionTable } from '../projections/registry.ts';
import { txsEntry } from '../txstore/chain/entry.ts';

export function storeProjections(own: readonly ProjectionEntry[] = []): ProjectionTable {
  return projectionTable(own, [txsEntry]);
}
