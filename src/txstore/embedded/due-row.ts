/**
 * What stands in the index of due records (TX_DUE) beside height and id: the
 * record up to its outputs, as it is stored, so that a pass that deletes it does
 * not read it. Whatever changes a record writes its row of the index again. The
 * row is empty where the record is long, and where an earlier version wrote it:
 * then the record is read.
 */
import { isUnspentError } from '../../util/errors.ts';
import { TX_DUE_FACTS_BYTES_MAX } from '../../util/limits.ts';
import type { DueParent } from '../prune-store.ts';
import { type LoadedTx, loadedTx } from './loaded-tx.ts';
import type { RecordHead } from './record-head.ts';

const NO_FACTS = new Uint8Array();

/** Of the record that the head stands on, as it is to be stored; a view of its bytes. */
export function dueFacts(head: RecordHead): Uint8Array {
  const { bytes, at } = head;
  const end = head.outputsPlace();
  return end - at > TX_DUE_FACTS_BYTES_MAX ? NO_FACTS : bytes.subarray(at, end);
}

/** A row of the index as it was in the state with this mark (totals.ts). */
export class DueRow implements DueParent {
  readonly height: number;
  readonly txId: Uint8Array;
  private readonly facts: Uint8Array;
  private readonly mark: number;

  constructor(height: number, txId: Uint8Array, facts: Uint8Array, mark: number) {
    this.height = height;
    this.txId = txId;
    this.facts = facts;
    this.mark = mark;
  }

  /** The record without its outputs, which can be deleted and not be changed; null: the record is to be read. */
  recordAt(mark: number): LoadedTx | null {
    if (this.facts.length === 0 || mark !== this.mark) return null;
    const tx = decoded(this.txId, this.facts);
    return tx?.state.outputsAt === this.facts.length && tx.state.deleteAtHeight === this.height ? tx : null;
  }
}

/** Null: it does not decode. That says nothing of the record, which is read then. */
function decoded(txId: Uint8Array, facts: Uint8Array): LoadedTx | null {
  try {
    return loadedTx(txId, facts, 0, facts.length, false);
  } catch (error) {
    if (isUnspentError(error, 'STORE_DAMAGED')) return null;
    throw error;
  }
}
