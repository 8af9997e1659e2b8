/** The history of a wallet, newest first: what each transaction brought or took, what became of it, and whose place it took. */
import { h, update } from './dom.ts';
import { timeAgo } from './parts.ts';
import { replacementDrawing } from './replacement-drawing.ts';
import { blockText, changeText, fateTag, MoreButton, txName } from './wallet-parts.ts';
import type { WalletEntry } from './wallet-shapes.ts';

export class HistoryList {
  readonly element: HTMLElement;
  private readonly list = h('ol', { class: 'history' });
  private readonly empty = h(
    'p',
    { class: 'empty' },
    'Nothing yet. Payments are shown as soon as a node that is followed has heard of them.',
  );
  private readonly more: MoreButton;

  constructor(onMore: () => void) {
    this.more = new MoreButton(onMore);
    const title = h('h2', { id: 'history-title' }, 'History');
    this.element = h('section', { class: 'card', 'aria-labelledby': 'history-title' }, title, this.empty, this.list, this.more.element);
  }

  show(entries: readonly WalletEntry[], hasMore: boolean): void {
    this.empty.hidden = entries.length > 0;
    update(this.list, entries.map(entryRow));
    this.more.show(hasMore);
  }
}

function entryRow(entry: WalletEntry): HTMLElement {
  return h(
    'li',
    { 'data-tx': entry.txid },
    h(
      'div',
      { class: 'entry' },
      changeText(entry),
      txName(entry),
      h('span', { class: 'state' }, fateTag(entry), ' ', blockText(entry)),
      timeAgo(entry.received / 1000),
    ),
    entry.group !== null && replacementDrawing(entry.group, entry),
  );
}
