/** What a wallet has: the whole, its parts as one bar, and how much of it may be spent now or is reserved. */
import { h } from './dom.ts';
import { fact } from './parts.ts';
import { amountText } from './wallet-parts.ts';
import type { WalletBalance } from './wallet-shapes.ts';

const PARTS: readonly (readonly [key: keyof WalletBalance, name: string, tone: string, title: string])[] = [
  ['confirmed', 'Confirmed', 'ok', 'In blocks, and not of a coinbase that is too young'],
  ['trusted_pending', 'Own, unconfirmed', 'info', 'In no block yet, by transactions of the wallet itself'],
  ['untrusted_pending', 'From others, unconfirmed', 'warn', 'In no block yet, by transactions of others'],
  ['immature', 'Immature', 'idle', 'Of coinbases that are too young to be spent'],
];

export function balanceFacts(balance: WalletBalance): HTMLElement {
  const total = BigInt(balance.total);
  const share = (amount: string): number => (total === 0n ? 0 : Number((10_000n * BigInt(amount)) / total) / 100);
  const bar = h('div', { class: 'balance-bar', 'aria-hidden': 'true' });
  for (const [key, name, tone] of PARTS) {
    if (balance[key] === '0') continue;
    const part = h('span', { 'data-tone': tone, title: name });
    part.style.flexGrow = String(share(balance[key]));
    bar.append(part);
  }
  const parts = PARTS.map(([key, name, tone, title]) => part(name, balance[key], title, tone));
  return h(
    'div',
    {},
    h(
      'dl',
      { class: 'facts balance-main' },
      fact('Total', h('span', { class: 'big' }, amountText(balance.total))),
      fact('Spendable now', h('span', { class: 'big' }, amountText(balance.spendable))),
      fact('Reserved', h('span', { class: 'big' }, amountText(balance.locked))),
    ),
    bar,
    h('dl', { class: 'balance-parts' }, parts),
  );
}

function part(name: string, amount: string, title: string, tone: string): HTMLElement {
  const element = h('div', { title, 'data-tone': tone, 'data-none': amount === '0' }, h('dt', {}, h('i', { 'aria-hidden': 'true' }), name));
  element.append(h('dd', {}, amountText(amount)));
  return element;
}
