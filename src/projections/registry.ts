/**
 * Which projections a store keeps. To add a capability, write a projection and
 * add its line here; the fold takes what it is given.
 */
import { KEY_KINDS, type KeyKind } from '../ledgers/ledger.ts';
import { chainProjection } from './chain.ts';
import { indexProjection } from './index-by-key.ts';
import type { Projection } from './projection.ts';
import { transactionsProjection } from './transactions.ts';
import { utxoProjection } from './utxo.ts';

export interface Selection {
  /** False: the chain and the transactions only; no column of the unspent set is opened. */
  readonly utxo: boolean;
  readonly indexes: Readonly<Record<KeyKind, boolean>>;
}

export function selectProjections({ utxo, indexes }: Selection): readonly Projection[] {
  const base = [chainProjection(), transactionsProjection()];
  if (!utxo) return base;
  return [...base, utxoProjection(), ...KEY_KINDS.filter((kind) => indexes[kind]).map((kind) => indexProjection(kind))];
}
