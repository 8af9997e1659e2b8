/**
 * Finds what a text means by asking for each thing it could be. One answer leads
 * straight to its page; several are offered; where an index that could tell is
 * not kept, that is said rather than "not found".
 */
import { get, Problem, problem } from './api.ts';
import { h } from './dom.ts';
import { counted, utc } from './format.ts';
import { type Kind, type Place, placesOf } from './kinds.ts';
import { hrefOf } from './parts.ts';
import type { Block, Utxo } from './shapes.ts';

export const NAMES: Readonly<Record<Kind, string>> = {
  address: 'Address',
  stake: 'Stake address',
  credential: 'Payment credential',
  output: 'Output',
  tx: 'Transaction',
  block: 'Block',
  asset: 'Asset',
  policy: 'Policy',
  datum: 'Datum',
  script: 'Script',
};

const LISTS: Partial<Record<Kind, string>> = {
  address: 'addresses',
  stake: 'stake',
  credential: 'credentials',
  asset: 'assets',
  policy: 'policies',
  datum: 'datums',
  script: 'scripts',
};

interface Found {
  readonly place: Place;
  /** A few words about it; null: there is no such thing. */
  readonly note: string | null;
  readonly trouble: Problem | null;
}

export async function search(text: string): Promise<HTMLElement> {
  const places = placesOf(text);
  if (places.length === 0) throw notUnderstood(text);
  // What can be one thing only is shown as that, with its own words where it is not there.
  if (places.length === 1) return lead(places[0]);
  const found = await Promise.all(places.map(look));
  const hits = found.filter(({ note }) => note !== null);
  if (hits.length === 1) return lead(hits[0].place);
  if (hits.length === 0) throw nothing(text, found);
  return choices(text, hits);
}

/** Its page takes the place of the search, so that going back skips it. */
function lead({ kind, value }: Place): HTMLElement {
  location.replace(hrefOf(kind, value));
  return h('p', { class: 'loading', role: 'status' }, `Looking at the ${NAMES[kind].toLowerCase()} …`);
}

async function look(place: Place): Promise<Found> {
  try {
    return { place, note: await noteOn(place), trouble: null };
  } catch (error) {
    const trouble = problem(error);
    if (trouble.status === 0 || trouble.status === 401) throw trouble;
    // Not there, or not one of these at all.
    const plain = trouble.status === 404 || trouble.status === 400;
    return { place, note: null, trouble: plain ? null : trouble };
  }
}

/** Null: no unspent output has it, which for most keys is the same as its not being one. */
async function noteOn({ kind, value }: Place): Promise<string | null> {
  if (kind === 'block') {
    const { body } = await get<Block>(`/blocks/${encodeURIComponent(value)}`);
    return `height ${body.height}${body.epoch === undefined ? '' : `, slot ${body.slot}`}, ${utc(body.block_time)}`;
  }
  if (kind === 'tx') return counted((await get<Utxo[]>(`/txs/${value}/utxos`)).body.length, 'output');
  const { body, next } = await get<Utxo[]>(`/${LISTS[kind]}/${encodeURIComponent(value)}/utxos`, { limit: 10 });
  if (body.length === 0) return null;
  return next === null ? counted(body.length, 'unspent output') : `more than ${counted(body.length, 'unspent output')}`;
}

function choices(text: string, hits: readonly Found[]): HTMLElement {
  const row = ({ place, note }: Found) =>
    h('li', {}, h('a', { href: hrefOf(place.kind, place.value) }, nameOf(place)), h('span', { class: 'note' }, note ?? ''));
  return h('section', { class: 'card' }, h('h2', {}, `“${text}” can be read as`), h('ul', { class: 'choices' }, hits.map(row)));
}

function nameOf({ kind, value }: Place): string {
  const [, how, number] = /^(height|slot):(\d+)$/.exec(value) ?? [];
  if (how === undefined) return NAMES[kind];
  return how === 'height' ? `Block of height ${number}` : `Newest block up to slot ${number}`;
}

function notUnderstood(text: string): Problem {
  const advice = 'Try an address, tx#index, a transaction or block hash, a height, slot:N, a policy, or a policy and asset name in hex.';
  return new Problem(404, 'That is nothing the chain has names for.', `“${text.slice(0, 200)}”`, advice);
}

function nothing(text: string, found: readonly Found[]): Problem {
  const untold = found.flatMap(({ place, trouble }) => (trouble === null ? [] : `${NAMES[place.kind]}: ${trouble.message}.`));
  const looked = found.filter(({ trouble }) => trouble === null).map(({ place }) => NAMES[place.kind].toLowerCase());
  const names = [...new Set(looked)].join(', ');
  const title = untold.length === 0 ? 'Nothing found.' : 'Nothing found, as far as this store can tell.';
  return new Problem(404, title, `No ${names} “${text.slice(0, 200)}” is known at this block.`, untold.join(' '));
}
