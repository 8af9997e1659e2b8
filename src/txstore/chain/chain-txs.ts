/**
 * Transactions of the Bitcoin family as the transaction store takes them, from
 * blocks and from the mempool of a node.
 */
import { BitcoinTx, decodeTx, txOutputs } from '../../ledgers/bitcoin/index.ts';
import type { Block, Tx } from '../../ledgers/ledger.ts';
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import type { ForwardBlock } from '../../projections/projection.ts';
import { toHex } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import type { NewStoredTx } from '../store.ts';

/** An output that a transaction spends, and with which of its inputs. */
export interface ChainSpend extends Outpoint {
  readonly vin: number;
}

/** A transaction of a block, with those of its inputs whose outputs the store has seen. */
export interface ChainTx {
  readonly tx: NewStoredTx;
  readonly spends: readonly ChainSpend[];
}

export interface ChainBlock {
  readonly hash: Uint8Array;
  readonly height: number;
  readonly txs: readonly ChainTx[];
}

/**
 * What a block brings. Inputs that the fold did not resolve are of outputs from before the first block of a partial
 * store: those parents are not there, and need not be. Whatever it resolved must have its parent.
 */
export function chainBlock({ block, spent }: Pick<ForwardBlock, 'block' | 'spent'>): ChainBlock {
  const known = block.txs.map((): ChainSpend[] => []);
  for (const { keyBytes, keyAt, spender, input } of spent) {
    assert(spender !== null, 'a spent coin has a spender');
    const { spends } = block.txs[spender.txIndex];
    const txId = keyBytes.slice(keyAt, keyAt + TXID_BYTES);
    known[spender.txIndex].push({ txId, index: spends[input].index, vin: input });
  }
  const txs = block.txs.map((tx, n) => ({ tx: newStoredTx(tx, block), spends: known[n] }));
  return { hash: new Uint8Array(block.hash), height: block.height, txs };
}

/** An output that a block spent, and by whom. */
export interface SpentByBlock extends Outpoint {
  readonly spent: { readonly txId: Uint8Array | null; readonly input: number } | null;
}

/** The same from the bytes of its transactions, in its order, and from what the store says it spent. */
export function chainBlockOf(
  { hash, height }: Pick<ChainBlock, 'hash' | 'height'>,
  raws: readonly Uint8Array[],
  spent: readonly SpentByBlock[],
  mweb: boolean,
): ChainBlock {
  const spends = Map.groupBy(spent, (output) => toHex(spenderOf(output).txId));
  const txs = raws.map((raw) => {
    const { tx } = relayedTx(raw, mweb);
    const own = spends.get(toHex(tx.txId)) ?? [];
    return { tx, spends: own.map((output) => ({ txId: output.txId, index: output.index, vin: spenderOf(output).vin })) };
  });
  return { hash, height, txs };
}

function spenderOf({ spent }: SpentByBlock): { readonly txId: Uint8Array; readonly vin: number } {
  assert(spent !== null && spent.txId !== null, 'a spent output has a spender');
  return { txId: spent.txId, vin: spent.input };
}

/** A transaction as nodes relay it. Throws BLOCK_INVALID. */
export function relayedTx(raw: Uint8Array, mweb: boolean): ChainTx {
  const tx = newStoredTx(decodeTx(raw, mweb), { raw });
  return { tx, spends: tx.inputs.map((input, vin) => ({ ...input, vin })) };
}

function newStoredTx(tx: Tx, { raw }: Pick<Block, 'raw'>): NewStoredTx {
  assert(tx instanceof BitcoinTx, 'the transaction is of the Bitcoin family');
  return {
    txId: tx.id,
    inputs: tx.spends.map(({ at, index }) => ({ txId: raw.slice(at, at + TXID_BYTES), index })),
    outputs: txOutputs(tx).map(({ value, script }) => ({ amount: value, script })),
    isCoinbase: tx.coinbase,
  };
}
