/**
 * Branches of a devnet, with more of what is rare on a chain: invalid
 * transactions, outputs that live inside a block, Byron boundary blocks, and
 * outputs that the ledger itself removes.
 */
import { DevnetChain, type DevnetOptions } from '../../chains/cardano/devnet/index.ts';
import type { Random } from '../../chains/random.ts';
import { openNetwork } from '../../families/networks.ts';
import type { Block } from '../../ledgers/ledger.ts';
import { BRANCH_BLOCKS_MAX, BRANCH_DEPTH_MAX, type TwoBranches } from '../two-branches.ts';

const RARE = { invalid: 12, invalidWithReturn: 12, returnSpent: 12, chain: 12, allToFee: 4, wide: 0.5 } as const;
const ERAS = [2, 3, 4, 5, 6, 7].map((era, i) => ({ era, atHeight: i === 0 ? 0 : 30 + 4 * i }));

/** From Byron on, with a few blocks of each era, or of the newest era alone. */
export function cardanoBranches(random: Random): TwoBranches {
  const ancient: Partial<DevnetOptions> = random.chance(0.6) ? { byron: { epochs: 2, slotsPerEpoch: 40 }, eras: ERAS } : {};
  const chain = new DevnetChain({ seed: random.next(), addresses: 3, features: RARE, ...ancient });
  const { ledger } = openNetwork('devnet', { byron: chain.genesisByron, shelley: chain.genesisShelley });
  const grow = (count: number): Block[] => {
    for (let i = 0; i < count; i++) chain.mine();
    return chain.blocks.map(({ raw }) => ledger.decode(raw));
  };
  const first = grow(2 + random.int(BRANCH_BLOCKS_MAX));
  const depth = 1 + random.int(Math.min(BRANCH_DEPTH_MAX, first.length));
  chain.rollback(depth);
  return { ledger, shared: first.length - depth, first, second: grow(1 + random.int(BRANCH_DEPTH_MAX)) };
}
