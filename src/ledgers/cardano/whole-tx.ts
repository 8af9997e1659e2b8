/**
 * Transactions as they stand alone. A block has the bodies of its transactions,
 * their witnesses and their auxiliary data in three lists; whoever asks for a
 * transaction wants it as it was submitted:
 *
 *   Alonzo and later  [body, witnesses, is valid, auxiliary data or null]
 *   Shelley to Mary   [body, witnesses, auxiliary data or null]
 *   Byron             [transaction, witnesses]
 *
 * The parts are the bytes of the block, so that hashes of them stay what they are.
 */
import { Cursor } from '../../util/cbor.ts';
import type { Block } from '../ledger.ts';
import { byronTransaction, type CardanoBlock, type CardanoTx, transactionBody, withCollateral } from './decode.ts';
import { ERA } from './header.ts';

const CBOR_FALSE = 0xf4;
const CBOR_TRUE = 0xf5;
const CBOR_NULL = 0xf6;
/** Heads of arrays with so many items. */
const ARRAY_OF = { 2: 0x82, 3: 0x83, 4: 0x84 } as const;

/** Places of the parts of a body. */
const PART = { witnesses: 1, auxiliary: 2 } as const;

/** From where to where in the bytes, the end not included. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A transaction that stands alone, taken apart: positions into its bytes. */
export interface WholeTx {
  /** What it spends and creates; `start` and `end` are those of its body. */
  readonly tx: CardanoTx;
  readonly witnesses: Span;
  /** Null: it has none. */
  readonly auxiliary: Span | null;
  readonly isByron: boolean;
}

/** The transactions of a block, each as it stands alone. Throws BLOCK_INVALID. */
export function wholeTxs(block: Block): readonly Uint8Array[] {
  const { raw, txs, parts, era } = block as CardanoBlock;
  if (txs.length === 0) return [];
  if (era <= ERA.byron) return txs.map((tx) => joined(raw, [tx, spanAt(raw, tx.end, raw.length)], 2));
  const witnesses = spansOf(new Cursor(raw, parts[PART.witnesses], parts[PART.witnesses + 1]));
  const auxiliary = auxiliaryOf(new Cursor(raw, parts[PART.auxiliary], parts[PART.auxiliary + 1]));
  const hasFlag = era >= ERA.alonzo;
  return txs.map((tx, i) => joined(raw, [tx, witnesses[i], auxiliary.get(i)], hasFlag ? 4 : 3, tx.valid));
}

/** Takes a transaction apart that `wholeTxs` gave. Throws BLOCK_INVALID. */
export function splitTx(raw: Uint8Array): WholeTx {
  const c = new Cursor(raw);
  const items = c.array();
  const isByron = items === 2;
  if (!isByron && items !== 3 && items !== 4) c.fail('a transaction has two, three or four parts', 0);
  let tx = isByron ? byronTransaction(c) : transactionBody(c);
  const witnesses = skipped(c);
  if (items === 4) {
    const flag = raw[c.at];
    if (flag !== CBOR_FALSE && flag !== CBOR_TRUE) c.fail('expected true or false');
    if (flag === CBOR_FALSE) tx = withCollateral(raw, tx);
    c.skip();
  }
  const auxiliary = isByron || c.nullish() ? null : skipped(c);
  if (c.at !== raw.length) c.fail('bytes behind the transaction');
  return { tx, witnesses, auxiliary, isByron };
}

/** The body and what else there is, as an array of so many items; a part that is not there is null. */
function joined(raw: Uint8Array, spans: readonly (Span | undefined)[], items: 2 | 3 | 4, valid = true): Uint8Array {
  const [body, witnesses, auxiliary] = spans;
  let length = 1 + (items - 2);
  for (const span of spans) if (span !== undefined) length += span.end - span.start;
  if (auxiliary !== undefined) length--;
  const bytes = new Uint8Array(length);
  bytes[0] = ARRAY_OF[items];
  let at = 1;
  const put = (span: Span | undefined): void => {
    if (span === undefined) {
      bytes[at++] = CBOR_NULL;
      return;
    }
    bytes.set(raw.subarray(span.start, span.end), at);
    at += span.end - span.start;
  };
  put(body);
  put(witnesses);
  if (items === 4) bytes[at++] = valid ? CBOR_TRUE : CBOR_FALSE;
  if (items > 2) put(auxiliary);
  return bytes;
}

/** Every item of a list. */
function spansOf(c: Cursor): Span[] {
  const spans: Span[] = [];
  for (let i = 0, count = c.array(); c.more(count, i); i++) spans.push(skipped(c));
  return spans;
}

/** By the index of its transaction. */
function auxiliaryOf(c: Cursor): Map<number, Span> {
  const spans = new Map<number, Span>();
  for (let i = 0, count = c.map(); c.more(count, i); i++) spans.set(c.uint(), skipped(c));
  return spans;
}

function spanAt(raw: Uint8Array, start: number, end: number): Span {
  return skipped(new Cursor(raw, start, end));
}

function skipped(c: Cursor): Span {
  const start = c.at;
  c.skip();
  return { start, end: c.at };
}
