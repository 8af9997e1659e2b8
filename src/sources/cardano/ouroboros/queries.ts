/**
 * Questions to a node's ledger and the shapes of its answers, as far as an
 * indexer needs them. Answers about outputs stay encoded: they are the ledger's
 * own bytes, which `encodeLedgerOutput` makes of those in a block.
 *
 * Source: pallas localstate/queries_v16/codec.rs; ouroboros-consensus Shelley/Ledger/Query.hs.
 */
import type { Credential } from '../../../ledgers/cardano/address.ts';
import { readCredential, writeCredential } from '../../../ledgers/cardano/certificates.ts';
import { writeLedgerMap } from '../../../ledgers/cardano/ledger-output.ts';
import { Cursor, INDEFINITE, TAG } from '../../../util/cbor.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { readPoint, type WirePoint, writePoint } from './point.ts';
import { rawItem, violation } from './protocol.ts';

export interface TxInput {
  readonly txId: Uint8Array;
  readonly index: number;
}

type AccountTopic = 'rewardAccounts' | 'stakeDeposits' | 'voteDelegatees';

/** Questions about the ledger of one era. */
export type EraQuestion =
  | { readonly about: 'ledgerTip' }
  | { readonly about: 'epoch' }
  | { readonly about: 'parameters' }
  | { readonly about: 'utxoByAddress'; readonly addresses: readonly Uint8Array[] }
  | { readonly about: 'utxoWhole' }
  | { readonly about: 'genesisConfig' }
  | { readonly about: 'utxoByInput'; readonly inputs: readonly TxInput[] }
  /** Pools and rewards, whom votes go to, deposits: of stake credentials. */
  | { readonly about: AccountTopic; readonly credentials: readonly Credential[] }
  /** Treasury and reserves. */
  | { readonly about: 'pots' }
  /** The answer to another question, as a byte string under tag 24. */
  | { readonly about: 'encoded'; readonly question: EraQuestion }
  /** Well formed, and not one we know: its number. */
  | { readonly about: 'unknown'; readonly key: number };

export type Question =
  | { readonly about: 'systemStart' }
  | { readonly about: 'chainHeight' }
  | { readonly about: 'chainPoint' }
  | { readonly about: 'eraHistory' }
  | { readonly about: 'currentEra' }
  | { readonly about: 'era'; readonly eraIndex: number; readonly question: EraQuestion };

/** One unspent output, both halves as encoded: `[txid, index]` and the output. */
export interface UtxoEntry {
  readonly input: TxInput;
  readonly output: Uint8Array;
}

const SET_TAG = 258;
/** CDDL: Shelley/Ledger/Query.hs, `encodeShelleyQuery`. */
const ERA_KEYS = {
  ledgerTip: 0,
  epoch: 1,
  parameters: 3,
  utxoByAddress: 6,
  utxoWhole: 7,
  encoded: 9,
  genesisConfig: 11,
  utxoByInput: 15,
  pots: 29,
} as const;
const ACCOUNT_KEYS: Readonly<Record<AccountTopic, number>> = { rewardAccounts: 10, stakeDeposits: 22, voteDelegatees: 28 };

export function encodeQuestion(question: Question): Uint8Array {
  const w = new CborWriter();
  switch (question.about) {
    case 'systemStart':
      return w.array(1).uint(1).take();
    case 'chainHeight':
      return w.array(1).uint(2).take();
    case 'chainPoint':
      return w.array(1).uint(3).take();
    case 'eraHistory':
      return w.array(2).uint(0).array(2).uint(2).array(1).uint(0).take();
    case 'currentEra':
      return w.array(2).uint(0).array(2).uint(2).array(1).uint(1).take();
    case 'era':
      return writeEraQuestion(w.array(2).uint(0).array(2).uint(0).array(2).uint(question.eraIndex), question.question).take();
  }
}

/** Sets go without their tag: every version takes that, while the tag is new. */
function writeEraQuestion(w: CborWriter, question: EraQuestion): CborWriter {
  if ('credentials' in question) {
    w.array(2).uint(ACCOUNT_KEYS[question.about]).array(question.credentials.length);
    for (const credential of question.credentials) writeCredential(w, credential);
    return w;
  }
  const key = question.about === 'unknown' ? question.key : ERA_KEYS[question.about];
  if (question.about === 'encoded') return writeEraQuestion(w.array(2).uint(key), question.question);
  if (question.about === 'utxoByAddress') {
    w.array(2).uint(key).array(question.addresses.length);
    for (const address of question.addresses) w.bytes(address);
    return w;
  }
  if (question.about === 'utxoByInput') {
    w.array(2).uint(key).array(question.inputs.length);
    for (const { txId, index } of question.inputs) w.array(2).bytes(txId).uint(index);
    return w;
  }
  return w.array(1).uint(key);
}

