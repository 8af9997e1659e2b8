/**
 * The small parts every view is made of: links between things of the chain,
 * long values cut in the middle with the whole of them one hover or click away,
 * times, amounts.
 */
import { travel } from './api.ts';
import { type Child, h, svg } from './dom.ts';
import { ago, coins, count, nameText, shortAddress, shortened, shortHash, utc } from './format.ts';
import type { Kind } from './kinds.ts';
import type { Amount, Utxo } from './shapes.ts';

/** What the server says of the chain as a whole; every view is drawn with it. */
export const chain = {
  network: '',
  /** `ada`, `BTC`, `LTC`. */
  coin: 'ada',
  /** The smallest unit of it, which amounts are told in. */
  unit: 'lovelace',
  /** Whether its outputs can hold more than that. */
  hasAssets: true,
  /** As its proofs name it. */
  family: '',
  /** Transactions are told in the API of Esplora, and blocks are bid for. */
  hasEsplora: false,
  /** Names of what the store keeps. */
  projections: [] as readonly string[],
  /** False: its blocks are of a time of their own, as a devnet's are, and how long ago that is says nothing. */
  hasOurTime: true,
};

const COPIED_MS = 1500;
const POLICY_CHARS = 56;
/** More assets than this are a number and a link. */
const ASSETS_SHOWN = 3;

/** Links of a page that is shown as of an earlier block lead to others as of the same. */
export function hrefOf(kind: Kind | 'cage' | 'search' | 'blocks', value: string): string {
  const at = travel.height === null ? '' : `?at=${travel.height}`;
  return `#/${kind}/${value.split('/').map(encodeURIComponent).join('/')}${at}`;
}

/** A long value, cut, that leads to its page. */
export function linkTo(kind: Kind | 'cage', value: string, shown: string = shortHash(value)): HTMLElement {
  return h('a', { class: 'mono', href: hrefOf(kind, value), title: value }, shown);
}

export function addressLink(address: string): HTMLElement {
  return linkTo(address.startsWith('stake') ? 'stake' : 'address', address, shortAddress(address));
}

export function outputLink({ tx_hash, output_index }: Pick<Utxo, 'tx_hash' | 'output_index'>): HTMLElement {
  const name = `${tx_hash}#${output_index}`;
  return h(
    'a',
    { class: 'mono', href: hrefOf('output', `${tx_hash}/${output_index}`), title: name },
    `${shortHash(tx_hash)}#${output_index}`,
  );
}

/** By hash where it is known: heights are taken by others after a rollback. */
export function blockLink(height: number, hash?: string): HTMLElement {
  return h('a', { href: hrefOf('block', hash ?? `height:${height}`), title: hash ?? `height ${height}` }, count(height));
}

export function copyButton(value: string, what: string): HTMLElement {
  const icon = svg('svg', { viewBox: '0 0 16 16' }, svg('path', { d: 'M5.5 5.5h8v8h-8z' }), svg('path', { d: 'M10.5 5.5v-3h-8v8h3' }));
  const title = `Copy ${what}`;
  const button = h('button', { class: 'copy', type: 'button', 'aria-label': title, title, 'data-value': value }, icon);
  button.addEventListener('click', async () => {
    await copy(button.dataset['value'] ?? '');
    button.dataset['done'] = '';
    button.title = 'Copied';
    setTimeout(() => {
      delete button.dataset['done'];
      button.title = title;
    }, COPIED_MS);
  });
  return button;
}

/** Over plain HTTP on another machine the clipboard is closed to pages; the old way still works there. */
async function copy(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const field = h('textarea', { class: 'unseen' });
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}

/** `<time>` in words, with the exact moment on hover; `main` keeps the words true. */
export function timeAgo(unixSeconds: number): HTMLElement {
  return timeElement(unixSeconds, ago(unixSeconds, Date.now() / 1000), { 'data-ago': unixSeconds });
}

