/** The chains that projections are tested on: one kind for each family. */
import type { Random } from '../chains/random.ts';
import { bitcoinBranches } from './bitcoin/branches.ts';
import { cardanoBranches } from './cardano/branches.ts';
import type { TwoBranches } from './two-branches.ts';

export const BRANCH_MAKERS: readonly ((random: Random) => TwoBranches)[] = [cardanoBranches, bitcoinBranches];
