/**
 * Outputs that are in no column, and are read as if they were: by outpoint, and
 * by the keys of every index in the order of the chain. An earlier block has
 * those that were spent since (`overlay.ts`); a mempool has those it makes and
 * those it spends (`pending/`).
 */
import type { OutputTraits } from '../ledgers/ledger.ts';
import { outpointIndex, TXID_BYTES } from '../ledgers/outpoint.ts';
import { type Coin, readStored } from '../projections/coin.ts';
import { INDEX_KEY_BYTES } from '../projections/index/by-key.ts';
import { writePlace } from '../projections/place.ts';
import { CoinTable } from '../state/coin-table.ts';
import { compareBytes, equalBytes, toHex } from '../util/bytes.ts';
import type { IndexRange } from './index-rows.ts';
import { outputKeys } from './output-keys.ts';
import type { IndexedUtxo, Utxo } from './utxo.ts';
import type { IndexKind } from './view.ts';

/** An output where an index would have it. */
export interface CoinRow {
  readonly cursor: Uint8Array;
  readonly coin: Coin;
}

export class CoinSet {
  readonly coins: readonly Coin[];
  private readonly table = new CoinTable();
  private readonly indexes = new Map<IndexKind, ReadonlyMap<string, readonly CoinRow[]>>();

  constructor(coins: readonly Coin[]) {
    this.coins = coins;
    this.table.makeRoom(coins.length);
    for (const coin of coins) this.table.add(coin);
  }

  find(txId: Uint8Array, index: number): Coin | undefined {
    return this.table.find(txId, 0, index);
  }

  /** Those that a transaction made. */
  ofTx(txId: Uint8Array): readonly Coin[] {
    return this.coins.filter((coin) => isOf(coin, txId));
  }

  /** Those with this key, in the order of the index. */
  rows(kind: IndexKind, key: Uint8Array, traits: OutputTraits | null): readonly CoinRow[] {
    let index = this.indexes.get(kind);
    if (index === undefined) {
      index = indexOf(this.coins, kind, traits);
      this.indexes.set(kind, index);
    }
    return index.get(toHex(key)) ?? [];
  }
}

/** What readers are given of it: spent where the coin has a spender. */
export function utxoOfCoin({ keyBytes, keyAt, bytes, at, end, spender, input }: Coin): Utxo {
  const output = readStored(bytes.subarray(at, end));
  return {
    txId: keyBytes.subarray(keyAt, keyAt + TXID_BYTES),
    index: outpointIndex(keyBytes, keyAt),
    output,
    spent: spender === null ? null : { txId: spender.txId, input, slot: spender.slot, height: spender.height, output },
  };
}

/** The rows of a column and those of a set, both in the order of the range, as one list of at most `limit`. */
export function* mergedRows(
  rows: Iterable<IndexedUtxo>,
  coins: readonly CoinRow[],
  range: IndexRange,
  limit = Number.POSITIVE_INFINITY,
): Generator<IndexedUtxo, void, void> {
  if (limit <= 0) return;
  let left = limit;
  for (const row of merge(rows, inRange(coins, range), range.reverse ? -1 : 1)) {
    yield row;
    if (--left === 0) return;
  }
}

function inRange(rows: readonly CoinRow[], { gte, lt, reverse }: IndexRange): readonly CoinRow[] {
  const part = rows.filter(({ cursor }) => compareBytes(cursor, gte) >= 0 && compareBytes(cursor, lt) < 0);
  return reverse ? part.toReversed() : part;
}

function* merge(rows: Iterable<IndexedUtxo>, coins: readonly CoinRow[], direction: number): Generator<IndexedUtxo, void, void> {
  let next = 0;
  for (const row of rows) {
    while (next < coins.length && direction * compareBytes(coins[next].cursor, row.cursor) < 0) yield asIndexed(coins[next++]);
    yield row;
  }
  while (next < coins.length) yield asIndexed(coins[next++]);
}

function asIndexed({ cursor, coin }: CoinRow): IndexedUtxo {
  return { ...utxoOfCoin(coin), cursor };
}

function isOf({ keyBytes, keyAt }: Coin, txId: Uint8Array): boolean {
  return keyBytes[keyAt] === txId[0] && equalBytes(keyBytes.subarray(keyAt, keyAt + TXID_BYTES), txId);
}

function indexOf(coins: readonly Coin[], kind: IndexKind, traits: OutputTraits | null): ReadonlyMap<string, readonly CoinRow[]> {
  const index = new Map<string, CoinRow[]>();
  for (const coin of coins) {
    for (const key of outputKeys(coin.bytes, coin.at, coin.end, kind, traits)) {
      const row = { cursor: cursorOf(key, coin), coin };
      const hex = toHex(key);
      const rows = index.get(hex);
      if (rows === undefined) index.set(hex, [row]);
      else rows.push(row);
    }
  }
  for (const rows of index.values()) rows.sort((a, b) => compareBytes(a.cursor, b.cursor));
  return index;
}

function cursorOf(key: Uint8Array, coin: Coin): Uint8Array {
  const cursor = new Uint8Array(INDEX_KEY_BYTES);
  cursor.set(key);
  writePlace(coin, cursor, key.length);
  return cursor;
}
