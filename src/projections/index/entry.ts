/** The indexes of unspent outputs in the table of projections: one entry for each kind of key. */
import type { KeyKind } from '../../ledgers/ledger.ts';
import type { Switch } from '../../util/setting.ts';
import { needTraits, type SwitchedEntry } from '../entry.ts';
import { indexProjection, type TraitKind } from './by-key.ts';
import { traitIndexProjection } from './by-trait.ts';
import { IndexCheck } from './check.ts';

/** The setting that limits which of the indexes by address and credential count. */
const STRATEGY = 'utxo.indexingStrategy';

/** `strategies`: the values of `utxo.indexingStrategy` under which the switch counts. */
function byKey<const S extends Switch>(kind: KeyKind, strategies: readonly string[], setting: S): SwitchedEntry<S> {
  return {
    name: `index.${kind}`,
    from: 'outputs',
    setting,
    onlyWith: { key: STRATEGY, values: strategies },
    supports: ({ keyKinds }) => keyKinds.includes(kind),
    make: (ledger) => indexProjection(kind, ledger),
    check: (inspection) => new IndexCheck(inspection, kind),
  };
}

function byTrait<const S extends Switch>(kind: TraitKind, setting: S): SwitchedEntry<S> {
  return {
    name: `index.${kind}`,
    from: 'outputs',
    setting,
    supports: ({ traits }) => traits !== null,
    make: (ledger) => traitIndexProjection(kind, needTraits(ledger, `the ${kind} index`), ledger),
    check: (inspection) => new IndexCheck(inspection, kind),
  };
}

export const addressIndex = byKey('address', ['both', 'address_hash'], {
  key: 'utxo.index.addressHash',
  type: 'boolean',
  default: true,
  shapesStore: true,
  doc: 'Index unspent outputs by address.',
});

export const paymentIndex = byKey('payment', ['both', 'payment_credential'], {
  key: 'utxo.index.paymentCredential',
  type: 'boolean',
  default: true,
  shapesStore: true,
  doc: 'Index unspent outputs by payment credential.',
});

export const stakeIndex = byKey('stake', ['both', 'payment_credential'], {
  key: 'utxo.index.stakeCredential',
  type: 'boolean',
  default: true,
  shapesStore: true,
  doc: 'Index unspent outputs by stake credential.',
});

export const policyIndex = byTrait('policy', {
  key: 'utxo.index.policy',
  type: 'boolean',
  default: false,
  shapesStore: true,
  doc: 'Index unspent outputs by the policies of their assets.',
});

export const assetIndex = byTrait('asset', {
  key: 'utxo.index.asset',
  type: 'boolean',
  default: false,
  shapesStore: true,
  doc: 'Index unspent outputs by each asset they hold.',
});

export const datumIndex = byTrait('datum', {
  key: 'utxo.index.datumHash',
  type: 'boolean',
  default: false,
  shapesStore: true,
  doc: 'Index unspent outputs by the hash of their datum, inline or not.',
});

export const scriptIndex = byTrait('script', {
  key: 'utxo.index.referenceScript',
  type: 'boolean',
  default: false,
  shapesStore: true,
  doc: 'Index unspent outputs by the hash of the reference script they carry.',
});
