/** What a wallet has: the whole, its parts as one bar, and how much of it may be spent now or is reserved. */
import { type Child, h } from './dom.ts';
import { count } from './format.ts';
import { amountText, assetChip, fact } from './parts.ts';
import type { Amount } from './shapes.ts';
import type { WalletBalance } from './wallet-shapes.ts';

/** More would push the history out of sight. */
const ASSETS_MAX = 40;

const PARTS: readonly (readonly [key: Exclude<keyof WalletBalance, 'assets'>, name: string, tone: string, title: string])[] = [
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
    assetFacts(balance.assets ?? []),
  );
}

function assetFacts(assets: readonly Amount[]): Child {
  if (assets.length === 0) return null;
  const rest = assets.length - ASSETS_MAX;
  const more = rest > 0 && h('span', { class: 'note' }, `and ${count(rest)} more`);
  return h(
    'dl',
    { class: 'balance-assets' },
    fact(
      'Assets',
      h(
        'div',
        { class: 'assets' },
        assets.slice(0, ASSETS_MAX).map((asset) => assetChip(asset)),
        more,
      ),
    ),
  );
}

function part(name: string, amount: string, title: string, tone: string): HTMLElement {
  const element = h('div', { title, 'data-tone': tone, 'data-none': amount === '0' }, h('dt', {}, h('i', { 'aria-hidden': 'true' }), name));
  element.append(h('dd', {}, amountText(amount)));
  return element;
}
