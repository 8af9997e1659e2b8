/**
 * What holds outputs: addresses, stake addresses and credentials, which own
 * them; assets, policies, datums and scripts, which are in them.
 */
import { get, type Problem, problem } from './api.ts';
import { type DataReader, loadDataReader } from './data-loader.ts';
import { type Child, h } from './dom.ts';
import { count, shortAddress, shortHash } from './format.ts';
import { problemNotice } from './notice.ts';
import { pagedOutputs } from './outputs.ts';
import { ownerHistory } from './owner-history.ts';
import { addressLink, amountText, assetChips, blockLink, copyButton, fact, linkTo, outputLink } from './parts.ts';
import { proofCard } from './proof-card.ts';
import { datumView, scriptView } from './script-views.ts';
import type { Balance, Seen } from './shapes.ts';
import { frame, subject, type View, wide } from './subject.ts';

const UNSPENT = 'Unspent outputs';

export async function showAddress(address: string): Promise<View> {
  return owned('Address', address, `/addresses/${encodeURIComponent(address)}`);
}

export async function showStake(stake: string): Promise<View> {
  return owned('Stake address', stake, `/stake/${encodeURIComponent(stake)}`);
}

/** What it has, what happened to it, then each output. */
async function owned(what: string, value: string, path: string): Promise<View> {
  const isAddress = what === 'Address';
  const [balance, { element, first }] = await Promise.all([
    get<Balance>(`${path}/balance`),
    pagedOutputs(`${path}/utxos`, { title: UNSPENT, owner: !isAddress, place: true, state: false }),
  ]);
  const { utxo_count, amounts } = balance.body;
  const assets = assetChips(amounts, null);
  const stake = first[0]?.owner_stake_addr;
  const payment = first[0]?.owner_payment_credential;
  const facts = [
    fact('Balance', h('span', { class: 'big' }, amountText(amounts[0].quantity))),
    fact(UNSPENT, h('span', { class: 'big' }, count(utxo_count))),
    isAddress && stake !== undefined && fact('Stake address', addressLink(stake), copyButton(stake, 'stake address')),
    isAddress && payment !== undefined && fact('Payment credential', linkTo('credential', payment), copyButton(payment, 'credential')),
    assets !== null && wide(`Assets (${count(amounts.length - 1)})`, assets),
  ];
  const history = await ownerHistory(path, BigInt(amounts[0].quantity));
  const proof =
    isAddress && proofCard({ paths: { csmt: `/csmt${path}/proof` }, shows: 'That these are all unspent outputs of the address.' });
  return { title: `${what} ${shortAddress(value)}`, element: frame(subject(what, value, ...facts), history, element, proof) };
}

export async function showCredential(credential: string): Promise<View> {
  return listed('Payment credential', credential, `/credentials/${encodeURIComponent(credential)}`);
}

export async function showPolicy(policy: string): Promise<View> {
  return listed('Policy', policy, `/policies/${encodeURIComponent(policy)}`);
}

async function listed(what: string, value: string, path: string, ...facts: Child[]): Promise<View> {
  const { element } = await pagedOutputs(`${path}/utxos`, { title: UNSPENT, owner: true, place: true, state: false });
  return { title: `${what} ${shortHash(value)}`, element: frame(subject(what, value, ...facts), element) };
}

/** A datum or a script: its bytes where the store keeps them, the outputs that have it where it is indexed. */
export async function showSeen(what: 'Datum' | 'Script', hash: string): Promise<View> {
  const path = `/${what.toLowerCase()}s/${encodeURIComponent(hash)}`;
  const [facts, list] = await Promise.all([
    get<Seen>(path).then(
      async ({ body }) => seenFacts(body, await loadDataReader()),
      (error) => [notSeen(what, problem(error))],
    ),
    pagedOutputs(`${path}/utxos`, { title: UNSPENT, owner: true, place: true, state: false }).then(
      ({ element }) => element,
      (error) => problemNotice(problem(error)),
    ),
  ]);
  return { title: `${what} ${shortHash(hash)}`, element: frame(subject(what, hash, ...facts), list) };
}

/** Whoever pays to a hash need not say what it is of. */
function notSeen(what: 'Datum' | 'Script', { code, message }: Problem): HTMLElement {
  if (code !== 'NOT_FOUND') return wide('What it says', message);
  return wide('What it says', `Not known: no transaction that the store has seen brought the ${what.toLowerCase()} itself, only its hash.`);
}

function seenFacts({ type, cbor, tx_hash, output_index, block, block_hash }: Seen, reader: DataReader): HTMLElement[] {
  const where = output_index === undefined ? linkTo('tx', tx_hash) : outputLink({ tx_hash, output_index });
  return [
    ...(type === undefined ? [] : [fact('Kind', type)]),
    fact('First seen', where, h('small', {}, ' in block '), blockLink(block, block_hash)),
    wide('What it says', type === undefined ? datumView(reader, cbor) : scriptView(reader, cbor)),
  ];
}
