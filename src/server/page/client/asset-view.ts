/**
 * An asset: how much there is and who holds it, with what is said of it: the
 * metadata of its mint (CIP-25), or the datum of its reference token (CIP-68).
 */
import { get, Problem, problem } from './api.ts';
import { loadDataReader } from './data-loader.ts';
import { type Child, h } from './dom.ts';
import { count, nameText, percent, shortHash } from './format.ts';
import { pagedOutputs } from './outputs.ts';
import { addressLink, blockLink, chain, copyButton, fact, linkTo, outputLink } from './parts.ts';
import { datumView } from './script-views.ts';
import type { Utxo } from './shapes.ts';
import { frame, subject, type View } from './subject.ts';
import { type Tree, treeView } from './tree.ts';

interface Summary {
  readonly quantity: string;
  readonly utxo_count: number;
  readonly holder_count: number;
  readonly holders: readonly { readonly owner_addr: string; readonly quantity: string }[];
}

interface Mint {
  readonly tx_hash: string;
  readonly block: number;
  readonly block_hash?: string;
  readonly auxiliary_data?: string;
}

const POLICY_CHARS = 56;
/** CIP-68: the reference token has the name of the others behind a label of its own (CIP-67). */
const REFERENCE_LABEL = '000643b0';
const USER_LABELS = ['000de140', '0014df10', '001bc280'];
const LABEL_CHARS = 8;
const NFT_LABEL = '721';
const NO_HISTORY = new Problem(501, 'No history', 'a store with utxo.history = true keeps every transaction');

export async function showAsset(unit: string): Promise<View> {
  const [policy, name] = [unit.slice(0, POLICY_CHARS), unit.slice(POLICY_CHARS)];
  const path = `/assets/${encodeURIComponent(unit)}`;
  const [asset, { element }, mint, reference] = await Promise.all([
    summaryOf(path),
    pagedOutputs(`${path}/utxos`, { title: 'Unspent outputs', owner: true, place: true, state: false }),
    chain.projections.includes('history') ? get<Mint>(`${path}/mint`).then(({ body }) => body, problem) : NO_HISTORY,
    referenceToken(policy, name),
  ]);
  const minted = mint instanceof Error ? null : mint;
  const text = nameText(name);
  const shown = text === null ? (name === '' ? 'no name' : 'not text') : h('b', {}, text);
  const head = subject(
    'Asset',
    unit,
    fact('Name', shown, name !== '' && [' ', h('small', { class: 'mono' }, name)]),
    fact(
      'In existence',
      figure(asset, ({ quantity }) => count(BigInt(quantity))),
    ),
    fact(
      'Addresses that hold it',
      figure(asset, ({ holder_count: holders }) => count(holders)),
    ),
    fact('Policy', linkTo('policy', policy), copyButton(policy, 'policy')),
    minted !== null &&
      fact('Minted in', linkTo('tx', minted.tx_hash), h('small', {}, ' block '), blockLink(minted.block, minted.block_hash)),
  );
  const said = await metadataCard(policy, name, minted, reference, mint instanceof Error ? mint.message : null);
  const holders = asset instanceof Problem ? null : holderCard(asset);
  return { title: `Asset ${text ?? shortHash(unit)}`, element: frame(head, h('div', { class: 'pair' }, holders, said), element) };
}

/** Of an asset that more addresses hold than the server adds up, the rest of the page is there all the same. */
async function summaryOf(path: string): Promise<Summary | Problem> {
  try {
    return (await get<Summary>(path)).body;
  } catch (error) {
    const why = problem(error);
    if (why.code === 'LIMIT') return why;
    throw why;
  }
}

function figure(asset: Summary | Problem, read: (asset: Summary) => string): HTMLElement {
  return asset instanceof Problem
    ? h('span', { class: 'note' }, `not added up: ${asset.message}`)
    : h('span', { class: 'big' }, read(asset));
}

/** The unspent output that has what is said of a token; null: there is none, or the store does not index assets. */
async function referenceToken(policy: string, name: string): Promise<Utxo | null> {
  const label = name.slice(0, LABEL_CHARS);
  if (label !== REFERENCE_LABEL && !USER_LABELS.includes(label)) return null;
  const unit = policy + REFERENCE_LABEL + name.slice(LABEL_CHARS);
  const { body } = await get<Utxo[]>(`/assets/${unit}/utxos`, { limit: 1, order: 'desc' });
  return body[0] ?? null;
}

function holderCard({ holders, holder_count, quantity }: Summary): HTMLElement {
  const total = BigInt(quantity);
  const share = (amount: string): number => (total === 0n ? 0 : Number((BigInt(amount) * 1_000_000n) / total) / 1_000_000);
  const rows = holders.map(({ owner_addr, quantity: held }) => {
    const fill = h('span', { class: 'fill' });
    fill.style.width = `${100 * share(held)}%`;
    const owner = owner_addr === '' ? h('span', { class: 'note' }, 'no address') : addressLink(owner_addr);
    return h(
      'li',
      {},
      owner,
      h('span', { class: 'value' }, `${count(BigInt(held))} · ${percent(share(held))}`),
      h('div', { class: 'track' }, fill),
    );
  });
  const more = holder_count > holders.length && h('p', { class: 'empty' }, `and ${count(holder_count - holders.length)} more`);
  return h('section', { class: 'card', id: 'holders' }, h('h2', {}, 'Who holds most'), h('ul', { class: 'bars' }, rows), more);
}

async function metadataCard(
  policy: string,
  name: string,
  mint: Mint | null,
  reference: Utxo | null,
  why: string | null,
): Promise<HTMLElement> {
  const card = (...children: Child[]): HTMLElement =>
    h('section', { class: 'card said', id: 'metadata' }, h('h2', {}, 'Metadata'), children);
  const reader = await loadDataReader();
  if (reference?.inline_datum !== undefined) {
    const from = h('p', { class: 'note' }, 'CIP-68, from the datum of its reference token in ', outputLink(reference));
    return card(from, datumView(reader, reference.inline_datum));
  }
  const labels = mint?.auxiliary_data === undefined ? [] : reader.readLabels(mint.auxiliary_data);
  const tokens = labels.find(({ label }) => label === NFT_LABEL);
  const said = tokens === undefined ? null : entryOf(entryOf(tokens.value, policy), name);
  if (said !== null && mint !== null)
    return card(h('p', { class: 'note' }, 'CIP-25, label 721 of ', linkTo('tx', mint.tx_hash)), treeView(said));
  const none =
    mint === null
      ? `It is not known which transaction minted it${why === null ? '' : `: ${why}`}.`
      : 'None came with the transaction that minted it.';
  return card(h('p', { class: 'empty' }, none));
}

/** What a map has under a name: as text, as the hex of it, or as bytes. */
function entryOf(tree: Tree | null, hex: string): Tree | null {
  if (tree === null || !('map' in tree)) return null;
  const text = new TextDecoder().decode(Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)));
  const found = tree.map.find(({ k }) => ('text' in k && (k.text === hex || k.text === text)) || ('bytes' in k && k.bytes === hex));
  return found?.v ?? null;
}
