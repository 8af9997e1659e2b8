/**
 * What is given to scripts and said beside outputs, so that a person can read
 * it: datums and redeemers as trees, native scripts as what they ask for,
 * metadata by label. The bytes are there as well, one click away.
 */
import { problem } from './api.ts';
import { type DataReader, loadDataReader, loadProgramReader, type ShownWitness } from './data-loader.ts';
import { type Child, h, replace } from './dom.ts';
import { bytes, count, shortHash } from './format.ts';
import { copyButton, linkTo, outputLink } from './parts.ts';
import { nativeView, treeView } from './tree.ts';
import type { Input, Redeemer, Transaction } from './tx-shapes.ts';

const POLICY_CHARS = 56;
/** More than anybody reads, and than a page draws at once. */
const PROGRAM_CHARS_MAX = 200_000;
/** Labels that have a meaning to everybody. */
const LABELS: Readonly<Record<string, string>> = {
  '721': 'tokens, CIP-25',
  '674': 'messages, CIP-20',
  '20': 'tokens, CIP-27',
  '777': 'royalties, CIP-27',
};

/** A datum as a tree with its bytes; the bytes alone where they are no Plutus data. */
export function datumView(reader: DataReader, cbor: string): HTMLElement {
  return h(
    'div',
    { class: 'decoded' },
    decoded(() => treeView(reader.readData(cbor))),
    rawBytes(cbor),
  );
}

/** A script that stands as `[kind, script]`. */
export function scriptView(reader: DataReader, cbor: string): HTMLElement {
  const read = decoded(() => {
    const { type, native, size } = reader.readScript(cbor);
    const kind = h(
      'p',
      {},
      h('span', { class: 'tag' }, type === 'native' ? 'native script' : type.replace('plutusV', 'Plutus V')),
      ' ',
      h('span', { class: 'note' }, bytes(size)),
    );
    return h('div', {}, kind, native === null ? programView(cbor) : nativeView(native));
  });
  return h('div', { class: 'decoded' }, read, rawBytes(cbor));
}

/** The program of a Plutus script as text. Few look at it, so it is read when somebody opens it. */
function programView(cbor: string): HTMLElement {
  const text = h('div', { class: 'program' }, h('p', { class: 'note' }, 'Reading …'));
  const details = h('details', { class: 'uplc' }, h('summary', {}, 'Program, as UPLC'), text);
  details.addEventListener('toggle', () => void readProgram(cbor, text), { once: true });
  return details;
}

async function readProgram(cbor: string, place: HTMLElement): Promise<void> {
  try {
    const { readUplc } = await loadProgramReader();
    const whole = readUplc(cbor);
    const shown = whole.slice(0, PROGRAM_CHARS_MAX);
    const isCut =
      shown.length < whole.length && h('p', { class: 'note' }, `The first ${count(shown.length)} of ${count(whole.length)} characters.`);
    replace(place, h('pre', { class: 'blob', tabindex: 0, 'aria-label': 'Program' }, shown), copyButton(whole, 'program'), isCut);
  } catch (error) {
    replace(place, h('p', { class: 'note' }, `These bytes do not read as a program: ${problem(error).message}`));
  }
}

/** Where bytes are not what they should be, that is said in place of what they mean. */
function decoded(read: () => HTMLElement): HTMLElement {
  try {
    return read();
  } catch (error) {
    return h('p', { class: 'note' }, `These bytes do not read as that: ${(error as Error).message}`);
  }
}

export function rawBytes(cbor: string): HTMLElement {
  const bytesOfIt = h('details', {}, h('summary', {}, `CBOR, ${bytes(cbor.length / 2)}`), h('div', { class: 'blob', tabindex: 0 }, cbor));
  return h('div', { class: 'raw' }, bytesOfIt, copyButton(cbor, 'CBOR'));
}

/** Everything of a transaction that scripts and people read; empty where there is nothing. */
export async function scriptSections(tx: Transaction): Promise<readonly HTMLElement[]> {
  const reader = await loadDataReader();
  const parts = reader.readTxParts(tx.cbor);
  return [
    redeemerSection(reader, tx),
    witnessSection(
      reader,
      'Datums',
      parts.filter(({ kind }) => kind === 'datum'),
    ),
    witnessSection(
      reader,
      'Scripts',
      parts.filter(({ kind }) => kind === 'script'),
    ),
    metadataSection(reader, tx.auxiliary_data),
  ].filter((section) => section !== null);
}

function redeemerSection(reader: DataReader, tx: Transaction): HTMLElement | null {
  const { redeemers = [] } = tx;
  if (redeemers.length === 0) return null;
  const items = redeemers.map((redeemer) =>
    h(
      'li',
      {},
      h('header', {}, h('span', { class: 'tag', 'data-tone': 'info' }, redeemer.purpose), ' ', subjectOf(tx, redeemer)),
      h('p', { class: 'note' }, `may use ${count(BigInt(redeemer.memory))} memory and ${count(BigInt(redeemer.steps))} steps`),
      datumView(reader, redeemer.data),
    ),
  );
  return card('Redeemers', items);
}

/** What a redeemer is for: the ledger counts inputs and policies in ascending order. */
function subjectOf(tx: Transaction, { purpose, index }: Redeemer): Child {
  if (purpose === 'spend') {
    const input = [...tx.inputs].sort(byName)[index];
    return input === undefined ? `input ${index}` : outputLink(input);
  }
  if (purpose === 'mint') {
    const policies = [...new Set((tx.mint ?? []).map(({ unit }) => unit.slice(0, POLICY_CHARS)))].sort();
    const policy = policies[index];
    return policy === undefined ? `policy ${index}` : ['policy ', linkTo('policy', policy)];
  }
  return `number ${index}`;
}

function byName(a: Input, b: Input): number {
  return a.tx_hash === b.tx_hash ? a.output_index - b.output_index : a.tx_hash < b.tx_hash ? -1 : 1;
}

function witnessSection(reader: DataReader, title: 'Datums' | 'Scripts', parts: readonly ShownWitness[]): HTMLElement | null {
  if (parts.length === 0) return null;
  const kind = title === 'Datums' ? 'datum' : 'script';
  const items = parts.map(({ hash, cbor }) =>
    h(
      'li',
      {},
      h('header', {}, linkTo(kind, hash, shortHash(hash)), copyButton(hash, `${kind} hash`)),
      kind === 'datum' ? datumView(reader, cbor) : scriptView(reader, cbor),
    ),
  );
  return card(title, items);
}

function metadataSection(reader: DataReader, auxiliary: string | undefined): HTMLElement | null {
  if (auxiliary === undefined) return null;
  const labels = reader.readLabels(auxiliary);
  if (labels.length === 0) return null;
  const items = labels.map(({ label, value }) =>
    h('li', {}, h('header', {}, h('b', {}, `Label ${label}`), ' ', h('span', { class: 'note' }, LABELS[label] ?? '')), treeView(value)),
  );
  return card('Metadata', items);
}

function card(title: string, items: readonly HTMLElement[]): HTMLElement {
  const heading = h('h2', {}, title, ' ', h('small', { class: 'note' }, count(items.length)));
  return h('section', { class: 'card given', id: title.toLowerCase() }, heading, h('ul', {}, items));
}
