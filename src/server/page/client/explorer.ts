/**
 * One thing of the chain and what is known of it, each with an address of its
 * own behind the #: `#/address/...`, `#/output/TX/N`, `#/tx/...`, `#/block/...`.
 * Everything shown that is itself a thing leads to its page.
 */
import { Problem, problem, travel } from './api.ts';
import { h } from './dom.ts';
import { followingView } from './follow-view.ts';
import type { Kind } from './kinds.ts';
import { NAMES, search } from './search.ts';
import { frame, type View } from './subject.ts';
import { TIMED_VIEWS } from './travel-bar.ts';

type ViewOf = (value: string) => Promise<View>;

/** Each is loaded when it is shown first: a link to a transaction needs no charts, wallets or cages. */
const VIEWS: Readonly<Record<string, ViewOf>> = {
  address: async (value) => (await import('./holder-views.ts')).showAddress(value),
  stake: async (value) => (await import('./holder-views.ts')).showStake(value),
  credential: async (value) => (await import('./holder-views.ts')).showCredential(value),
  policy: async (value) => (await import('./holder-views.ts')).showPolicy(value),
  asset: async (value) => (await import('./asset-view.ts')).showAsset(value),
  output: async (value) => (await import('./output-view.ts')).showOutput(value),
  tx: async (value) => (await import('./tx-view.ts')).showTransaction(value),
  block: async (value) => (await import('./block-views.ts')).showBlock(value),
  datum: async (value) => (await import('./holder-views.ts')).showSeen('Datum', value),
  script: async (value) => (await import('./holder-views.ts')).showSeen('Script', value),
  cage: async (value) => (await import('./cage-views.ts')).showCage(value),
  wallet: async (value) => (await import('./wallet-views.ts')).showWallet(value),
  search: async (value) => ({ title: 'Search', element: frame(await search(value)) }),
};

/** What is not of one thing. */
const LISTS: Readonly<Record<string, ViewOf>> = {
  blocks: async (value) => (await import('./list-views.ts')).showBlocks(value),
  cages: async () => (await import('./cage-views.ts')).showCages(),
  mempool: async () => (await import('./mempool-view.ts')).showMempool(),
  overview: async () => (await import('./past-overview.ts')).showPastOverview(),
  rollbacks: async () => (await import('./rollback-views.ts')).showRollbacks(),
  wallets: async () => (await import('./wallet-views.ts')).showWallets(),
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
