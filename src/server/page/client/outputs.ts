/**
 * Tables of outputs, page by page. Newest first, and the next page goes on
 * behind the last row however many blocks arrive meanwhile; when the block a
 * page ended in was rolled back, the server says so and the list begins anew.
 */
import { get, problem } from './api.ts';
import { h, replace } from './dom.ts';
import { count, shortened } from './format.ts';
import { problemNotice } from './notice.ts';
import { addressLink, assetChips, blockLink, blockTime, chain, coinText, copyButton, hrefOf, outputLink, symbol } from './parts.ts';
import type { Utxo } from './shapes.ts';

const PAGE_ROWS = 25;
const PART_ROWS = 50;

/** What a table shows besides what every table does. */
export interface TableOptions {
  readonly title: string;
  /** Leave the owner out where all rows have the same. */
  readonly owner: boolean;
  /** Leave the block out where all rows have the same. */
  readonly place: boolean;
  /** Say of each row whether it is spent. */
  readonly state: boolean;
}

function outputTable(rows: readonly Utxo[], options: TableOptions): { element: HTMLElement; body: HTMLElement; note: HTMLElement } {
  const { title, owner, place, state } = options;
  const coin = symbol();
  const holdings = chain.hasAssets ? [coin, 'Assets'] : [coin];
  const names = ['Output', ...(owner ? ['Owner'] : []), ...holdings, ...(place ? ['Block'] : []), ...(state ? ['State'] : [])];
  const body = h(
    'tbody',
    {},
    rows.map((row) => outputRow(row, options)),
  );
  const note = h('small', {});
  const head = h(
    'tr',
    {},
    names.map((name) => h('th', { scope: 'col', class: name === coin ? 'number' : null }, name)),
  );
  return { element: h('table', { class: 'rows' }, h('caption', {}, title, ' ', note), h('thead', {}, head), body), body, note };
}

/** Kinds of scripts in words, by the names that nodes and Esplora servers give them. */
const KINDS: Readonly<Record<string, string>> = {
  op_return: 'data (OP_RETURN)',
  nulldata: 'data (OP_RETURN)',
  p2pk: 'a public key (P2PK)',
  pubkey: 'a public key (P2PK)',
  pubkeyhash: 'the hash of a key (P2PKH)',
  scripthash: 'the hash of a script (P2SH)',
  multisig: 'several keys (bare multisig)',
  witness_v0_keyhash: 'the hash of a key (P2WPKH)',
  witness_v0_scripthash: 'the hash of a script (P2WSH)',
  witness_v1_taproot: 'taproot (P2TR)',
  witness_unknown: 'a later kind of witness',
  witness_mweb_pegin: 'into the extension block (MWEB)',
  witness_mweb_hogaddr: 'the extension block (MWEB)',
  anchor: 'an anchor (P2A)',
  empty: 'no script',
  unknown: 'another script',
  nonstandard: 'another script',
};

/** What a script is; it stands in place of an address where there is none. */
export function kindWords(type = 'unknown'): string {
  return KINDS[type] ?? type;
}

/** An address, or the kind of a script that has none. */
function ownerOf({ owner_addr: address, script_type: type }: Utxo): HTMLElement {
  if (address === undefined) return h('span', { class: 'note' }, kindWords(type));
  return h('div', {}, addressLink(address), copyButton(address, 'address'));
}

function outputRow(row: Utxo, { owner, place, state }: TableOptions): HTMLElement {
  const name = `${row.tx_hash}#${row.output_index}`;
  const cell = (label: string, ...children: Parameters<typeof h>[2][]) => h('td', { 'data-label': label }, ...children);
  const page = hrefOf('output', `${row.tx_hash}/${row.output_index}`);
  const assets = assetChips(row.amounts, page);
  return h(
    'tr',
    { 'data-output': name },
    cell('Output', h('div', {}, outputLink(row), copyButton(name, 'output'), marks(row))),
    owner && cell('Owner', ownerOf(row)),
    h('td', { 'data-label': symbol(), class: 'number' }, h('span', {}, coinText(row.amounts[0]))),
    chain.hasAssets && (assets === null ? h('td', {}) : cell('Assets', assets)),
    place &&
      cell('Block', h('div', { class: 'place' }, blockLink(row.block, row.block_hash), ' ', h('small', {}, blockTime(row.block_time)))),
    state && cell('State', spentState(row)),
  );
}

export function marks(row: Utxo): HTMLElement | null {
  const names = [
    ...(row.inline_datum !== undefined ? ['datum'] : row.data_hash !== undefined ? ['datum hash'] : []),
    ...(row.reference_script_hash !== undefined ? ['script'] : []),
    ...(row.is_collateral_return ? ['collateral return'] : []),
    ...(row.is_coinbase ? ['coinbase'] : []),
  ];
  return names.length === 0 ? null : h('div', {}, h('small', {}, names.join(' · ')));
}

export function spentState(row: Utxo): HTMLElement {
  if (row.script_type === 'op_return') return h('span', { class: 'tag', 'data-tone': 'idle' }, 'cannot be spent');
  if (row.spent_at_slot === undefined) return h('span', { class: 'tag', 'data-tone': 'ok' }, 'unspent');
  return row.spent_tx_hash === undefined
    ? h('span', { class: 'tag', 'data-tone': 'idle' }, 'removed by the ledger')
    : h(
        'a',
        { class: 'tag', 'data-tone': 'idle', href: hrefOf('tx', row.spent_tx_hash), title: row.spent_tx_hash },
        'spent by ',
        shortened(row.spent_tx_hash, 4, 4),
      );
}

/** Rows that are all here already; a long list is shown in parts, or the browser would be busy for a while. */
export function outputSection(rows: readonly Utxo[], options: TableOptions): HTMLElement {
  const { element, body, note } = outputTable(rows.slice(0, PART_ROWS), options);
  note.textContent = count(rows.length);
  const button = h('button', { class: 'button', type: 'button' }, 'Show more');
  const foot = h('div', { class: 'more', hidden: rows.length <= PART_ROWS }, button);
  button.addEventListener('click', () => {
    const from = body.childElementCount;
    for (const row of rows.slice(from, from + PART_ROWS)) body.append(outputRow(row, options));
    foot.hidden = body.childElementCount >= rows.length;
  });
  return h('section', { class: 'card' }, element, foot);
}

/** A list that begins with its first page and has a button for the next. */
export async function pagedOutputs(path: string, options: TableOptions): Promise<{ element: HTMLElement; first: readonly Utxo[] }> {
  const first = await get<Utxo[]>(path, { limit: PAGE_ROWS, order: 'desc' });
  const { element, body, note } = outputTable(first.body, options);
  const foot = h('div', { class: 'more' });
  let [rows, next] = [first.body.length, first.next];
  const button = h('button', { class: 'button', type: 'button' }, 'Show more');
  const tell = (): void => {
    note.textContent = next === null ? count(rows) : `first ${count(rows)}`;
    foot.hidden = next === null;
  };
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      const more = await get<Utxo[]>(path, { limit: PAGE_ROWS, order: 'desc', after: next });
      for (const row of more.body) body.append(outputRow(row, options));
      [rows, next] = [rows + more.body.length, more.next];
      tell();
    } catch (error) {
      replace(foot, problemNotice(problem(error)));
    }
    button.disabled = false;
  });
  foot.append(button);
  tell();
  const none = [h('h2', {}, options.title), h('p', { class: 'empty' }, 'None: no unspent output has it.')];
  return { element: h('section', { class: 'card' }, rows > 0 ? [element, foot] : none), first: first.body };
}
