/** The hash of the unspent set in the table of projections. */
import type { BuiltInEntry } from '../entry.ts';
import { SetHashCheck } from './check.ts';
import { SET_HASH, setHashProjection } from './set-hash.ts';

export const setHashEntry = {
  name: SET_HASH,
  from: 'outputs',
  setting: {
    key: 'proofs.setHash',
    type: 'boolean',
    default: false,
    shapesStore: true,
    doc: 'Keep a hash of the whole unspent set (MuHash3072; for the Bitcoin family as a node computes it, with bogosize): two stores compare in one line, without a walk over the set.',
  },
  make: ({ setHash }) => setHashProjection(setHash),
  check: (inspection) => new SetHashCheck(inspection),
} as const satisfies BuiltInEntry;
