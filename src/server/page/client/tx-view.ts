/**
 * A transaction: what it paid and how deep it is, the flow of value through it
 * as a drawing with its tables, and what it gave to scripts. Where the store
 * keeps less, what is left is shown, with the setting that would keep more.
 */
import { bitcoinScripts } from './bitcoin-scripts.ts';
import { type Child, h } from './dom.ts';
import { type FlowEnd, flowFigure } from './flow-drawing.ts';
import { bytes, coins, count, counted, rate, shortAddress, shortHash, slotText } from './format.ts';
import { kindWords } from './outputs.ts';
import { amountText, assetChip, blockLink, chain, coinsText, copyButton, fact, feeText, hrefOf, moment, smallUnit } from './parts.ts';
import { scriptSections } from './script-views.ts';
import { frame, subject, type View, wide } from './subject.ts';
import { endsTable, rowName } from './tx-ends.ts';
import { isKnown, readTx, sum } from './tx-read.ts';
import type { Input, ShownTx, Transaction } from './tx-shapes.ts';

export async function showTransaction(hash: string): Promise<View> {
  const tx = await readTx(hash);
  const element = frame(
    subject('Transaction', tx.hash, ...headFacts(tx), ...(tx.whole === null ? [] : wholeFacts(tx.whole)), ...esploraFacts(tx)),
    tx.missing !== null && h('p', { class: 'card remark' }, tx.missing),
    flowOf(tx),
    h('div', { class: 'pair' }, inputTable(tx), outputTable(tx)),
    ...(tx.whole === null ? [] : otherInputs(tx.whole)),
    ...(tx.whole === null ? [] : await scriptSections(tx.whole)),
    ...(tx.esplora === null ? [] : [h('div', { class: 'pair' }, await bitcoinScripts(tx.esplora))]),
  );
  return { title: `Transaction ${shortHash(tx.hash)}`, element };
}

function headFacts({ place, fee, size, virtualSize, valid }: ShownTx): Child[] {
  return [
    fact('Result', resultTag(valid, place !== null)),
    place !== null && fact('Confirmations', h('span', { class: 'big' }, count(place.confirmations))),
    fee !== null && fact(valid ? 'Fee' : 'Collateral taken', h('span', { class: 'big' }, feeText(fee)), rateText(fee, virtualSize)),
    size !== null && fact('Size', bytes(size), virtualSize !== null && h('small', {}, ` ${count(virtualSize)} vB`)),
    place !== null && fact('Block', blockLink(place.height, place.hash), h('small', {}, slotText(place.slot, place.epoch))),
    place?.time != null && fact('Time', moment(place.time)),
  ];
}

function resultTag(valid: boolean, isInBlock: boolean): HTMLElement {
  if (!valid) return h('span', { class: 'tag', 'data-tone': 'bad', title: 'A script failed: its collateral was taken' }, 'scripts failed');
  return isInBlock
    ? h('span', { class: 'tag', 'data-tone': 'ok' }, 'in a block')
    : h('span', { class: 'tag', 'data-tone': 'info' }, 'waits for a block');
}

function rateText(fee: bigint, virtualSize: number | null): Child {
  if (virtualSize === null || virtualSize === 0) return null;
  return h('small', {}, ` ${rate(Number(fee) / virtualSize)} ${smallUnit()}/vB`);
}

function wholeFacts(tx: Transaction): Child[] {
  const { invalid_before: from, invalid_hereafter: until, mint = [], required_signers: signers = [] } = tx;
  const [made, burned] = [
    mint.filter(({ quantity }) => !quantity.startsWith('-')),
    mint.filter(({ quantity }) => quantity.startsWith('-')),
  ];
  const chips = (list: typeof mint): HTMLElement => h('div', { class: 'assets' }, list.map(assetChip));
  return [
    (from !== undefined || until !== undefined) && fact('Valid', validity(from, until)),
    tx.withdrawal_amount !== undefined && fact('Withdrawn rewards', amountText(tx.withdrawal_amount)),
    tx.certificate_count !== undefined && fact('Certificates', count(tx.certificate_count)),
    signers.length > 0 &&
      fact(
        'Must sign',
        signers.map((key) => h('div', { class: 'mono' }, shortHash(key), copyButton(key, 'key hash'))),
      ),
    made.length > 0 && wide('Minted', chips(made)),
    burned.length > 0 && wide('Burned', chips(burned)),
  ];
}

function validity(from: string | undefined, until: string | undefined): string {
  const [first, last] = [from, until].map((slot) => (slot === undefined ? null : count(BigInt(slot))));
  if (first === null) return `before slot ${last}`;
  return last === null ? `from slot ${first}` : `from slot ${first}, before ${last}`;
}

