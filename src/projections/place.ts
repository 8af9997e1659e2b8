/**
 * The places of unspent outputs: where on the chain each of them stands, and the
 * id of its transaction. Rows of indexes end with such a place, and where they say
 * no more than that (`Ledger.indexRows`), the id is found here, once for an output
 * however many indexes it is in:
 *
 *   slot u64 | tx index u32 | output index u32  ->  tx id
 *
 * It belongs to the unspent set and not to an index: the same outputs come and go,
 * and an index that is switched on later finds it there. No two unspent outputs
 * have one place. Slots are those of single blocks, transactions are numbered, and
 * what no transaction of a block made has numbers of its own (`coin.ts`).
 */
import type { Batch, ColumnSpec, Reader, Row } from '../engine/engine.ts';
import { KEY_BYTES, type Ledger } from '../ledgers/ledger.ts';
import { OUTPUT_INDEX_BYTES, TXID_BYTES } from '../ledgers/outpoint.ts';
import { copyBytes, readU32 } from '../util/bytes.ts';
import { Scratch } from '../util/scratch.ts';
import { AT, type Coin } from './coin.ts';
import { inWriteOrder } from './write-order.ts';

export const PLACE = 'utxo_place';
/** Of slot and tx index: they stand side by side in a stored value. */
const BLOCK_PLACE_BYTES = 12;
export const PLACE_BYTES = BLOCK_PLACE_BYTES + OUTPUT_INDEX_BYTES;

/** Not asked by the fold, only by readers of indexes. */
export const placeColumn: ColumnSpec = { name: PLACE, access: 'archive', weight: 10 };

/** Whether rows of indexes name places only, and so the unspent set keeps them. */
export function keepsPlaces({ indexRows }: Pick<Ledger, 'indexRows'>): boolean {
  return indexRows === 'place';
}

/** Writes the place of an output at `to[at..]`. */
export function writePlace({ keyBytes, keyAt, bytes, at: valueAt }: Coin, to: Uint8Array, at: number): void {
  copyBytes(bytes, valueAt + AT.slot, to, at, BLOCK_PLACE_BYTES);
  copyBytes(keyBytes, keyAt + TXID_BYTES, to, at + BLOCK_PLACE_BYTES, OUTPUT_INDEX_BYTES);
}

/** Moves the places of a step. */
export class Places {
  readonly #key = new Scratch(PLACE_BYTES);
  readonly #txId = new Scratch(TXID_BYTES);

  move(added: readonly Coin[], removed: readonly Coin[], batch: Batch): void {
    for (const coin of ordered(batch, removed))
      batch.del(PLACE, this.#keyOf(coin), batch.asksValues === true ? this.#txIdOf(coin) : undefined);
    // Those of a block are in the order of their places already, and blocks follow each other.
    for (const coin of added) batch.put(PLACE, this.#keyOf(coin), this.#txIdOf(coin));
  }

  #txIdOf({ keyBytes, keyAt }: Coin): Uint8Array {
    copyBytes(keyBytes, keyAt, this.#txId.bytes, 0, TXID_BYTES);
    return this.#txId.view(TXID_BYTES);
  }

  #keyOf(coin: Coin): Uint8Array {
    writePlace(coin, this.#key.bytes, 0);
    return this.#key.view(PLACE_BYTES);
  }
}

/** By the lower half of the slot: the upper one is the same for all that are there today. */
function ordered(batch: Batch, coins: readonly Coin[]): readonly Coin[] {
  return inWriteOrder(batch, coins, ({ bytes, at }) => readU32(bytes, at + AT.slot + 4));
}

/** The ids of the transactions that rows of an index lead to, whichever way they do; undefined: no unspent output stands there. */
export function txIdsOf(reader: Reader, rows: readonly Row[]): (Uint8Array | undefined)[] {
  const places = rows.filter(([, value]) => value.length === 0).map(([key]) => key.subarray(KEY_BYTES));
  const ids = places.length === 0 ? [] : reader.getMany(PLACE, places);
  let next = 0;
  return rows.map(([, value]) => (value.length === 0 ? ids[next++] : value));
}
