/** One output: what it holds, whose it is, where it came from, and who spent it. */
import { get } from './api.ts';
import { loadScriptReader, outputScript } from './bitcoin-scripts.ts';
import { loadDataReader } from './data-loader.ts';
import { type Child, h } from './dom.ts';
import { shortHash, slotText } from './format.ts';
import { kindWords, spentState } from './outputs.ts';
import { addressLink, amountText, assetChips, blockLink, copyButton, fact, linkTo, moment } from './parts.ts';
import { proofCard } from './proof-card.ts';
import { datumView, scriptView } from './script-views.ts';
import type { Utxo } from './shapes.ts';
import { frame, subject, type View, wide } from './subject.ts';

/** `value` is `TX/N`. */
export async function showOutput(value: string): Promise<View> {
  const [tx, index] = value.split('/');
  const { body: row } = await get<Utxo>(`/utxos/${encodeURIComponent(tx)}/${encodeURIComponent(index ?? '')}`);
  const { tx_hash, output_index } = row;
  const title = `Output ${shortHash(tx_hash)}#${output_index}`;
  const held = await contents(row);
  return {
    title,
    element: frame(subject('Output', `${tx_hash}#${output_index}`, worth(row), owner(row), origin(row), held), proofOf(row)),
  };
}

/** The tree knows what is unspent, the range also what was. */
function proofOf({ tx_hash, output_index, spent_at_slot }: Utxo): HTMLElement {
  const name = `${tx_hash}/${output_index}`;
  const range = { mmr: `/utxo/mmr/proof/${name}` };
  const isSpent = spent_at_slot !== undefined;
  const shows = isSpent ? 'That the output was made, and is spent.' : 'That the output is unspent, with exactly these bytes.';
  // The tree has a leaf for what is unspent, and says nothing of what it has no leaf for but that.
  const without =
    'It is spent: the tree over the unspent set has no leaf for it. A range over all outputs (utxo.store = "mmr") would show that it was made and is spent.';
  return proofCard({ paths: isSpent ? range : { csmt: `/csmt/utxo/${name}/proof`, ...range }, shows, without });
}

function worth(row: Utxo): Child[] {
  return [
    fact('Holds', h('span', { class: 'big' }, amountText(row.amounts[0].quantity))),
    fact('State', spentState(row)),
    row.spent_at_slot !== undefined && fact('Spent by', spender(row)),
    row.is_collateral_return && fact('Kind', 'what came back of a collateral'),
    row.is_coinbase && fact('Kind', 'a reward of mining'),
  ];
}

function spender({ spent_tx_hash: tx, spent_at_block: block, spent_at_block_hash: hash }: Utxo): Child[] {
  const place = block === undefined ? [] : [h('small', {}, ' in block '), blockLink(block, hash)];
  return [tx === undefined ? 'the ledger itself' : linkTo('tx', tx), ...place];
}

function owner(row: Utxo): Child[] {
  const { owner_addr: address, owner_stake_addr: stake, owner_payment_credential: payment } = row;
  return [
    address === undefined ? fact('Owner', kindWords(row.script_type)) : fact('Owner', addressLink(address), copyButton(address, 'address')),
    stake !== undefined && fact('Stake address', addressLink(stake), copyButton(stake, 'stake address')),
    payment !== undefined && fact('Payment credential', linkTo('credential', payment), copyButton(payment, 'credential')),
  ];
}

function origin(row: Utxo): Child[] {
  return [
    fact('Transaction', linkTo('tx', row.tx_hash), copyButton(row.tx_hash, 'transaction')),
    fact('Block', blockLink(row.block, row.block_hash), h('small', {}, slotText(row.slot, row.epoch))),
    fact('Time', moment(row.block_time)),
  ];
}

async function contents(row: Utxo): Promise<Child[]> {
  const { data_hash, inline_datum, reference_script_hash: script, script_ref } = row;
  const reader = inline_datum === undefined && script_ref === undefined ? null : await loadDataReader();
  const assets = assetChips(row.amounts, null);
  return [
    assets !== null && wide('Assets', assets),
    row.script !== undefined && wide('What it asks for', outputScript(await loadScriptReader(), row.script)),
    data_hash !== undefined && wide('Datum hash', linkTo('datum', data_hash, data_hash), copyButton(data_hash, 'datum hash')),
    inline_datum !== undefined && reader !== null && wide('Inline datum', datumView(reader, inline_datum)),
    script !== undefined && wide('Reference script', linkTo('script', script, script), copyButton(script, 'script hash')),
    script_ref !== undefined && reader !== null && wide('What the script is', scriptView(reader, script_ref)),
  ];
}
