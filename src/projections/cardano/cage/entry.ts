/** Cages in the table of projections. */
import { parseCageDeployments } from '../../../ledgers/cardano/cage/index.ts';
import type { Ledger } from '../../../ledgers/ledger.ts';
import type { SettingReader } from '../../../util/setting.ts';
import { type BuiltInEntry, needTraits, unsupported } from '../../entry.ts';
import { cageProjection } from './cage.ts';
import { CageCheck } from './check.ts';
import { CAGE } from './rows.ts';

export const cageEntry = {
  name: CAGE,
  from: 'outputs',
  setting: {
    key: 'cage.enabled',
    type: 'boolean',
    default: false,
    shapesStore: true,
    doc: 'Keep cages (the MPFS protocol): tokens, requests that wait, and every fact of every trie with its proofs. Only from the first block on.',
  },
  // It cannot be switched on later, and `start` must be able to open stores that were made without.
  onRequestOnly: true,
  supports: ({ traits, scriptData }) => traits !== null && scriptData !== undefined,
  make(ledger: Ledger, readSetting?: SettingReader) {
    const scriptData = ledger.scriptData ?? unsupported(ledger, 'cages');
    const said = String(readSetting?.('cage.deployments') ?? '');
    return cageProjection({ traits: needTraits(ledger, 'cages'), scriptData }, said === '' ? null : parseCageDeployments(said));
  },
  check: (inspection) => new CageCheck(inspection),
} as const satisfies BuiltInEntry;
