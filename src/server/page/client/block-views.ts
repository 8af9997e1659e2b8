/**
 * Blocks: their transactions, what each spent and created, for as long as the
 * store can tell. Where it has forgotten, what is left is shown, and why.
 */
import { get, type Problem, travel } from './api.ts';
import { type Child, h } from './dom.ts';
import { contentText, count, shortHash } from './format.ts';
import { problemNotice } from './notice.ts';
import { outputSection } from './outputs.ts';
import { chain, coinText, copyButton, fact, hrefOf, linkTo, moment, symbol } from './parts.ts';
import type { Block, Changes } from './shapes.ts';
import { frame, subject, type View } from './subject.ts';
import { changesOf, notThereYet, sum } from './tx-read.ts';

/** `place` is a hash, `height:N` or `slot:N`. */
export async function showBlock(place: string): Promise<View> {
  const { body: block } = await get<Block>(`/blocks/${encodeURIComponent(place)}`);
  const { height, hash, tx_count } = block;
  if (travel.height !== null && height > travel.height) throw notThereYet(travel.height, 'block was not on the chain');
  const contents = tx_count === 0 ? contentCard('None.') : blockContents(block, await changesOf(hash));
  return { title: `Block ${count(height)}`, element: frame(subject('Block', hash, ...blockFacts(block)), contents) };
}

export function blockFacts(block: Block): Child[] {
  const { height, slot, previous_hash: previous, epoch, block_time, era, issuer } = block;
  const next = hrefOf('block', `height:${height + 1}`);
  return [
    fact('Height', h('span', { class: 'big' }, count(height))),
    epoch !== undefined &&
      fact(
        'Slot',
        h('span', { class: 'big' }, count(slot)),
        h('small', {}, ` epoch ${count(epoch)}${era === undefined ? '' : `, ${era}`}`),
      ),
    fact('Time', moment(block_time)),
    fact('Content', contentText(block)),
    fact('Before it', previous === undefined ? 'nothing: the first block' : linkTo('block', previous)),
    fact('Behind it', h('a', { href: next }, `block ${count(height + 1)}`)),
    issuer !== undefined && fact('Made by', h('span', { class: 'mono', title: issuer }, shortHash(issuer)), copyButton(issuer, 'issuer')),
  ];
}

/** What is no longer known is no failure: every store forgets what is old enough. */
function blockContents(block: Block, changes: Changes | Problem): Child {
  if (changes instanceof Error && changes.code === 'PRUNED')
    return contentCard(`${contentText(block)}. What the block did is no longer kept: ${changes.message}`);
  if (changes instanceof Error) return problemNotice(changes);
  const { created, spent } = changes;
  return [
    transactionTable(changes),
    created.length > 0 && outputSection(created, { title: 'Created', owner: true, place: false, state: false }),
    spent.length > 0 && outputSection(spent, { title: 'Spent', owner: true, place: true, state: true }),
  ];
}

function contentCard(text: string): HTMLElement {
  return h('section', { class: 'card', id: 'contents' }, h('h2', {}, 'Transactions'), h('p', { class: 'empty' }, text));
}

function transactionTable({ transactions, created, spent }: Changes): HTMLElement {
  const head = ['Transaction', 'Spends', 'Creates', `In its outputs, ${symbol()}`];
  const rows = transactions.map(({ tx_hash: tx, valid }) => {
    const [ins, outs] = [spent.filter((row) => row.spent_tx_hash === tx), created.filter((row) => row.tx_hash === tx)];
    const name = h('div', {}, linkTo('tx', tx), copyButton(tx, 'transaction'), !valid && failedTag());
    const cell = (label: string, child: Child) => h('td', { 'data-label': label, class: 'number' }, h('span', {}, child));
    return h(
      'tr',
      { 'data-tx': tx },
      h('td', { 'data-label': head[0] }, name),
      cell(head[1], count(ins.length)),
      cell(head[2], count(outs.length)),
      cell(head[3], coinText({ unit: chain.unit, quantity: sum(outs).toString() })),
    );
  });
  const names = head.map((name, i) => h('th', { scope: 'col', class: i > 0 ? 'number' : null }, name));
  const caption = h('caption', {}, 'Transactions ', h('small', {}, count(transactions.length)));
  return h('section', { class: 'card' }, h('table', { class: 'rows' }, caption, h('thead', {}, h('tr', {}, names)), h('tbody', {}, rows)));
}

function failedTag(): HTMLElement {
  return h('span', { class: 'tag', 'data-tone': 'warn', title: 'A script failed: its collateral was taken' }, 'failed');
}
