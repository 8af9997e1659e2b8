/**
 * How an output was spent, from the transaction that spent it: which of its
 * inputs it was as the ledger sorts them, and what its script was given. Answers
 * are full of the same transactions, so the last ones are remembered.
 */
import { readRedeemers, splitTx } from '../../ledgers/cardano/index.ts';
import { outpointKey, TXID_BYTES } from '../../ledgers/outpoint.ts';
import { compareBytes, toHex } from '../../util/bytes.ts';
import { Cursor } from '../../util/cbor.ts';
import { isGone, type TxHistory } from '../history.ts';

export interface SpendDetails {
  /** Its place among the inputs (of an invalid transaction, the collateral), sorted. */
  readonly inputIndex: number;
  /** CBOR; null: it was spent without a script. */
  readonly redeemer: Uint8Array | null;
}

/** Transactions remembered at most. */
const SPENDERS_MAX = 256;

const SPEND_TAG = 0;

export class SpendReader {
  private readonly history: TxHistory;
  private readonly known = new Map<string, ReadonlyMap<string, SpendDetails>>();

  constructor(history: TxHistory) {
    this.history = history;
  }

  /** Null: that transaction did not spend it, or the history does not have it. */
  details(spender: Uint8Array, txId: Uint8Array, index: number): SpendDetails | null {
    const name = toHex(spender);
    const known = this.known.get(name) ?? this.read(spender);
    if (this.known.size === SPENDERS_MAX) this.known.clear();
    this.known.set(name, known);
    return known.get(toHex(outpointKey(txId, index))) ?? null;
  }

  /** Null: it is unknown, was forgotten, or stands before the history. */
  private bytesOf(spender: Uint8Array): Uint8Array | null {
    try {
      return this.history.tx(spender)?.raw ?? null;
    } catch (error) {
      if (isGone(error)) return null;
      throw error;
    }
  }

  private read(spender: Uint8Array): ReadonlyMap<string, SpendDetails> {
    const raw = this.bytesOf(spender);
    if (raw === null) return new Map();
    const { tx, witnesses, isByron } = splitTx(raw);
    const redeemers = isByron || !tx.valid ? [] : readRedeemers(new Cursor(raw, witnesses.start, witnesses.end));
    const keys = tx.spends.map(({ at, index }) => outpointKey(raw.subarray(at, at + TXID_BYTES), index)).sort(compareBytes);
    return new Map(
      keys.map((key, inputIndex) => {
        const redeemer = redeemers.findLast(({ tag, index }) => tag === SPEND_TAG && index === inputIndex)?.data ?? null;
        return [toHex(key), { inputIndex, redeemer }];
      }),
    );
  }
}
