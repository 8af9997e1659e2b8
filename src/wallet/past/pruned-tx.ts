/** Transactions of which the history of a store has forgotten the bytes. */
import type { WalletTx } from '../records.ts';

/**
 * Of a transaction that was found in a history: of its inputs and outputs only coins of the wallet that it spent are known.
 * A wallet of the Bitcoin family has no others without bytes.
 */
export function isPrunedTx({ raw }: Pick<WalletTx, 'raw'>): boolean {
  return raw.length === 0;
}
