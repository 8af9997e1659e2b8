/**
 * One thing of the chain and what is known of it, each with an address of its
 * own behind the #: `#/address/...`, `#/output/TX/N`, `#/tx/...`, `#/block/...`.
 * Everything shown that is itself a thing leads to its page.
 */
import { Problem, problem, travel } from './api.ts';
import { showAsset } from './asset-view.ts';
import { showBlock } from './block-views.ts';
import { showCage, showCages } from './cage-views.ts';
import { h } from './dom.ts';
import { followingView } from './follow-view.ts';
import { showAddress, showCredential, showPolicy, showSeen, showStake } from './holder-views.ts';
import type { Kind } from './kinds.ts';
import { showBlocks } from './list-views.ts';
import { showMempool } from './mempool-view.ts';
import { showOutput } from './output-view.ts';
import { showPastOverview } from './past-overview.ts';
import { showRollbacks } from './rollback-views.ts';
import { NAMES, search } from './search.ts';
import { frame, type View } from './subject.ts';
import { TIMED_VIEWS } from './travel-bar.ts';
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
  overview: showPastOverview,
  rollbacks: showRollbacks,
  wallets: showWallets,
};

const OF_NOW = 'This page is of the newest block: the store cannot tell it for an earlier one.';

/** Throws `Problem`. A page of now follows the chain; one that is always of now says so to whoever comes from the past. */
export async function explore(kind: string, value: string): Promise<View> {
  const view = await viewOf(kind, value);
  const isTimed = TIMED_VIEWS.has(kind);
  if (travel.height === null && isTimed) return followingView(view, () => viewOf(kind, value));
  if (travel.height !== null && !isTimed) view.element.firstElementChild?.after(h('p', { class: 'notice of-now' }, OF_NOW));
  return view;
}

async function viewOf(kind: string, value: string): Promise<View> {
  if (Object.hasOwn(LISTS, kind)) return LISTS[kind](value);
  const show = Object.hasOwn(VIEWS, kind) ? VIEWS[kind] : undefined;
  if (show === undefined || value === '')
    throw new Problem(404, 'There is no such page.', `#/${kind}/${value}`, 'Search for what you are looking for.');
  return show(value).catch((error) => {
    throw readable(kind, value, problem(error));
  });
}

/** What the server refuses to read is told in the words of the page, not in those of a request. */
function readable(kind: string, value: string, why: Problem): Problem {
  if (why.status !== 400) return why;
  const text = `“${value.slice(0, 80)}” is no ${(NAMES[kind as Kind] ?? kind).toLowerCase()}.`;
  const detail = /^(params|querystring) /.test(why.message) ? '' : why.message;
  return new Problem(404, text, detail, 'Search for what you are looking for.');
}
