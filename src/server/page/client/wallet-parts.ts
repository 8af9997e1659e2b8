/** What several parts of a wallet's page say in the same words: amounts with a sign, what became of a transaction, whose it is. */
import { type Child, h } from './dom.ts';
import { count, counted, shortHash } from './format.ts';
import { amountText, blockLink, linkTo } from './parts.ts';
import type { WalletTx } from './wallet-shapes.ts';

/** What a transaction brought or took; struck out where it does not count. */
export function changeText({ change, status }: WalletTx): HTMLElement {
  const isLoss = change.startsWith('-');
  const isLive = status === 'pending' || status === 'published';
  const sign = isLoss ? '−' : '+';
  return h(isLive ? 'span' : 's', { class: 'change', 'data-tone': isLive && !isLoss ? 'ok' : null }, sign, amountText(change));
}

/** Its label, or what it is; it leads to the explorer's page of the transaction. */
export function txName(tx: WalletTx): HTMLElement {
  const link = linkTo('tx', tx.txid);
  if (tx.label !== '') return h('span', { class: 'named' }, h('b', {}, tx.label), ' ', link);
  return h('span', { class: 'named' }, tx.coinbase && [h('b', {}, 'coinbase'), ' '], link);
}

export interface Fate {
  readonly tone: 'ok' | 'info' | 'warn' | 'bad' | 'idle';
  readonly words: string;
}

/** What a wallet believes of a transaction, in words and as a colour. */
export function fateOf(tx: WalletTx): Fate {
  if (tx.scripts_failed === true) return { tone: 'bad', words: 'scripts failed' };
  if (tx.block !== null) return { tone: 'ok', words: `${depthText(tx.confirmations)}${tx.pruned === true ? ', pruned' : ''}` };
  if (tx.status === 'published') {
    return tx.evicted ? { tone: 'warn', words: 'left the mempool' } : { tone: 'info', words: 'waits for a block' };
  }
  if (tx.status === 'pending') return { tone: 'info', words: 'not sent yet' };
  return { tone: tx.status === 'replaced' ? 'idle' : 'bad', words: tx.status };
}

export function depthText(confirmations: number | null): string {
  return confirmations === null ? 'in a block' : counted(confirmations, 'confirmation');
}

export function fateTag(tx: WalletTx): HTMLElement {
  const { tone, words } = fateOf(tx);
  return h('span', { class: 'tag', 'data-tone': tone }, words);
}

/** `block 103`, which leads there, or nothing. */
export function blockText({ block }: WalletTx): Child {
  return block === null ? null : h('span', { class: 'note' }, 'block ', blockLink(block.height, block.hash));
}

/** Where a part of a list is shown, with a button for more of it. */
export class MoreButton {
  readonly element: HTMLElement;

  constructor(onMore: () => void) {
    this.element = h('div', { class: 'more', hidden: true }, h('button', { class: 'button', type: 'button', click: onMore }, 'Show more'));
  }

  show(hasMore: boolean): void {
    this.element.hidden = !hasMore;
  }
}

export function shortId(id: string): HTMLElement {
  return h('span', { class: 'mono', title: id }, shortHash(id));
}

export function heights(from: number, to: number): string {
  return from === to ? `block ${count(from)}` : `blocks ${count(from)} to ${count(to)}`;
}
