/** Branches of a regtest chain, long enough that rewards are spent. */
import { RegtestDevnet } from '../../chains/bitcoin/regtest/index.ts';
import type { Random } from '../../chains/random.ts';
import { openNetwork } from '../../families/networks.ts';
import type { Block } from '../../ledgers/ledger.ts';
import { assert } from '../../util/errors.ts';
import { BRANCH_BLOCKS_MAX, BRANCH_DEPTH_MAX, type TwoBranches } from '../two-branches.ts';

/** Unix seconds: the same seed gives the same bytes on any day. */
const CLOCK = 1_700_000_000;

export function bitcoinBranches(random: Random): TwoBranches {
  const chain = new RegtestDevnet({ seed: random.next(), clock: () => CLOCK });
  const { ledger } = openNetwork(chain.network.name, null);
  const blocks = (): Block[] =>
    Array.from({ length: chain.height + 1 }, (_, height) => {
      const hash = chain.hashAt(height);
      const raw = hash === null ? null : chain.block(hash);
      assert(raw !== null, 'a block of the chain');
      return ledger.decode(raw, height);
    });
  chain.mine(chain.network.coinbaseMaturity + 5 + random.int(BRANCH_BLOCKS_MAX / 2));
  const first = blocks();
  const depth = 1 + random.int(BRANCH_DEPTH_MAX);
  chain.fork(depth);
  return { ledger, shared: first.length - depth, first, second: blocks() };
}
