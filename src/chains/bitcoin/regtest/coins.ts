/**
 * What is unspent on a regtest chain, block by block and back again, by code of
 * its own and in memory. Beside it, the coins that the chain's own people
 * may spend when they make up transactions.
 */
import { createHash } from 'node:crypto';
import type { BitcoinBlock } from '../../../ledgers/bitcoin/decode.ts';
import { type DescribedTx, describeTx, type TxInput } from '../../../ledgers/bitcoin/describe.ts';
import { isUnspendable } from '../../../ledgers/bitcoin/transaction.ts';
import { assert } from '../../../util/errors.ts';
import type { Random } from '../../random.ts';
import type { ScriptBook } from './scripts.ts';

/** Which outputs of a transaction the chain's own people may spend: none, all, or all but the first. */
export const OWNED = { none: 0, all: 1, change: 2 } as const;
export type Owned = (typeof OWNED)[keyof typeof OWNED];

export interface Coin {
  readonly key: string;
  readonly txId: Uint8Array;
  readonly index: number;
  readonly value: bigint;
  readonly script: Uint8Array;
  readonly height: number;
  readonly coinbase: boolean;
  /** The chain's own people may spend it. */
  readonly own: boolean;
}

/** What takes a block back. */
export interface Undo {
  readonly made: readonly string[];
  readonly spent: readonly Coin[];
}

/** Hex as one flat string: a key that is kept should not be a tree of its pieces. */
export function keyOf(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.length).toString('hex');
}

export function coinKey(txId: Uint8Array, index: number): string {
  return `${keyOf(txId)}:${index}`;
}

export function inputKey({ txId, index }: TxInput): string {
  return coinKey(txId, index);
}

/** The outputs of a transaction that can ever be spent. */
export function coinsOf(tx: DescribedTx, height: number, owned: Owned, book: ScriptBook): Coin[] {
  return tx.outputs
    .filter(({ script }) => !isUnspendable(script, 0, script.length))
    .map(({ index, value, script }) => {
      const mayOwn = owned === OWNED.all || (owned === OWNED.change && index > 0);
      const own = mayOwn && book.unlocking(script) !== undefined;
      // The bytes are part of a block that is not kept in memory for long.
      return { key: coinKey(tx.id, index), txId: tx.id, index, value, script: script.slice(), height, coinbase: tx.coinbase, own };
    });
}

export class CoinSet {
  private readonly coins = new Map<string, Coin>();
  private readonly book: ScriptBook;
  readonly purse = new Purse();

  constructor(book: ScriptBook) {
    this.book = book;
  }

  get all(): ReadonlyMap<string, Coin> {
    return this.coins;
  }

  get(key: string): Coin | undefined {
    return this.coins.get(key);
  }

  /** As a store's: sha256 over the lines `<txid hex>#<index> <value>\n`, ascending; ids as they stand in a block. */
  digest(): string {
    const hash = createHash('sha256');
    const lines = [...this.coins.values()].map(({ txId, index, value }) => `${keyOf(txId)}#${index} ${value}\n`);
    for (const line of lines.sort()) hash.update(line);
    return hash.digest('hex');
  }

  /** `owned`: a byte a transaction. */
  apply(block: BitcoinBlock, owned: Uint8Array): Undo {
    const made: string[] = [];
    const spent: Coin[] = [];
    block.txs.forEach((tx, i) => {
      const described = describeTx(tx);
      if (!tx.coinbase) for (const input of described.inputs) spent.push(this.remove(inputKey(input)));
      for (const coin of coinsOf(described, block.height, owned[i] as Owned, this.book)) {
        this.add(coin);
        made.push(coin.key);
      }
    });
    return { made, spent };
  }

  revert({ made, spent }: Undo): void {
    for (const coin of spent) this.add(coin);
    // Last, because some of what was spent was made by the same block.
    for (const key of made) this.remove(key);
  }

  private add(coin: Coin): void {
    assert(!this.coins.has(coin.key), `coin ${coin.key} is new`);
    this.coins.set(coin.key, coin);
    if (coin.own) this.purse.add(coin);
  }

  private remove(key: string): Coin {
    const coin = this.coins.get(key);
    assert(coin !== undefined, `coin ${key} is unspent`);
    this.coins.delete(key);
    if (coin.own) this.purse.remove(coin);
    return coin;
  }
}

/** A bag of coins from which any can be drawn at once. */
class Purse {
  private readonly coins: Coin[] = [];
  private readonly places = new Map<string, number>();

  get size(): number {
    return this.coins.length;
  }

  values(): readonly Coin[] {
    return this.coins;
  }

  pick(random: Random): Coin {
    return random.pick(this.coins);
  }

  add(coin: Coin): void {
    this.places.set(coin.key, this.coins.length);
    this.coins.push(coin);
  }

  remove({ key }: Coin): void {
    const place = this.places.get(key)!;
    const last = this.coins.pop()!;
    this.places.delete(key);
    if (last.key === key) return;
    this.coins[place] = last;
    this.places.set(last.key, place);
  }
}
