/** The words of every refusal of a transaction store, so that all stores refuse alike. */
import { type Outpoint, outpointText } from '../../ledgers/outpoint.ts';
import { toHex } from '../../util/bytes.ts';
import { type ErrorCode, UnspentError } from '../../util/errors.ts';
import type { SlotSpender } from '../records.ts';

function ofTx(code: ErrorCode, txId: Uint8Array, words: string): UnspentError {
  return new UnspentError(code, `transaction ${toHex(txId)} ${words}`, { txId: toHex(txId) });
}

function ofOutput(code: ErrorCode, outpoint: Outpoint, words: string, meta: Record<string, unknown> = {}): UnspentError {
  return new UnspentError(code, `output ${outpointText(outpoint)} ${words}`, { outpoint: outpointText(outpoint), ...meta });
}

export const txRefusal = {
  exists: (txId: Uint8Array): UnspentError => ofTx('TX_EXISTS', txId, 'is stored already'),
  notFound: (txIds: readonly Uint8Array[]): UnspentError =>
    new UnspentError('TX_NOT_FOUND', `not stored: ${txIds.map((id) => toHex(id)).join(', ')}`, { txIds: txIds.map((id) => toHex(id)) }),
  creating: (txId: Uint8Array): UnspentError => ofTx('TX_CREATING', txId, 'is not stored completely yet'),
  conflicting: (txId: Uint8Array): UnspentError => ofTx('TX_CONFLICTING', txId, 'lost against another one'),
  notConflicting: (txId: Uint8Array): UnspentError => ofTx('INVALID_PARAM', txId, 'is to win, but is not conflicting'),
  locked: (txId: Uint8Array): UnspentError => ofTx('TX_LOCKED', txId, 'is locked'),
  invalid: (txId: Uint8Array, words: string): UnspentError => ofTx('INVALID_PARAM', txId, words),
  immature: (txId: Uint8Array, from: number): UnspentError =>
    ofTx('COINBASE_IMMATURE', txId, `is a coinbase whose outputs may be spent from height ${from} on`),

  outputUnknown: (outpoint: Outpoint): UnspentError => ofOutput('UTXO_NOT_FOUND', outpoint, 'does not exist or can never be spent'),
  hashMismatch: (outpoint: Outpoint): UnspentError => ofOutput('HASH_MISMATCH', outpoint, 'is not what its spender believes it to be'),
  frozen: (outpoint: Outpoint): UnspentError => ofOutput('FROZEN', outpoint, 'is frozen'),
  alreadyFrozen: (outpoint: Outpoint): UnspentError => ofOutput('ALREADY_FROZEN', outpoint, 'is frozen already'),
  notFrozen: (outpoint: Outpoint): UnspentError => ofOutput('NOT_FROZEN', outpoint, 'is not frozen'),
  frozenUntil: (outpoint: Outpoint, from: number): UnspentError =>
    ofOutput('FROZEN_UNTIL', outpoint, `may be spent from height ${from} on`, { from }),
  spent: (outpoint: Outpoint, { txId, vin }: SlotSpender): UnspentError =>
    ofOutput('SPENT', outpoint, `is spent by input ${vin} of ${toHex(txId)}`, { by: toHex(txId), vin }),
  spenderPruned: (outpoint: Outpoint, spender: Uint8Array): UnspentError =>
    ofOutput('INVALID_SPEND', outpoint, `was spent by ${toHex(spender)}, which was final and is deleted`, { by: toHex(spender) }),

  belowHorizon: (txId: Uint8Array, height: number, prunedHeight: number): UnspentError =>
    new UnspentError(
      'HORIZON',
      `transaction ${toHex(txId)} was final at height ${height} when height ${prunedHeight} was pruned: its parents may be gone`,
      { txId: toHex(txId), height, prunedHeight },
    ),
  damaged: (txId: Uint8Array, words: string): UnspentError => ofTx('STORE_DAMAGED', txId, words),
  /** F12: never repaired in silence. */
  missing: (pairs: readonly { readonly missing: Uint8Array; readonly neededBy?: Uint8Array }[]): UnspentError =>
    new UnspentError(
      'STORE_DAMAGED',
      pairs
        .map(
          ({ missing, neededBy }) =>
            `transaction ${toHex(missing)} is missing${neededBy === undefined ? '' : `, which ${toHex(neededBy)} needs`}`,
        )
        .join('; '),
      { missing: pairs.map(({ missing }) => toHex(missing)), neededBy: pairs.map(({ neededBy }) => (neededBy ? toHex(neededBy) : null)) },
    ),
} as const;
