/**
 * The roots that events tell: of the newest block of a query, worked out once
 * however many readers and events there are.
 */
import { type Provable, Prover, type Roots } from '../../../query/proofs.ts';
import type { Query } from '../../../query/query.ts';

export function rootsReader(provable: Provable): (query: Query) => Roots | null {
  const known = new WeakMap<Query, Roots | null>();
  return (query) => {
    const roots = known.get(query) ?? rootsOf(query, provable);
    known.set(query, roots);
    return roots;
  };
}

/** Null: none is kept, or there is no block yet. */
function rootsOf(query: Query, provable: Provable): Roots | null {
  if (query.head === null) return null;
  const roots = new Prover(query, query, provable).roots();
  return Object.keys(roots).length === 0 ? null : roots;
}
