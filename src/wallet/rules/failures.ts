/**
 * The refusals of a wallet store, each with its code and its words, so that
 * every store says the same. Ids stand in the particulars (`meta`) in hex, in
 * the order of the chain.
 */
import { type Outpoint, outpointText } from '../../ledgers/outpoint.ts';
import { toHex } from '../../util/bytes.ts';
import { type ErrorCode, UnspentError } from '../../util/errors.ts';
import type { TxStatus, WalletBlock } from '../records.ts';

function ofTx(code: ErrorCode, txId: Uint8Array, words: string): UnspentError {
  const id = toHex(txId);
  return new UnspentError(code, `transaction ${id} ${words}`, { txId: id });
}

function ofCoin(code: ErrorCode, outpoint: Outpoint, words: string): UnspentError {
  const text = outpointText(outpoint);
  return new UnspentError(code, `output ${text} ${words}`, { outpoint: text });
}

function ofBlock(code: ErrorCode, { height, hash }: WalletBlock, words: string): UnspentError {
  return new UnspentError(code, `block ${toHex(hash)} at height ${height} ${words}`, { height, hash: toHex(hash) });
}

/** What a store throws, by what is wrong. */
export const refusal = {
  invalid: (words: string): UnspentError => new UnspentError('INVALID_PARAM', words),

  walletUnknown: (wallet: string | number): UnspentError => new UnspentError('WALLET_UNKNOWN', `no wallet '${wallet}'`, { wallet }),
  walletExists: (name: string): UnspentError => new UnspentError('WALLET_EXISTS', `there is a wallet '${name}' already`, { name }),
  eventsForgotten: (after: number, newest: number): UnspentError =>
    new UnspentError('EXPIRED', `events behind ${after} are forgotten: read the wallets anew, and go on behind ${newest}`, {
      after,
      newest,
    }),
  watchOnly: (name: string): UnspentError => new UnspentError('WATCH_ONLY', `wallet '${name}' only watches: it has no secrets`, { name }),
  masterKeyNeeded: (name: string): UnspentError =>
    new UnspentError('MASTER_KEY_NEEDED', `wallet '${name}' is to spend, and is given no master key`, { name }),

  accountUnknown: (account: string | number): UnspentError =>
    new UnspentError('ACCOUNT_UNKNOWN', `the wallet has no account '${account}'`, { account }),
  accountExists: (name: string): UnspentError => new UnspentError('ACCOUNT_EXISTS', `the scope has an account '${name}' already`, { name }),
  accountQuery: (words: string): UnspentError => new UnspentError('ACCOUNT_QUERY', words),
  accountNameReserved: (name: string): UnspentError =>
    new UnspentError('ACCOUNT_NAME_RESERVED', `'${name}' stands for addresses that were imported by themselves`, { name }),
  accountNumberMax: (): UnspentError => new UnspentError('ACCOUNT_NUMBER_MAX', 'the scope has no number left for an account'),

  addressUnknown: (script: Uint8Array): UnspentError =>
    new UnspentError('ADDRESS_UNKNOWN', `script ${toHex(script)} is no address of the wallet`, { script: toHex(script) }),
  addressIndexMax: (index: number): UnspentError =>
    new UnspentError('ADDRESS_INDEX_MAX', `no address has the index ${index} or one above it`, { index }),
  addressTaken: (script: Uint8Array): UnspentError =>
    new UnspentError('INVALID_PARAM', `script ${toHex(script)} is an address of another account or index already`, {
      script: toHex(script),
    }),
  scriptMissing: (): UnspentError => new UnspentError('SCRIPT_MISSING', 'an address is given without its script'),

  feedMoved: (feed: string): UnspentError =>
    new UnspentError('FEED_MOVED', `another process has fed the wallets from '${feed}' meanwhile`, { feed }),
  watchChanged: (): UnspentError =>
    new UnspentError('WATCH_CHANGED', 'wallets or addresses were added since it was looked which of them the block touches'),

  blockUnknown: (block: WalletBlock): UnspentError => ofBlock('BLOCK_UNKNOWN', block, 'is not in the wallet database'),
  blockMismatch: (block: WalletBlock): UnspentError => ofBlock('BLOCK_MISMATCH', block, 'is not the one that the wallet database has'),

  statusInvalid: (txId: Uint8Array, words: string): UnspentError => ofTx('INVALID_STATUS', txId, words),
  txInvalid: (txId: Uint8Array, words: string): UnspentError => ofTx('INVALID_PARAM', txId, words),
  outputUnknown: (txId: Uint8Array, index: number): UnspentError => ofTx('INDEX_RANGE', txId, `has no output ${index}`),
  inputTwice: (txId: Uint8Array): UnspentError => ofTx('INPUT_TWICE', txId, 'spends one output twice'),
  txUnknown: (txId: Uint8Array): UnspentError => ofTx('TX_UNKNOWN', txId, 'is not in the wallet'),
  txExists: (txId: Uint8Array, words: string): UnspentError => ofTx('TX_EXISTS', txId, words),
  txNotUnmined: (txId: Uint8Array, status: TxStatus, isConfirmed: boolean): UnspentError =>
    ofTx('TX_NOT_UNMINED', txId, isConfirmed ? 'is in a block' : `is ${status}`),
  txHasChildren: (txId: Uint8Array): UnspentError => ofTx('TX_HAS_CHILDREN', txId, 'has outputs that other live transactions spend'),
  chainInconsistent: (txId: Uint8Array): UnspentError =>
    ofTx('CHAIN_INCONSISTENT', txId, 'won or is in a block, and spends an output of a transaction that lost'),

  inputConflict: (outpoint: Outpoint): UnspentError => ofCoin('INPUT_CONFLICT', outpoint, 'is spent by another live transaction'),
  parentDead: (outpoint: Outpoint): UnspentError => ofCoin('PARENT_DEAD', outpoint, 'is of a transaction that is dead'),
  coinUnknown: (outpoint: Outpoint): UnspentError => ofCoin('UTXO_UNKNOWN', outpoint, 'is not an unspent output of the wallet'),
  coinLeased: (outpoint: Outpoint): UnspentError => ofCoin('COIN_LEASED', outpoint, 'is leased by somebody else'),
  leaseOfAnother: (outpoint: Outpoint): UnspentError => ofCoin('LEASE_OF_ANOTHER', outpoint, 'is leased under another id'),
} as const;
