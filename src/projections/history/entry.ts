/** The history in the table of projections. */
import { type BuiltInEntry, unsupported } from '../entry.ts';
import { HistoryCheck } from './check.ts';
import { historyProjection } from './history.ts';

export const historyEntry = {
  name: 'history',
  from: 'outputs',
  setting: {
    key: 'utxo.history',
    type: 'boolean',
    default: false,
    shapesStore: true,
    doc: 'Bitcoin family: keep every transaction, what happened to every script, and who spent what, for ever. Esplora and Electrum clients ask for it.',
  },
  supports: ({ txBytes }) => txBytes !== undefined,
  make: (ledger) => historyProjection(ledger.txBytes ?? unsupported(ledger, 'a history'), ledger.tailBytes),
  check: (inspection) => new HistoryCheck(inspection),
} as const satisfies BuiltInEntry;
