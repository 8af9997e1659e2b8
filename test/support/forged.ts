/**
 * Blocks that no honest chain has: copies of real ones with a field changed.
 * The fold takes decoded blocks, so what a block says can be forged without
 * forging its bytes.
 */

import { blake2b256 } from '../../src/crypto/hash.ts';
import type { Block, Tx } from '../../src/ledgers/ledger.ts';

/** A copy with some fields changed. It has a hash of its own unless one is given. */
export function forge(block: Block, changes: Partial<Block>): Block {
  const { height, slot, raw, prevHash, boundary, era, txs, extra } = block;
  const hash = blake2b256(block.hash);
  return { height, slot, hash, raw, prevHash, boundary, era, txs, extra, ...changes };
}

/** A block right behind `tip` that holds these transactions, whose bytes stand in `from`. */
export function forgeAfter(tip: Block, from: Block, txs: readonly Tx[]): Block {
  return forge(from, { prevHash: tip.hash, height: tip.height + 1, slot: tip.slot + 1, txs });
}

/** The transaction, spending an output that nobody made: its id is whatever stands at the start of the block. */
export function spendNothing({ id, valid, creates, spends }: Tx): Tx {
  return { id, valid, creates, spends: [...spends, { at: 0, index: 0 }] };
}
