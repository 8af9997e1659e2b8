/**
 * A submitted transaction of Cardano as the mempool holds it. It counts as what
 * it says of itself: where it says that its scripts fail, its collateral is what
 * it spends, and the rest of it is what it makes.
 */
import { describeWholeTx, splitTx } from '../../ledgers/cardano/index.ts';
import type { Ledger } from '../../ledgers/ledger.ts';
import { type PendingTxReader, pendingTx } from '../pending/pending-tx.ts';

export function pendingTxReader(ledger: Ledger): PendingTxReader {
  return (bytes, number) => {
    // A copy: what it came in may hold many others.
    const raw = new Uint8Array(bytes);
    const whole = splitTx(raw);
    const { validUntil } = describeWholeTx(raw, whole);
    return pendingTx(ledger, raw, whole.tx, validUntil === null ? Number.POSITIVE_INFINITY : Number(validUntil), number);
  };
}
