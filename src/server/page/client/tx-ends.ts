/**
 * What a transaction spends and makes, as two tables: the same as the drawing of
 * its flow shows, for every reader. A row says whose it is, what it holds, and
 * where it came from or went.
 */
import { type Child, h } from './dom.ts';
import { count } from './format.ts';
import { kindWords, marks, spentState } from './outputs.ts';
import { addressLink, assetChips, coinText, copyButton, hrefOf, outputLink, symbol } from './parts.ts';
import { isKnown } from './tx-read.ts';
import type { Input } from './tx-shapes.ts';

const PART_ROWS = 50;

export interface EndsOptions {
  readonly title: string;
  /** Say of each whether it is spent. */
  readonly state: boolean;
  /** A sentence about all of them. */
  readonly note?: string;
  /** In place of rows where there are none. */
  readonly none?: string;
}

export function endsTable(ends: readonly Input[], { title, state, note, none }: EndsOptions): HTMLElement {
  const names = [state ? 'Output' : 'From', symbol(), ...(state ? ['State'] : [])];
  const body = h('tbody', {});
  const more = h('button', { class: 'button', type: 'button' }, 'Show more');
  const foot = h('div', { class: 'more' }, more);
  const show = (): void => {
    const from = body.childElementCount;
    for (const end of ends.slice(from, from + PART_ROWS)) body.append(endRow(end, names, state));
    foot.hidden = body.childElementCount >= ends.length;
  };
  more.addEventListener('click', show);
  show();
  const head = names.map((name, i) => h('th', { scope: 'col', class: i === 1 ? 'number' : null }, name));
  const caption = h(
    'caption',
    {},
    title,
    ' ',
    h('small', {}, count(ends.length)),
    note !== undefined && h('span', { class: 'note' }, note),
  );
  const table = h('table', { class: 'rows ends' }, caption, h('thead', {}, h('tr', {}, head)), body);
  if (ends.length > 0) return h('section', { class: 'card' }, table, foot);
  return h('section', { class: 'card' }, h('h2', {}, title), h('p', { class: 'empty' }, none ?? 'None.'));
}

/** Of the row of an end, so that the drawing finds it. */
export function rowName({ tx_hash, output_index }: Input): string {
  return `${tx_hash}#${output_index}`;
}

function endRow(end: Input, names: readonly string[], state: boolean): HTMLElement {
  const name = rowName(end);
  const cell = (i: number, ...children: Child[]) => h('td', { 'data-label': names[i], class: i === 1 ? 'number' : null }, ...children);
  if (!isKnown(end)) {
    const gone = h('div', {}, h('span', { class: 'note' }, 'no longer known'), h('div', {}, outputLink(end), copyButton(name, 'output')));
    return h('tr', { 'data-row': name }, cell(0, gone), cell(1, '–'), state && cell(2));
  }
  const { owner_addr: address, script_type: type } = end;
  const owner =
    address === undefined ? h('span', { class: 'note' }, kindWords(type)) : [addressLink(address), copyButton(address, 'address')];
  const page = hrefOf('output', `${end.tx_hash}/${end.output_index}`);
  const from = h('div', { class: 'from' }, h('small', {}, outputLink(end)), marks(end), copyButton(name, 'output'));
  return h(
    'tr',
    { 'data-row': name, 'data-output': name },
    cell(0, h('div', {}, h('div', {}, owner), from)),
    cell(1, h('div', {}, h('span', {}, coinText(end.amounts[0])), assetChips(end.amounts, page))),
    state && cell(2, spentState(end)),
  );
}
