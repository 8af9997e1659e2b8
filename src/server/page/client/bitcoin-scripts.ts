/**
 * Scripts of the Bitcoin family as a person reads them: what each output of a
 * transaction asks for, and what each input brought along, operation by
 * operation. The library's own reader of scripts is loaded when a view has one;
 * the shapes are those of `server/bitcoin/script-reader.ts`.
 */
import { type Child, h } from './dom.ts';
import { bytes, count, printable, shortened } from './format.ts';
import { kindWords } from './outputs.ts';
import { copyButton, outputLink } from './parts.ts';
import type { EsploraTx } from './tx-shapes.ts';

type Operation = { readonly name: string } | { readonly push: string; readonly number: string | null } | { readonly rest: string };

interface SpendPart {
  readonly what: string;
  readonly bytes: string;
  readonly operations: readonly Operation[] | null;
}

export interface ScriptReader {
  readOutputScript(script: string): { readonly type: string; readonly operations: readonly Operation[] };
  readSpend(scriptSig: string, witness: readonly string[], script: string | null): readonly SpendPart[];
}

const MODULE = './server_bitcoin_script-reader.js';
const PART_ROWS = 10;
/** A script may be thousands of operations long. */
const OPERATIONS_MAX = 120;
const BYTES_SHOWN = { head: 40, tail: 12 } as const;
/** Fewer letters than this are chance. */
const TEXT_CHARS_MIN = 4;

export async function loadScriptReader(): Promise<ScriptReader> {
  return (await import(MODULE)) as ScriptReader;
}

/** What an output asks for, with its bytes. */
export function outputScript(reader: ScriptReader, script: string): HTMLElement {
  const { type, operations } = reader.readOutputScript(script);
  const kind = h('span', { class: 'tag' }, kindWords(type));
  return h('div', { class: 'decoded' }, h('p', {}, kind, sizeOf(script)), operationsView(operations), copyable(script, 'script'));
}

export async function bitcoinScripts({ txid, vin, vout }: EsploraTx): Promise<readonly HTMLElement[]> {
  const reader = await loadScriptReader();
  const inputs = vin.map(({ txid: from, vout: index, is_coinbase: isCoinbase, ...input }) => () => {
    const name = isCoinbase ? 'coinbase' : outputLink({ tx_hash: from, output_index: index });
    const parts = reader.readSpend(input.scriptsig, input.witness ?? [], input.prevout?.scriptpubkey ?? null);
    return h('li', {}, h('header', {}, name), parts.length === 0 ? h('p', { class: 'note' }, 'nothing') : parts.map(partView));
  });
  const outputs = vout.map(({ scriptpubkey }, i) => () => {
    const name = outputLink({ tx_hash: txid, output_index: i });
    return h('li', {}, h('header', {}, name), outputScript(reader, scriptpubkey));
  });
  return [
    card('input-scripts', 'What inputs bring along', 'signatures, keys and scripts', inputs),
    card('output-scripts', 'What outputs ask for', 'of whoever spends them', outputs),
  ];
}

/** A long list is drawn in parts. */
function card(id: string, title: string, note: string, items: readonly (() => HTMLElement)[]): HTMLElement {
  const list = h('ul', {});
  const button = h('button', { class: 'button', type: 'button' }, 'Show more');
  const foot = h('div', { class: 'more' }, button);
  const show = (): void => {
    const from = list.childElementCount;
    for (const item of items.slice(from, from + PART_ROWS)) list.append(item());
    foot.hidden = list.childElementCount >= items.length;
  };
  button.addEventListener('click', show);
  show();
  const heading = h('h2', {}, title, ' ', h('small', { class: 'note' }, `${count(items.length)}, ${note}`));
  return h('section', { class: 'card given', id }, heading, list, foot);
}

function partView({ what, bytes: raw, operations }: SpendPart): HTMLElement {
  const head = h('p', {}, h('span', { class: 'tag', 'data-tone': operations === null ? null : 'info' }, what), sizeOf(raw));
  return h('div', { class: 'decoded' }, head, operations === null ? bytesView(raw) : [operationsView(operations), copyable(raw, what)]);
}

function sizeOf(hex: string): HTMLElement {
  return h('span', { class: 'note' }, ` ${bytes(hex.length / 2)}`);
}

function operationsView(operations: readonly Operation[]): HTMLElement {
  const shown = operations.slice(0, OPERATIONS_MAX).map((operation) => h('li', {}, operationView(operation)));
  const hidden = operations.length - shown.length;
  if (hidden > 0) shown.push(h('li', { class: 'note' }, `and ${count(hidden)} more`));
  return h('ol', { class: 'operations' }, shown);
}

function operationView(operation: Operation): Child {
  if ('name' in operation) return h('code', { class: 'opcode' }, operation.name);
  if ('rest' in operation) return [h('span', { class: 'note' }, 'cut short: '), hexView(operation.rest)];
  const { push, number } = operation;
  return number === null ? hexView(push) : [h('code', { class: 'int', title: push }, number), textOf(push)];
}

function bytesView(hex: string): HTMLElement {
  if (hex === '') return h('p', { class: 'note' }, 'no bytes');
  return h('p', { class: 'bytes' }, hexView(hex), copyButton(hex, 'bytes'));
}

function hexView(hex: string): Child[] {
  return [h('code', { title: hex }, shortened(hex, BYTES_SHOWN.head, BYTES_SHOWN.tail)), textOf(hex)];
}

function textOf(hex: string): Child {
  const text = printable(hex);
  return text !== null && text.length >= TEXT_CHARS_MIN && h('span', { class: 'text' }, ` “${text}”`);
}

function copyable(hex: string, what: string): HTMLElement {
  const raw = h('details', {}, h('summary', {}, 'Bytes'), h('div', { class: 'blob', tabindex: 0 }, hex));
  return h('div', { class: 'raw' }, raw, copyButton(hex, what));
}