/** Of a block: how long ago that was, or when, where the chain has a time of its own. */
export function blockTime(unixSeconds: number): HTMLElement {
  return chain.hasOurTime ? timeAgo(unixSeconds) : timeElement(unixSeconds, utc(unixSeconds));
}

function timeElement(unixSeconds: number, text: string, more: Readonly<Record<string, number>> = {}): HTMLElement {
  const exact = utc(unixSeconds);
  return h('time', { datetime: exact.replace(' UTC', 'Z').replace(' ', 'T'), title: exact, ...more }, text);
}

/** The moment a block was made, and how long ago that is. */
export function moment(unixSeconds: number): Child[] {
  return [utc(unixSeconds), chain.hasOurTime && [' ', h('small', {}, timeAgo(unixSeconds))]];
}

/** By what people call a coin: what stands behind amounts, what the smallest unit is called, and where coins have another name unless the network is the real one. */
const COINS: Readonly<Record<string, { readonly symbol: string; readonly small: string; readonly real?: string }>> = {
  ada: { symbol: 'ADA', small: 'lovelace', real: 'mainnet' },
  BTC: { symbol: 'BTC', small: 'sat' },
  LTC: { symbol: 'LTC', small: 'lit' },
};

/** What stands behind an amount: coins of test networks that are not worth anything are called so. */
export function symbol(): string {
  const { symbol: name = chain.coin, real } = COINS[chain.coin] ?? {};
  return real === undefined || real === chain.network ? name : `t${name}`;
}

/** What people call the smallest unit. */
export function smallUnit(): string {
  return COINS[chain.coin]?.small ?? chain.unit;
}

/** An amount as plain text: `1,234.5 ADA`, without decimals that say nothing. What is counted in satoshi has all eight, as people write it. */
export function coinsText(quantity: bigint): string {
  const exact = coins(quantity.toString(), chain.unit);
  return `${chain.hasEsplora ? exact : exact.replace(/\.?0+$/, '')} ${symbol()}`;
}

/** Fees are small: where blocks are bid for they are told in the smallest unit. */
export function feeText(quantity: bigint): Child {
  if (chain.hasEsplora) return [count(quantity), ' ', h('small', {}, smallUnit())];
  return [coins(quantity.toString(), chain.unit), ' ', h('small', {}, symbol())];
}

/** An amount of the chain's coin, with what it is called. */
export function amountText(quantity: string): Child {
  const [whole, decimals] = coins(quantity.replace('-', ''), chain.unit).split('.');
  return [whole, h('small', {}, `.${decimals} ${symbol()}`)];
}

/** An amount of the chain's own coin. */
export function coinText({ quantity, unit }: Amount): Child[] {
  const [whole, decimals] = coins(quantity, unit).split('.');
  return [whole, h('wbr'), h('small', {}, `.${decimals}`)];
}

/** The name in letters where it has them, the hex on hover. */
export function assetChip({ unit, quantity }: Amount): HTMLElement {
  const name = unit.slice(POLICY_CHARS);
  const shown = nameText(name) ?? (name === '' ? shortened(unit, 6, 4) : shortened(name, 8, 4));
  const title = `policy ${unit.slice(0, POLICY_CHARS)}\nname ${name === '' ? '(empty)' : name}`;
  return h('a', { class: 'asset', href: hrefOf('asset', unit), title }, h('b', {}, shown), count(BigInt(quantity)));
}

export function assetChips(amounts: readonly Amount[], more: string | null): Child {
  const assets = amounts.slice(1);
  if (assets.length === 0) return null;
  const shown = more === null || assets.length === ASSETS_SHOWN + 1 ? assets : assets.slice(0, ASSETS_SHOWN);
  const rest = assets.length - shown.length;
  return h('div', { class: 'assets' }, shown.map(assetChip), rest > 0 && h('a', { class: 'asset plain', href: more }, `${rest} more`));
}

/** A name and what belongs to it, for a `dl`. */
export function fact(name: string, ...value: Child[]): HTMLElement {
  return h('div', {}, h('dt', {}, name), h('dd', {}, value));
}
