/**
 * The unspent set and the history of spending: `utxo_unspent` and `utxo_spent`.
 * A spent output moves, it is not copied: "who spent this" and the undo of a
 * block read the same row. Where undo records carry spent outputs, it moves there.
 * Where rows of indexes name places, `utxo_place` comes and goes with the set.
 */
import type { Batch, ColumnSpec } from '../engine/engine.ts';
import type { Ledger } from '../ledgers/ledger.ts';
import { OUTPOINT_BYTES, TXID_BYTES } from '../ledgers/outpoint.ts';
import { copyBytes, readU32, writeU32, writeU64 } from '../util/bytes.ts';
import { assert } from '../util/errors.ts';
import { Scratch } from '../util/scratch.ts';
import { type Coin, SPENT_AT, SPENT_HEADER_BYTES } from './coin.ts';
import type { BuiltInEntry } from './entry.ts';
import { packedLength, writePacked } from './packed.ts';
import { keepsPlaces, Places, placeColumn } from './place.ts';
import { PlaceCheck } from './place-check.ts';
import type { Projection, Step } from './projection.ts';
import { inWriteOrder } from './write-order.ts';

export const UNSPENT = 'utxo_unspent';
export const SPENT = 'utxo_spent';

const columns: readonly ColumnSpec[] = [
  { name: UNSPENT, access: 'point', weight: 30, main: true },
  { name: SPENT, access: 'archive', weight: 25 },
];

export function utxoProjection(ledger: Pick<Ledger, 'indexRows'>): Projection {
  const places = keepsPlaces(ledger) ? new Places() : null;
  const key = new Scratch(OUTPOINT_BYTES);
  const value = new Scratch(64 * 1024);

  function keyOf(coin: Coin): Uint8Array {
    copyBytes(coin.keyBytes, coin.keyAt, key.bytes, 0, OUTPOINT_BYTES);
    return key.view(OUTPOINT_BYTES);
  }

  function moveUnspent(step: Step, batch: Batch): void {
    for (const coin of ordered(batch, step.removed)) batch.del(UNSPENT, keyOf(coin));
    for (const coin of ordered(batch, step.added)) batch.put(UNSPENT, keyOf(coin), storedValue(coin, value));
    places?.move(step.added, step.removed, batch);
  }

  return {
    name: 'utxo',
    columns: places === null ? columns : [...columns, placeColumn],
    apply(step, _view, batch) {
      moveUnspent(step, batch);
      for (const coin of ordered(batch, spentIn(step))) batch.put(SPENT, keyOf(coin), spentValue(coin, value, step.carriesSpent === true));
      return undefined;
    },
    revert(step, _undo, _view, batch) {
      moveUnspent(step, batch);
      for (const coin of ordered(batch, spentIn(step))) batch.del(SPENT, keyOf(coin));
    },
    prune(block, batch) {
      for (const spentKey of block.spentKeys) batch.del(SPENT, spentKey);
      return block.spentKeys.length;
    },
  };
}

export const utxoEntry = {
  name: 'utxo',
  from: 'outputs',
  setting: {
    key: 'utxo.enabled',
    type: 'boolean',
    default: true,
    shapesStore: true,
    doc: 'Keep unspent outputs. When off, no UTXO column is opened and no UTXO projection runs.',
  },
  make: (ledger) => utxoProjection(ledger),
  check: (inspection) => (keepsPlaces(inspection.ledger) ? new PlaceCheck(inspection) : null),
} as const satisfies BuiltInEntry;

function spentIn(step: Step): readonly Coin[] {
  if (step.blocks.length === 1) return step.blocks[0].spent;
  return step.blocks.flatMap((block) => block.spent);
}

function ordered(batch: Batch, coins: readonly Coin[]): readonly Coin[] {
  return inWriteOrder(batch, coins, (coin) => readU32(coin.keyBytes, coin.keyAt));
}

function storedValue(coin: Coin, scratch: Scratch): Uint8Array {
  assert(coin.length > 0, 'a coin is resolved before it is stored');
  const length = packedLength(coin.bytes, coin.at, coin.end);
  scratch.need(length);
  writePacked(coin.bytes, coin.at, coin.end, scratch.bytes, 0);
  return scratch.view(length);
}

/** `isCarried`: what the output held is in the undo record. */
function spentValue(coin: Coin, scratch: Scratch, isCarried: boolean): Uint8Array {
  const { spender } = coin;
  assert(spender !== null && coin.length > 0, 'a spent coin has a spender and a value');
  const length = SPENT_HEADER_BYTES + (isCarried ? 0 : packedLength(coin.bytes, coin.at, coin.end));
  scratch.need(length);
  const { bytes } = scratch;
  if (!isCarried) writePacked(coin.bytes, coin.at, coin.end, bytes, SPENT_HEADER_BYTES);
  copyBytes(spender.txId, 0, bytes, SPENT_AT.txId, TXID_BYTES);
  writeU32(bytes, SPENT_AT.input, coin.input);
  writeU64(bytes, SPENT_AT.slot, spender.slot);
  writeU32(bytes, SPENT_AT.height, spender.height);
  return scratch.view(length);
}