function esploraFacts({ esplora, isCoinbase }: ShownTx): Child[] {
  if (esplora === null) return isCoinbase ? [fact('Kind', 'a reward of mining')] : [];
  const { version, locktime, vin } = esplora;
  const isReplaceable = vin.some(({ sequence }) => sequence < 0xfffffffe);
  return [
    isCoinbase && fact('Kind', 'a reward of mining'),
    !isCoinbase && fact('Replaceable', isReplaceable ? 'signals it (BIP125)' : 'does not signal it'),
    fact('Version', count(version), h('small', {}, locktime === 0 ? '' : ` lock time ${count(locktime)}`)),
  ];
}

function inputTable({ inputs, isCoinbase, valid, missing }: ShownTx): HTMLElement {
  const none = isCoinbase ? 'New coins: the reward of the block and the fees of its transactions.' : 'None.';
  return endsTable(inputs, {
    title: valid ? 'Inputs' : 'Collateral, taken',
    state: false,
    none: missing === null ? none : 'None that the store still knows.',
  });
}

function outputTable({ outputs, valid, missing }: ShownTx): HTMLElement {
  return endsTable(outputs, {
    title: valid ? 'Outputs' : 'Outputs, the change of its collateral',
    state: true,
    none: missing !== null ? 'None that the store still knows.' : valid ? 'None.' : 'None: all of it was taken.',
  });
}

/** What it names without spending it. */
function otherInputs({ valid, inputs, collateral_inputs: collateral = [], reference_inputs: references = [] }: Transaction): HTMLElement[] {
  const table = (title: string, note: string, rows: readonly Input[]): HTMLElement[] =>
    rows.length === 0 ? [] : [endsTable(rows, { title, note, state: false })];
  return [
    ...(valid ? [] : table('Inputs', 'not spent, because its scripts failed', inputs)),
    ...(valid ? table('Collateral', 'not taken, because its scripts succeeded', collateral) : []),
    ...table('Reference inputs', 'looked at, and not spent', references),
  ];
}

/** Null: there is nothing to draw. */
function flowOf(tx: ShownTx): HTMLElement | null {
  const { inputs, outputs, fee, isCoinbase } = tx;
  if (outputs.length === 0 && fee === null) return null;
  const left = inputs.map((input) => endOf(input, 'in'));
  const right = outputs.map((output) =>
    endOf(output, output.spent_at_slot === undefined && output.script_type !== 'op_return' ? 'unspent' : 'out'),
  );
  const paid = extra('fee', fee, tx.valid ? 'fee' : 'collateral taken');
  const withdrawn = BigInt(tx.whole?.withdrawal_amount ?? 0);
  const [ins, outs] = [sum(inputs.filter(isKnown)) + withdrawn, sum(outputs) + (fee ?? 0n)];
  const isWhole = inputs.every(isKnown) && fee !== null && tx.valid;
  // What certificates put down or give back is in no output.
  const open = isWhole ? ins - outs : 0n;
  const ends = {
    left: [
      ...left,
      ...(isCoinbase ? [extra('in', outs, 'new coins')] : []),
      ...(withdrawn > 0n ? [extra('in', withdrawn, 'withdrawn rewards')] : []),
      ...(open < 0n && !isCoinbase ? [extra('in', -open, 'deposits given back')] : []),
    ],
    right: [...right, ...(open > 0n ? [extra('fee', open, 'deposits')] : []), ...(fee !== null && fee > 0n ? [paid] : [])],
  };
  if (ends.left.length === 0) return null;
  const feeWords = fee === null ? '' : ` and a fee of ${coinsText(fee)}`;
  const into = `${counted(outputs.length, 'output')} of ${coinsText(sum(outputs))}${feeWords}`;
  const says = isCoinbase
    ? `New coins flow into ${into}.`
    : `${counted(inputs.length, 'input')} of ${coinsText(sum(inputs.filter(isKnown)))} flow into ${into}.`;
  return flowFigure(ends.left, ends.right, says);
}

function endOf(end: Input, tone: FlowEnd['tone']): FlowEnd {
  const href = hrefOf('output', `${end.tx_hash}/${end.output_index}`);
  const row = rowName(end);
  if (!isKnown(end)) return { row, value: null, amount: 'not known', owner: shortHash(end.tx_hash), href, tone };
  const { owner_addr: address, script_type: type, amounts } = end;
  const assets = amounts.length > 1 ? ` + ${counted(amounts.length - 1, 'asset')}` : '';
  const owner = `${address === undefined ? kindWords(type) : shortAddress(address)}${assets}`;
  return { row, value: BigInt(amounts[0].quantity), amount: `${coins(amounts[0].quantity, chain.unit)}`, owner, href, tone };
}

function extra(tone: FlowEnd['tone'], value: bigint | null, owner: string): FlowEnd {
  return { row: '', value, amount: value === null ? '' : coins(value.toString(), chain.unit), owner, href: null, tone };
}
