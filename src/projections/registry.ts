/**
 * Which projections a store keeps. To add a capability, write a projection and
 * add its line here; the fold takes what it is given.
 */
import { KEY_KINDS, type Ledger, type OutputTraits } from '../ledgers/ledger.ts';
import { UnspentError } from '../util/errors.ts';
import { BALANCE_KINDS, balanceProjection } from './balance.ts';
import { chainProjection } from './chain.ts';
import { type IndexKind, indexProjection, TRAIT_KINDS } from './index-by-key.ts';
import { traitIndexProjection } from './index-by-trait.ts';
import type { Projection } from './projection.ts';
import { seenProjection } from './seen.ts';
import { transactionsProjection } from './transactions.ts';
import { utxoProjection } from './utxo.ts';

export interface Selection {
  /** False: the chain and the transactions only; no column of the unspent set is opened. */
  readonly utxo: boolean;
  readonly indexes: Readonly<Record<IndexKind, boolean>>;
  /** Of every address and stake credential. */
  readonly balances: boolean;
  /** Every datum and every script seen, by hash. */
  readonly datums: boolean;
  readonly scripts: boolean;
}

/** Throws UNSUPPORTED when something is asked for that outputs of this ledger do not have. */
export function selectProjections(selection: Selection, ledger: Pick<Ledger, 'family' | 'traits'>): readonly Projection[] {
  const base = [chainProjection(), transactionsProjection()];
  if (!selection.utxo) return base;
  const { indexes, balances, datums, scripts } = selection;
  return [
    ...base,
    utxoProjection(),
    ...KEY_KINDS.filter((kind) => indexes[kind]).map((kind) => indexProjection(kind)),
    ...TRAIT_KINDS.filter((kind) => indexes[kind]).map((kind) => traitIndexProjection(kind, need(ledger, `the ${kind} index`))),
    ...(balances ? BALANCE_KINDS.map((kind) => balanceProjection(kind, ledger.traits)) : []),
    ...(datums ? [seenProjection('datum', need(ledger, 'datums'))] : []),
    ...(scripts ? [seenProjection('script', need(ledger, 'scripts'))] : []),
  ];
}

function need({ family, traits }: Pick<Ledger, 'family' | 'traits'>, what: string): OutputTraits {
  if (traits !== null) return traits;
  throw new UnspentError('UNSUPPORTED', `${what} cannot be kept: outputs of the ${family} family have nothing of the kind`, { family });
}
