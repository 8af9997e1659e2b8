/** The tree over the unspent set in the table of projections. */
import { type BuiltInEntry, unsupported } from '../entry.ts';
import { CsmtCheck } from './check.ts';
import { CSMT, csmtProjection } from './csmt.ts';

export const csmtEntry = {
  name: CSMT,
  from: 'outputs',
  setting: {
    key: 'proofs.csmt',
    type: 'boolean',
    default: false,
    shapesStore: true,
    doc: 'Keep a Merkle tree over the unspent set, by owner: proofs that an output is unspent, that an owner has no such output, and that these are all outputs of an owner.',
  },
  supports: ({ leaf }) => leaf !== undefined,
  make: (ledger) => csmtProjection(ledger.leaf ?? unsupported(ledger, 'a tree over the set')),
  check: (inspection) => new CsmtCheck(inspection),
} as const satisfies BuiltInEntry;
