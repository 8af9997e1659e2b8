/**
 * Transactions as wallets take them from their bytes: those of a node's mempool,
 * and those of the history of a store. One that waits counts as what it says of
 * itself; if its scripts end otherwise in a block, the block's form takes its
 * place (`WalletTx.scriptsFailed`).
 */
import { blake2b224 } from '../../crypto/hash.ts';
import { readAddress, splitTx } from '../../ledgers/cardano/index.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import type { PastForm } from '../past/script-history.ts';
import type { WalletTx } from '../records.ts';
import { stakeOwners } from './owners.ts';
import { walletTx } from './wallet-tx.ts';

/** Null: bytes that are no transaction to us, such as one of an era that is still to come. */
export function pendingWalletTx(bytes: Uint8Array): WalletTx | null {
  // A copy: what it came in may hold many others.
  const raw = new Uint8Array(bytes);
  try {
    const { id, valid, spends, creates } = splitTx(raw).tx;
    const inputs = spends.map(({ at, index }) => ({ txId: raw.slice(at, at + TXID_BYTES), index }));
    const outputs = creates.map(({ index, start, end }) => ({ txId: id, index, output: { raw: raw.slice(start, end) } }));
    const tx = { ...walletTx(id, inputs, outputs), raw };
    return valid ? tx : { ...tx, scriptsFailed: true };
  } catch (error) {
    if (isUnspentError(error, 'BLOCK_INVALID') || isUnspentError(error, 'STORE_DAMAGED')) return null;
    throw error;
  }
}

/** As the history of a store has them: by address, or by stake credential. */
export const CARDANO_PAST: PastForm = {
  keyOf(script) {
    const address = readAddress(script);
    return address.kind === 'reward' ? { kind: 'stake', key: address.stake.hash } : { kind: 'address', key: blake2b224(script) };
  },
  txOf(raw) {
    const tx = pendingWalletTx(raw);
    if (tx !== null) return tx;
    throw new UnspentError('STORE_DAMAGED', 'a transaction of the history cannot be read');
  },
  otherOwners: stakeOwners,
};
