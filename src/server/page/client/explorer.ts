/**
 * One thing of the chain and what is known of it, each with an address of its
 * own behind the #: `#/address/...`, `#/output/TX/N`, `#/tx/...`, `#/block/...`.
 * Everything shown that is itself a thing leads to its page.
 */
import { Problem } from './api.ts';
import { showAsset } from './asset-view.ts';
import { showBlock } from './block-views.ts';
import { showCage, showCages } from './cage-views.ts';
import { showAddress, showCredential, showPolicy, showSeen, showStake } from './holder-views.ts';
import { showBlocks } from './list-views.ts';
import { showMempool } from './mempool-view.ts';
import { showOutput } from './output-view.ts';
import { showRollbacks } from './rollback-views.ts';
import { search } from './search.ts';
import { frame, type View } from './subject.ts';
import { showTransaction } from './tx-view.ts';
import { showWallet, showWallets } from './wallet-views.ts';

const VIEWS: Readonly<Record<string, (value: string) => Promise<View>>> = {
  address: showAddress,
  stake: showStake,
  credential: showCredential,
  policy: showPolicy,
  asset: showAsset,
  output: showOutput,
  tx: showTransaction,
  block: showBlock,
  datum: (value) => showSeen('Datum', value),
  script: (value) => showSeen('Script', value),
  cage: showCage,
  wallet: showWallet,
  search: async (value) => ({ title: 'Search', element: frame(await search(value)) }),
};

/** What is not of one thing. */
const LISTS: Readonly<Record<string, (value: string) => Promise<View>>> = {
  blocks: showBlocks,
  cages: showCages,
  mempool: showMempool,
  rollbacks: showRollbacks,
  wallets: showWallets,
};

/** Pages that can be drawn as of an earlier block. */
export const TIMED_VIEWS: ReadonlySet<string> = new Set([
  'address',
  'stake',
  'credential',
  'policy',
  'asset',
  'output',
  'tx',
  'datum',
  'script',
]);

/** Throws `Problem`. */
export async function explore(kind: string, value: string): Promise<View> {
  if (Object.hasOwn(LISTS, kind)) return LISTS[kind](value);
  const show = Object.hasOwn(VIEWS, kind) ? VIEWS[kind] : undefined;
  if (show === undefined || value === '')
    throw new Problem(404, 'There is no such page.', `#/${kind}/${value}`, 'Search for what you are looking for.');
  return show(value);
}
