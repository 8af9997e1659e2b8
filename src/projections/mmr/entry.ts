/** The mountain range over all outputs in the table of projections. */
import { type BuiltInEntry, unsupported } from '../entry.ts';
import { MmrCheck } from './check.ts';
import { mmrProjection } from './mmr.ts';
import { MMR } from './rows.ts';

export const mmrEntry = {
  name: MMR,
  from: 'outputs',
  setting: {
    key: 'utxo.store',
    type: 'oneOf',
    values: ['classic', 'mmr'],
    default: 'classic',
    on: 'mmr',
    off: 'classic',
    shapesStore: true,
    doc: '`mmr` keeps beside the unspent set a Merkle mountain range over every output there ever was: proofs that an output is unspent or spent. Only from the first block on.',
  },
  // `utxo.store` chooses between kinds of store, and `start` leaves that choice to its user.
  onRequestOnly: true,
  supports: ({ leaf }) => leaf !== undefined,
  make: (ledger) => mmrProjection(ledger.leaf ?? unsupported(ledger, 'a mountain range')),
  check: (inspection) => new MmrCheck(inspection),
} as const satisfies BuiltInEntry;
