/**
 * A transaction that is in no block yet, as what it does to outputs: those it
 * spends by name, and those it makes as the store would keep them. In place of a
 * block they have a height and a slot that no block has, and the number of the
 * transaction's arrival, so that they stand in every list behind what is on the
 * chain, in the order in which they came.
 */
import { type Ledger, OutputKeys, type Tx } from '../../ledgers/ledger.ts';
import { OUTPOINT_BYTES, outpointKey, TXID_BYTES, writeOutpoint } from '../../ledgers/outpoint.ts';
import { storedBytesMax, writeStored } from '../../projections/coin.ts';
import { hexOf } from '../dialect.ts';
import { PENDING_PLACE } from '../utxo.ts';

export interface PendingTx {
  readonly id: Uint8Array;
  readonly hexId: string;
  /** As it was submitted. */
  readonly raw: Uint8Array;
  /** The outputs it spends, in its order. */
  readonly spends: readonly NamedOutput[];
  /** The outputs it makes. */
  readonly creates: readonly MadeOutput[];
  /** The first slot it may no longer be in; Infinity: none. */
  readonly validUntil: number;
}

interface NamedOutput {
  readonly key: Uint8Array;
  /** Hex of the key. */
  readonly name: string;
}

interface MadeOutput extends NamedOutput {
  /** Its stored value. */
  readonly value: Uint8Array;
}

/** How a family reads one from bytes that the caller may use again; `number`: of its arrival. Throws BLOCK_INVALID. */
export type PendingTxReader = (raw: Uint8Array, number: number) => PendingTx;

/** From what a ledger says of the transaction in `raw`, which are bytes of its own. */
export function pendingTx(ledger: Ledger, raw: Uint8Array, tx: Tx, validUntil: number, number: number): PendingTx {
  const spends = tx.spends.map(({ at, index }) => named(outpointKey(raw.subarray(at, at + TXID_BYTES), index)));
  const keys = new OutputKeys();
  const creates = tx.creates.map((create) => {
    const key = new Uint8Array(OUTPOINT_BYTES);
    writeOutpoint(key, 0, tx.id, 0, create.index);
    ledger.findKeys(raw, create, keys);
    const value = new Uint8Array(storedBytesMax(create.end - create.start));
    const end = writeStored(value, 0, PENDING_PLACE, number, raw, create, keys);
    return { ...named(key), value: value.slice(0, end) };
  });
  return { id: tx.id, hexId: hexOf(tx.id), raw, spends, creates, validUntil };
}

function named(key: Uint8Array): NamedOutput {
  return { key, name: hexOf(key) };
}
