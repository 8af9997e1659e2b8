/**
 * Unspent outputs by a 28-byte key (address hash, payment or stake credential),
 * in the order they came to the chain (DESIGN decision 5):
 *
 *   key28 | slot u64 | tx index u32 | output index u16  ->  tx id
 *
 * An index is a function of the unspent set, so forward and back are one body.
 */
import type { Batch } from '../engine/engine.ts';
import { KEY_BYTES, type KeyKind } from '../ledgers/ledger.ts';
import { copyBytes, readU32 } from '../util/bytes.ts';
import { inPrefixOrder } from '../util/key-order.ts';
import { Scratch } from '../util/scratch.ts';
import { AT, type Coin, keyOffset, TXID_BYTES } from './coin.ts';
import type { Projection, Step } from './projection.ts';

export const INDEX_KEY_BYTES = KEY_BYTES + 8 + 4 + 2;
const PLACE_BYTES = 12;

export function indexColumn(kind: KeyKind): string {
  return `utxo_${kind}`;
}

export function indexProjection(kind: KeyKind): Projection {
  const column = indexColumn(kind);
  const key = new Scratch(INDEX_KEY_BYTES);
  const txId = new Scratch(TXID_BYTES);

  function move(step: Step, batch: Batch): undefined {
    for (const coin of keyed(step.removed, kind)) batch.del(column, writeIndexKey(coin, kind, key));
    for (const coin of keyed(step.added, kind)) {
      copyBytes(coin.keyBytes, coin.keyAt, txId.bytes, 0, TXID_BYTES);
      batch.put(column, writeIndexKey(coin, kind, key), txId.view(TXID_BYTES));
    }
  }

  return {
    name: `index.${kind}`,
    columns: [{ name: column, access: 'prefix', prefixBytes: KEY_BYTES, weight: 12 }],
    apply: (step, _view, batch) => move(step, batch),
    revert: (step, _undo, _view, batch) => move(step, batch),
  };
}

/** The coins that have a key of this kind, in the order of that key. */
function keyed(coins: readonly Coin[], kind: KeyKind): readonly Coin[] {
  if (coins.length === 0) return coins;
  const having = coins.filter((coin) => keyOffset(coin.bytes, coin.at, kind) >= 0);
  return inPrefixOrder(having, (coin) => readU32(coin.bytes, keyOffset(coin.bytes, coin.at, kind)));
}

/** Slot and tx index stand side by side in the stored value, in the order the key wants them. */
export function writeIndexKey(coin: Coin, kind: KeyKind, scratch: Scratch): Uint8Array {
  const { bytes } = scratch;
  copyBytes(coin.bytes, keyOffset(coin.bytes, coin.at, kind), bytes, 0, KEY_BYTES);
  copyBytes(coin.bytes, coin.at + AT.slot, bytes, KEY_BYTES, PLACE_BYTES);
  bytes[KEY_BYTES + PLACE_BYTES] = coin.keyBytes[coin.keyAt + TXID_BYTES];
  bytes[KEY_BYTES + PLACE_BYTES + 1] = coin.keyBytes[coin.keyAt + TXID_BYTES + 1];
  return scratch.view(INDEX_KEY_BYTES);
}
