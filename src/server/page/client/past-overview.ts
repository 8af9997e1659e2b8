/**
 * The overview as of an earlier block: that block, the blocks and transactions
 * that were the newest then, and the roots of the unspent set at it. How the
 * server does is of now, and so is all the rest of the live overview.
 */
import { get, type Problem, problem, travel } from './api.ts';
import { blockFacts } from './block-views.ts';
import { type Child, h } from './dom.ts';
import { count } from './format.ts';
import { newestTables } from './newest-panels.ts';
import { problemNotice } from './notice.ts';
import { RootPanel } from './panels.ts';
import { chain, fact, linkTo } from './parts.ts';
import type { Block, Point, Roots } from './shapes.ts';
import type { View } from './subject.ts';

const ROOT_PROJECTIONS: readonly string[] = ['csmt', 'mmr', 'setHash'];

export async function showPastOverview(): Promise<View> {
  const height = travel.height ?? 0;
  const [{ body: block }, newest, roots] = await Promise.all([
    get<Block>(`/blocks/height:${height}`),
    newestTables(height + 1),
    rootsThen(),
  ]);
  const facts = h('dl', { class: 'facts' }, fact('Block', linkTo('block', block.hash)), blockFacts(block));
  const head = h(
    'section',
    { class: 'card subject' },
    h('p', { class: 'what' }, 'Overview'),
    h('h1', {}, `The chain as of block ${count(height)}`),
    facts,
  );
  return {
    title: `As of block ${count(height)}`,
    element: h('div', { class: 'explorer past' }, head, h('div', { class: 'pair newest' }, newest), roots),
  };
}

/** Nothing where the store keeps none; why not, where it cannot tell them any more. */
async function rootsThen(): Promise<Child> {
  if (!ROOT_PROJECTIONS.some((name) => chain.projections.includes(name))) return false;
  const found = await get<Roots & { readonly point: Point }>('/roots').catch((error: unknown): Problem => problem(error));
  if (found instanceof Error) return problemNotice(found);
  const panel = new RootPanel();
  panel.show(found.body.point, found.body);
  return panel.element;
}
