/**
 * What a transaction must be before a store looks at its own state: the checks
 * of `createTx` that need nothing but the call.
 */
import { OUTPUT_INDEX_MAX, outpointText, TXID_BYTES } from '../../ledgers/outpoint.ts';
import { TX_LABEL_CHARS_MAX } from '../../util/limits.ts';
import type { WalletTx } from '../records.ts';
import type { NewTx } from '../store.ts';
import { checkBlock } from './block.ts';
import { refusal } from './failures.ts';
import { isStorable } from './texts.ts';

/** Throws INVALID_PARAM, INVALID_STATUS, INPUT_TWICE, INDEX_RANGE. */
export function checkNewTx(news: NewTx): void {
  const { tx, label, block, credits, creditCandidates } = news;
  if (tx.id.length !== TXID_BYTES) throw refusal.invalid(`a transaction id has ${TXID_BYTES} bytes, not ${tx.id.length}`);
  checkStatus(news);
  if (block !== undefined) checkBlock(block);
  if (label !== undefined) checkLabel(tx.id, label);
  if (!Number.isSafeInteger(news.received) || news.received < 0)
    throw refusal.txInvalid(tx.id, `cannot be received at the time ${news.received}`);
  checkInputs(tx);
  for (const { amount, assets = [] } of tx.outputs) {
    if (amount < 0n) throw refusal.txInvalid(tx.id, `has an output of ${amount}`);
    if (assets.some(({ quantity }) => quantity <= 0n)) throw refusal.txInvalid(tx.id, 'has an output with nothing of an asset');
  }
  for (const index of [...credits.keys(), ...(creditCandidates?.keys() ?? [])]) {
    if (!Number.isInteger(index) || index < 0 || index >= tx.outputs.length) throw refusal.outputUnknown(tx.id, index);
  }
}

function checkStatus({ tx, status, block, reactivate }: NewTx): void {
  if (status !== 'pending' && status !== 'published') throw refusal.statusInvalid(tx.id, `cannot be added as ${status}`);
  if (block !== undefined && status !== 'published') throw refusal.statusInvalid(tx.id, 'is in a block, so it is published');
  if (tx.isCoinbase && block === undefined) throw refusal.statusInvalid(tx.id, 'is a coinbase, and in no block');
  if (reactivate === true && status !== 'published') throw refusal.statusInvalid(tx.id, 'can be reactivated as published only');
}

function checkInputs({ id, inputs, isCoinbase }: WalletTx): void {
  if (isCoinbase && inputs.length > 0) throw refusal.txInvalid(id, 'is a coinbase with inputs');
  const seen = new Set<string>();
  for (const outpoint of inputs) {
    const { txId, index } = outpoint;
    if (txId.length !== TXID_BYTES || !Number.isInteger(index) || index < 0 || index > OUTPUT_INDEX_MAX) {
      throw refusal.txInvalid(id, 'has an input that is no outpoint');
    }
    seen.add(outpointText(outpoint));
  }
  if (seen.size !== inputs.length) throw refusal.inputTwice(id);
}

/** Throws INVALID_PARAM. */
export function checkLabel(txId: Uint8Array, label: string): void {
  if (!isStorable(label)) throw refusal.txInvalid(txId, 'cannot have a label with a zero character or half a character');
  if (label.length > TX_LABEL_CHARS_MAX) {
    throw refusal.txInvalid(txId, `cannot have a label of ${label.length} characters, the most is ${TX_LABEL_CHARS_MAX}`);
  }
}
