/**
 * What a selection asks of every coin of a wallet, in columns of plain numbers:
 * 100,000 coins are objects all over the memory, and to go through them takes
 * several times as long as to choose among them.
 *
 * Amounts are numbers here, which are exact below 2^53: whoever adds them up
 * checks that. The coins themselves have them as they are.
 */
import type { ScriptKind, WalletCoin } from './records.ts';

/** In the column of heights: in no block. */
export const UNMINED = -1;

/** What coins have in common that are spent in the same way. */
export interface CoinOwner {
  readonly account: WalletCoin['account'];
  readonly kind: ScriptKind;
}

export class CoinColumns {
  readonly amounts: Float64Array;
  /** Of the block; UNMINED without one. */
  readonly heights: Float64Array;
  /** An index into `owners`. */
  readonly ownerIndexes: Uint32Array;
  /** 1: all inputs of its transaction are the wallet's own. */
  readonly ownChange: Uint8Array;
  /** 1: no coinbase, not leased when it was read, and not evicted. */
  readonly plain: Uint8Array;
  /** Only ever grows, so that columns which were made of others share it. */
  readonly owners: CoinOwner[];

  constructor(count: number, owners: CoinOwner[] = []) {
    this.amounts = new Float64Array(count);
    this.heights = new Float64Array(count);
    this.ownerIndexes = new Uint32Array(count);
    this.ownChange = new Uint8Array(count);
    this.plain = new Uint8Array(count);
    this.owners = owners;
  }

  static of(coins: readonly WalletCoin[]): CoinColumns {
    const columns = new CoinColumns(coins.length);
    for (const [i, coin] of coins.entries()) columns.set(i, coin);
    return columns;
  }

  set(i: number, coin: WalletCoin): void {
    this.amounts[i] = Number(coin.amount);
    this.heights[i] = coin.height ?? UNMINED;
    this.ownerIndexes[i] = this.#ownerIndex(coin);
    this.ownChange[i] = coin.isOwnChange ? 1 : 0;
    this.plain[i] = coin.isCoinbase || coin.isEvicted || coin.lease !== null ? 0 : 1;
  }

  heightAt(i: number): number | null {
    return this.heights[i] === UNMINED ? null : this.heights[i];
  }

  ownerAt(i: number): CoinOwner {
    return this.owners[this.ownerIndexes[i]];
  }

  /** From position `i` on: those of `from`, which has the same owners, at `start` up to `end`. */
  copy(i: number, from: CoinColumns, start: number, end: number): void {
    this.amounts.set(from.amounts.subarray(start, end), i);
    this.heights.set(from.heights.subarray(start, end), i);
    this.ownerIndexes.set(from.ownerIndexes.subarray(start, end), i);
    this.ownChange.set(from.ownChange.subarray(start, end), i);
    this.plain.set(from.plain.subarray(start, end), i);
  }

  /** There are few owners: the accounts of a wallet. */
  #ownerIndex({ account, kind }: WalletCoin): number {
    const known = this.owners.findIndex((owner) => owner.account?.id === account?.id && owner.kind === kind);
    return known < 0 ? this.owners.push({ account, kind }) - 1 : known;
  }
}
