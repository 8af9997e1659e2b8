/**
 * The small parts every view is made of: links between things of the chain,
 * long values cut in the middle with the whole of them one hover or click away,
 * times, amounts.
 */
import { type Child, h, svg } from './dom.ts';
import { ago, coins, count, nameText, shortAddress, shortened, shortHash, utc } from './format.ts';
import type { Kind } from './kinds.ts';
import type { Amount, Utxo } from './shapes.ts';

/** What the server says of the chain as a whole; every view is drawn with it. */
export const chain = {
  /** `ada`, `BTC`, `LTC`. */
  coin: 'ada',
  /** The smallest unit of it, which amounts are told in. */
  unit: 'lovelace',
  /** Whether its outputs can hold more than that. */
  hasAssets: true,
  /** False: its blocks are of a time of their own, as a devnet's are, and how long ago that is says nothing. */
  hasOurTime: true,
};

const COPIED_MS = 1500;
const POLICY_CHARS = 56;
/** More assets than this are a number and a link. */
const ASSETS_SHOWN = 3;

export function hrefOf(kind: Kind | 'cage' | 'search', value: string): string {
  return `#/${kind}/${value.split('/').map(encodeURIComponent).join('/')}`;
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
