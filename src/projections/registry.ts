/**
 * Which projections a store keeps. To add a capability, write a projection and
 * add its line here; the fold takes what it is given.
 */
import type { Ledger, OutputTraits } from '../ledgers/ledger.ts';
import { UnspentError } from '../util/errors.ts';
import { BALANCE_KINDS, type BalanceKind, balanceProjection } from './balance/balance.ts';
import { chainProjection } from './chain.ts';
import { csmtProjection } from './csmt/csmt.ts';
import { historyProjection } from './history/history.ts';
import { type IndexKind, indexProjection, TRAIT_KINDS } from './index/by-key.ts';
import { traitIndexProjection } from './index/by-trait.ts';
import { mmrProjection } from './mmr/mmr.ts';
import type { Projection } from './projection.ts';
import { seenProjection } from './seen/seen.ts';
import { setHashProjection } from './set-hash/set-hash.ts';
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
  /** Every transaction, what happened to every script, and who spent what. */
  readonly history?: boolean;
  /** The hash of the unspent set. */
  readonly setHash?: boolean;
  /** The Merkle tree over the unspent set, by owner. */
  readonly csmt?: boolean;
  /** The mountain range over every output there ever was. */
  readonly mmr?: boolean;
}

type Told = Pick<Ledger, 'family' | 'keyKinds' | 'traits' | 'txBytes' | 'tailBytes' | 'repeats' | 'setHash' | 'leaf'>;

/** Throws UNSUPPORTED when something is asked for that outputs of this ledger do not have. */
export function selectProjections(selection: Selection, ledger: Told): readonly Projection[] {
  const base = [chainProjection(), transactionsProjection(ledger)];
  if (!selection.utxo) return base;
  const { indexes, balances, datums, scripts, history, setHash, csmt, mmr } = selection;
  return [
    ...base,
    utxoProjection(),
    ...ledger.keyKinds.filter((kind) => indexes[kind]).map((kind) => indexProjection(kind)),
    ...TRAIT_KINDS.filter((kind) => indexes[kind]).map((kind) => traitIndexProjection(kind, need(ledger, `the ${kind} index`))),
    ...(balances ? balanceKinds(ledger).map((kind) => balanceProjection(kind, ledger.traits)) : []),
    ...(datums ? [seenProjection('datum', need(ledger, 'datums'))] : []),
    ...(scripts ? [seenProjection('script', need(ledger, 'scripts'))] : []),
    ...(history ? [historyProjection(ledger.txBytes ?? noSuch(ledger, 'a history'), ledger.tailBytes)] : []),
    ...(setHash ? [setHashProjection(ledger.setHash)] : []),
    ...(csmt ? [csmtProjection(ledger.leaf ?? noSuch(ledger, 'a tree over the set'))] : []),
    ...(mmr ? [mmrProjection(ledger.leaf ?? noSuch(ledger, 'a mountain range'))] : []),
  ];
}

/** Whose balances a store of this ledger can keep. */
export function balanceKinds({ keyKinds }: Pick<Ledger, 'keyKinds'>): readonly BalanceKind[] {
  return BALANCE_KINDS.filter((kind) => keyKinds.includes(kind));
}

function noSuch({ family }: Told, what: string): never {
  throw new UnspentError('UNSUPPORTED', `${what} cannot be kept: this version has none for the ${family} family`, { family });
}

function need({ family, traits }: Told, what: string): OutputTraits {
  if (traits !== null) return traits;
  throw new UnspentError('UNSUPPORTED', `${what} cannot be kept: outputs of the ${family} family have nothing of the kind`, { family });
}
