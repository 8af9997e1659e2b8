/**
 * Labels in and out as other wallets have them (BIP329): one JSON document a
 * line. This wallet labels transactions; labels of other things are passed over
 * and counted, not lost silently.
 */
import { isHex } from '../util/bytes.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { WALLET_LABELS_BYTES_MAX, WALLET_PAGE_ROWS } from '../util/limits.ts';
import type { WalletReader } from './history-documents.ts';
import type { TxDetail, WalletInfo } from './records.ts';
import type { WalletStore } from './store.ts';

export interface ImportedLabels {
  /** Transactions that have their label now. */
  readonly applied: number;
  /** Labels of transactions that the wallet does not have. */
  readonly unknown: number;
  /** Labels of addresses, keys, inputs and outputs. */
  readonly passedOver: number;
}

/** Labels of transactions, oldest first, a line each. */
export async function exportLabels({ store, notation }: WalletReader, wallet: WalletInfo): Promise<string> {
  const lines: string[] = [];
  for await (const { tx, label } of allHistory(store, wallet)) {
    if (label !== '') lines.push(JSON.stringify({ type: 'tx', ref: notation.formatId(tx.id), label }));
  }
  return lines
    .reverse()
    .map((line) => `${line}\n`)
    .join('');
}

/** Throws USAGE with the line that is none, before anything is changed; INVALID_PARAM for a label that is too long. */
export async function importLabels(reader: WalletReader, { id }: WalletInfo, text: string): Promise<ImportedLabels> {
  if (text.length > WALLET_LABELS_BYTES_MAX)
    throw new UnspentError('LIMIT', `labels have at most ${WALLET_LABELS_BYTES_MAX} bytes`, { limit: WALLET_LABELS_BYTES_MAX });
  const lines = text.split('\n').map((line) => line.trim());
  const labels = lines.flatMap((line, i) => (line === '' ? [] : [readLabel(line, i + 1)]));
  const counts = { applied: 0, unknown: 0, passedOver: 0 };
  for (const { type, ref, label } of labels) {
    if (type !== 'tx') counts.passedOver++;
    else if (await setLabel(reader, id, ref, label)) counts.applied++;
    else counts.unknown++;
  }
  return counts;
}

interface LabelLine {
  readonly type: string;
  readonly ref: string;
  readonly label: string;
}

const TYPES: readonly string[] = ['tx', 'addr', 'pubkey', 'input', 'output', 'xpub'];

function readLabel(line: string, number: number): LabelLine {
  const wrong = (why: string): UnspentError => new UnspentError('USAGE', `line ${number} is no label of BIP329: ${why}`, { line: number });
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw wrong('it is not JSON');
  }
  const { type, ref, label = '' } = (value ?? {}) as Record<string, unknown>;
  if (typeof type !== 'string' || !TYPES.includes(type)) throw wrong(`its type is none of ${TYPES.join(', ')}`);
  if (typeof ref !== 'string' || typeof label !== 'string') throw wrong('ref and label are texts');
  if (type === 'tx' && !isHex(ref, 32)) throw wrong('the ref of a transaction is its id');
  return { type, ref, label };
}

/** False: the wallet does not have the transaction. */
async function setLabel({ store, notation }: WalletReader, walletId: number, ref: string, label: string): Promise<boolean> {
  try {
    await store.updateTx(walletId, notation.parseId(ref), { label });
    return true;
  } catch (error) {
    if (isUnspentError(error, 'TX_UNKNOWN')) return false;
    throw error;
  }
}

/** Page by page, newest first. */
async function* allHistory(store: WalletStore, { id }: WalletInfo): AsyncGenerator<TxDetail, void, undefined> {
  for (let after: Uint8Array | undefined; ; ) {
    const page = await store.history(id, { after, limit: WALLET_PAGE_ROWS });
    yield* page;
    if (page.length < WALLET_PAGE_ROWS) return;
    after = page[page.length - 1].tx.id;
  }
}
