/** Datums and scripts by hash in the table of projections. */
import type { WitnessKind } from '../../ledgers/ledger.ts';
import type { Switch } from '../../util/setting.ts';
import { needTraits, type SwitchedEntry } from '../entry.ts';
import { SeenCheck } from './check.ts';
import { seenProjection } from './seen.ts';

function seenOf<const S extends Switch>(kind: WitnessKind, setting: S): SwitchedEntry<S> {
  return {
    name: `${kind}s`,
    from: 'outputs',
    setting,
    supports: ({ traits }) => traits !== null,
    make: (ledger) => seenProjection(kind, needTraits(ledger, `${kind}s`)),
    check: (inspection) => new SeenCheck(inspection, kind),
  };
}

export const datumsEntry = seenOf('datum', {
  key: 'utxo.datums',
  type: 'boolean',
  default: false,
  shapesStore: true,
  doc: 'Keep every datum seen, by hash.',
});

export const scriptsEntry = seenOf('script', {
  key: 'utxo.scripts',
  type: 'boolean',
  default: false,
  shapesStore: true,
  doc: 'Keep every script seen, by hash.',
});
