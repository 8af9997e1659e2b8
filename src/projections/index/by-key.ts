/**
 * Unspent outputs by a 28-byte key (address hash, payment or stake credential),
 * in the order they came to the chain (DESIGN decision 5):
 *
 *   key28 | slot u64 | tx index u32 | output index u32  ->  tx id, or nothing (`Ledger.indexRows`)
 *
 * An index is a function of the unspent set, so forward and back are one body.
 * Keys that only some outputs have are in `index-by-trait.ts`, in the same rows.
 */

import { blake2b224 } from '../../crypto/hash.ts';
import type { Batch } from '../../engine/engine.ts';
import { KEY_BYTES, KEY_KINDS, type KeyKind, type Ledger } from '../../ledgers/ledger.ts';
import { OUTPUT_INDEX_BYTES, readOutputIndex, TXID_BYTES } from '../../ledgers/outpoint.ts';
import { concatBytes, copyBytes, readU32 } from '../../util/bytes.ts';
import { Scratch } from '../../util/scratch.ts';
import { type Coin, keyOffset } from '../coin.ts';
import { keepsPlaces, PLACE_BYTES, writePlace } from '../place.ts';
import type { Projection, Step } from '../projection.ts';
import { inWriteOrder } from '../write-order.ts';

/** Kinds of key that only outputs with assets, a datum or a script have. */
export const TRAIT_KINDS = ['policy', 'asset', 'datum', 'script'] as const;
export type TraitKind = (typeof TRAIT_KINDS)[number];

/** Every way to look for unspent outputs: the keys each output has, and those some have. */
export const INDEX_KINDS = [...KEY_KINDS, ...TRAIT_KINDS] as const;
export type IndexKind = (typeof INDEX_KINDS)[number];

export const INDEX_KEY_BYTES = KEY_BYTES + PLACE_BYTES;

const NO_VALUE = new Uint8Array(0);

/** The output index of a row, from its key. */
export function indexKeyOutput(key: Uint8Array): number {
  return readOutputIndex(key, INDEX_KEY_BYTES - OUTPUT_INDEX_BYTES);
}

export function indexColumn(kind: IndexKind): string {
  return `utxo_${kind}`;
}

/** The key of an asset; those of policies and scripts are their own hashes. */
export function assetKey(policy: Uint8Array, name: Uint8Array): Uint8Array {
  return blake2b224(concatBytes(policy, name));
}

export function datumKey(hash: Uint8Array): Uint8Array {
  return hash.subarray(0, KEY_BYTES);
}

export function indexProjection(kind: KeyKind, ledger: Pick<Ledger, 'indexRows'>): Projection {
  const column = indexColumn(kind);
  const key = new Scratch(INDEX_KEY_BYTES);
  const valueFor = rowValues(ledger);

  function move(step: Step, batch: Batch): undefined {
    for (const coin of keyed(batch, step.removed, kind))
      batch.del(column, writeIndexKey(coin, kind, key), batch.asksValues === true ? valueFor(coin) : undefined);
    for (const coin of keyed(batch, step.added, kind)) batch.put(column, writeIndexKey(coin, kind, key), valueFor(coin));
  }

  return {
    name: `index.${kind}`,
    columns: [{ name: column, access: 'prefix', prefixBytes: KEY_BYTES, weight: 12 }],
    fillable: 'exact',
    apply: (step, _view, batch) => move(step, batch),
    revert: (step, _undo, _view, batch) => move(step, batch),
  };
}

/** The coins that have a key of this kind, in the order in which they are written. */
function keyed(batch: Batch, coins: readonly Coin[], kind: KeyKind): readonly Coin[] {
  if (coins.length === 0) return coins;
  const having = coins.filter((coin) => keyOffset(coin.bytes, coin.at, kind) >= 0);
  return inWriteOrder(batch, having, (coin) => readU32(coin.bytes, keyOffset(coin.bytes, coin.at, kind)));
}

export function writeIndexKey(coin: Coin, kind: KeyKind, scratch: Scratch): Uint8Array {
  return writeRowKey(coin.bytes, keyOffset(coin.bytes, coin.at, kind), coin, scratch);
}

/** What the row of a coin has: the id of its transaction, valid until the next one, or nothing. */
export function rowValues(ledger: Pick<Ledger, 'indexRows'>): (coin: Coin) => Uint8Array {
  if (keepsPlaces(ledger)) return () => NO_VALUE;
  const txId = new Scratch(TXID_BYTES);
  return ({ keyBytes, keyAt }) => {
    copyBytes(keyBytes, keyAt, txId.bytes, 0, TXID_BYTES);
    return txId.view(TXID_BYTES);
  };
}

/** The row of a coin under the key at `from[at..]`. */
export function writeRowKey(from: Uint8Array, at: number, coin: Coin, scratch: Scratch): Uint8Array {
  const { bytes } = scratch;
  copyBytes(from, at, bytes, 0, KEY_BYTES);
  writePlace(coin, bytes, KEY_BYTES);
  return scratch.view(INDEX_KEY_BYTES);
}