/** Reads a question; null: well formed, and not one we know. */
export function decodeQuestion(bytes: Uint8Array): Question | null {
  return whole(bytes, (c) => {
    c.array();
    const key = c.uint();
    if (key === 1) return { about: 'systemStart' };
    if (key === 2) return { about: 'chainHeight' };
    if (key === 3) return { about: 'chainPoint' };
    if (key !== 0) return null;
    c.array();
    const kind = c.uint();
    c.array();
    const which = c.uint();
    if (kind === 2 && which <= 1) return { about: which === 0 ? 'eraHistory' : 'currentEra' };
    return kind === 0 ? { about: 'era', eraIndex: which, question: readEraQuestion(c) } : null;
  });
}

/** Encoded answers are not nested any deeper: nobody asks for that, and depth is the peer's to choose. */
function readEraQuestion(c: Cursor, isInner = false): EraQuestion {
  c.array();
  const key = c.uint();
  if (key === ERA_KEYS.ledgerTip) return { about: 'ledgerTip' };
  if (key === ERA_KEYS.encoded && !isInner) return { about: 'encoded', question: readEraQuestion(c, true) };
  if (key === ERA_KEYS.epoch) return { about: 'epoch' };
  if (key === ERA_KEYS.parameters) return { about: 'parameters' };
  if (key === ERA_KEYS.utxoWhole) return { about: 'utxoWhole' };
  if (key === ERA_KEYS.genesisConfig) return { about: 'genesisConfig' };
  if (key === ERA_KEYS.utxoByAddress) return { about: 'utxoByAddress', addresses: readSet(c, () => c.byteString()) };
  if (key === ERA_KEYS.utxoByInput) return { about: 'utxoByInput', inputs: readSet(c, () => readInput(c)) };
  if (key === ERA_KEYS.pots) return { about: 'pots' };
  for (const about of ['rewardAccounts', 'stakeDeposits', 'voteDelegatees'] as const)
    if (key === ACCOUNT_KEYS[about]) return { about, credentials: readSet(c, () => readCredential(c)) };
  return { about: 'unknown', key };
}

function readSet<T>(c: Cursor, read: () => T): T[] {
  if (c.peek() === TAG && c.tag() !== SET_TAG) c.fail('expected a set');
  const items: T[] = [];
  for (let i = 0, count = c.array(); c.more(count, i); i++) items.push(read());
  return items;
}

export function readInput(c: Cursor): TxInput {
  const pair = c.tuple(2, 'input');
  c.span(32);
  const txId = c.bytes.subarray(c.start, c.stop);
  const index = c.uint();
  c.close(pair);
  return { txId, index };
}

/** An answer about the asked era; the other form names the era the ledger is really in. */
export function readEraResult(result: Uint8Array): Uint8Array {
  return whole(result, (c) => {
    const count = c.array();
    const value = rawItem(c);
    if (count === 1 || (count === INDEFINITE && c.bytes[c.at] === 0xff)) {
      c.close(count);
      return value;
    }
    throw violation('the ledger is in another era than the one asked about', { mismatch: true });
  });
}

export function writeEraResult(value: Uint8Array): Uint8Array {
  return new CborWriter(value.length + 8).array(1).raw(value).take();
}

/** `[0]` at the origin, else `[1, height]`; null: the origin. */
export function readHeight(result: Uint8Array): number | null {
  return whole(result, (c) => {
    const count = c.array();
    const height = c.uint() === 0 ? null : c.uint();
    c.close(count);
    return height;
  });
}

export function writeHeight(height: number | null): Uint8Array {
  const w = new CborWriter(16);
  return height === null ? w.array(1).uint(0).take() : w.array(2).uint(1).uint(height).take();
}

export function readChainPoint(result: Uint8Array): WirePoint {
  return whole(result, readPoint);
}

export function writeChainPoint(point: WirePoint): Uint8Array {
  return writePoint(new CborWriter(64), point).take();
}

export function readNumber(result: Uint8Array): number {
  return whole(result, (c) => c.uint());
}

/** The map `{[txid, index]: output}`, entry by entry. */
export function* readUtxo(value: Uint8Array): Generator<UtxoEntry, void, undefined> {
  const c = new Cursor(value);
  for (let i = 0, count = c.map(); c.more(count, i); i++) yield { input: readInput(c), output: rawItem(c) };
}

/** In the order and form of the ledger's own map. */
export function writeUtxo(entries: readonly UtxoEntry[]): Uint8Array {
  const w = new CborWriter(128 * entries.length + 16);
  const sorted = entries.toSorted((a, b) => Buffer.compare(a.input.txId, b.input.txId) || a.input.index - b.input.index);
  return writeLedgerMap(w, sorted, ({ input, output }) => w.array(2).bytes(input.txId).uint(input.index).raw(output)).take();
}

function whole<T>(bytes: Uint8Array, read: (c: Cursor) => T): T {
  return read(new Cursor(bytes));
}
