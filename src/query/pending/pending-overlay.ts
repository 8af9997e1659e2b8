/**
 * What transactions in no block do to the outputs of one: which of them could
 * follow that block, what they make and what they spend. A function of the
 * transactions and the unspent set, so it is the same whatever came before: when
 * blocks are applied or undone, it is made again.
 *
 * A transaction counts if each output it spends is unspent after that block, or
 * made by another one that counts. So one that is in a block does not, nor one
 * that a block has taken an input from, nor one that builds on either.
 */
import { Coin, type Spender } from '../../projections/coin.ts';
import { equalBytes } from '../../util/bytes.ts';
import { CoinSet } from '../coin-set.ts';
import { PENDING_PLACE } from '../utxo.ts';
import type { ChainView } from '../view.ts';
import type { PendingTx } from './pending-tx.ts';

export interface PendingOverlay {
  /** The hash of the block; null: before the first. */
  readonly tip: Uint8Array | null;
  /** Those that count, each behind those it builds on; by the hex of the id. */
  readonly txs: ReadonlyMap<string, PendingTx>;
  /** What they make; with a spender where another of them spends it. */
  readonly created: CoinSet;
  /** What they spend of the chain, each with its spender. */
  readonly spent: CoinSet;
}

/** The stored value of an output that is unspent after the block; undefined: it is not. */
export type UnspentLookup = (name: string) => Uint8Array | undefined;

/** Whether it is of the block that the query is at. */
export function isOverlayAt({ tip }: PendingOverlay, { head }: Pick<ChainView, 'head'>): boolean {
  return tip === null || head === null ? tip === null && head === null : equalBytes(tip, head.hash);
}

/** No two of the transactions spend the same output. */
export function layPending(tip: Uint8Array | null, candidates: Iterable<PendingTx>, unspent: UnspentLookup): PendingOverlay {
  const made = new Map<string, Coin>();
  const spent: Coin[] = [];
  const txs = new Map<string, PendingTx>();
  /** Those that lack an output, by its name. */
  const lacking = new Map<string, PendingTx>();
  const find = ({ key, name }: PendingTx['spends'][number]): Coin | null => {
    const coin = made.get(name);
    if (coin !== undefined) return coin;
    const value = unspent(name);
    return value === undefined ? null : new Coin(key, 0, value, 0, value.length, false);
  };
  const lay = (tx: PendingTx): void => {
    const coins = tx.spends.map(find);
    const lack = coins.indexOf(null);
    if (lack >= 0) {
      lacking.set(tx.spends[lack].name, tx);
      return;
    }
    const spender: Spender = { ...PENDING_PLACE, txId: tx.id, txIndex: txs.size };
    for (const [input, coin] of coins.entries()) {
      if (coin === null) continue;
      coin.spender = spender;
      coin.input = input;
      if (!coin.born) spent.push(coin);
    }
    txs.set(tx.hexId, tx);
    for (const { key, name, value } of tx.creates) made.set(name, new Coin(key, 0, value, 0, value.length, true));
  };
  for (const candidate of candidates) {
    const ready = [candidate];
    // An array gives what is added to it while it is walked.
    for (const tx of ready) {
      lay(tx);
      if (!txs.has(tx.hexId)) continue;
      for (const { name } of tx.creates) {
        const child = lacking.get(name);
        if (child === undefined) continue;
        lacking.delete(name);
        ready.push(child);
      }
    }
  }
  return { tip, txs, created: new CoinSet([...made.values()]), spent: new CoinSet(spent) };
}
