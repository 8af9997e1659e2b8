/**
 * The unspent set and the history of spending: `utxo_unspent` and `utxo_spent`.
 * A spent output moves, it is not copied: "who spent this" and the undo of a
 * block read the same row. Where undo records carry spent outputs, it moves there.
 */
import type { Batch, ColumnSpec } from '../engine/engine.ts';
import { OUTPOINT_BYTES, TXID_BYTES } from '../ledgers/outpoint.ts';
import { copyBytes, readU32, writeU32, writeU64 } from '../util/bytes.ts';
import { assert } from '../util/errors.ts';
import { Scratch } from '../util/scratch.ts';
import { type Coin, SPENT_AT, SPENT_HEADER_BYTES } from './coin.ts';
import type { BuiltInEntry } from './entry.ts';
import type { Projection, Step } from './projection.ts';
import { inWriteOrder } from './write-order.ts';

export const UNSPENT = 'utxo_unspent';
export const SPENT = 'utxo_spent';

const columns: readonly ColumnSpec[] = [
  { name: UNSPENT, access: 'point', weight: 30, main: true },
  { name: SPENT, access: 'archive', weight: 25 },
];

export function utxoProjection(): Projection {
  const key = new Scratch(OUTPOINT_BYTES);
  const value = new Scratch(64 * 1024);

  function keyOf(coin: Coin): Uint8Array {
    copyBytes(coin.keyBytes, coin.keyAt, key.bytes, 0, OUTPOINT_BYTES);
    return key.view(OUTPOINT_BYTES);
  }

  function moveUnspent(step: Step, batch: Batch): void {
    for (const coin of ordered(batch, step.removed)) batch.del(UNSPENT, keyOf(coin));
    for (const coin of ordered(batch, step.added)) batch.put(UNSPENT, keyOf(coin), storedValue(coin, value));
  }

  return {
    name: 'utxo',
    columns,
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
  make: () => utxoProjection(),
} as const satisfies BuiltInEntry;

function spentIn(step: Step): readonly Coin[] {
  if (step.blocks.length === 1) return step.blocks[0].spent;
  return step.blocks.flatMap((block) => block.spent);
}

function ordered(batch: Batch, coins: readonly Coin[]): readonly Coin[] {
  return inWriteOrder(batch, coins, (coin) => readU32(coin.keyBytes, coin.keyAt));
}

function storedValue(coin: Coin, scratch: Scratch): Uint8Array {
  const length = coin.length;
  assert(length > 0, 'a coin is resolved before it is stored');
  copyValue(coin, scratch, 0, length);
  return scratch.view(length);
}

/** `isCarried`: what the output held is in the undo record. */
function spentValue(coin: Coin, scratch: Scratch, isCarried: boolean): Uint8Array {
  const { spender } = coin;
  assert(spender !== null && coin.length > 0, 'a spent coin has a spender and a value');
  const length = SPENT_HEADER_BYTES + (isCarried ? 0 : coin.length);
  if (isCarried) scratch.need(length);
  else copyValue(coin, scratch, SPENT_HEADER_BYTES, length);
  const { bytes } = scratch;
  copyBytes(spender.txId, 0, bytes, SPENT_AT.txId, TXID_BYTES);
  writeU32(bytes, SPENT_AT.input, coin.input);
  writeU64(bytes, SPENT_AT.slot, spender.slot);
  writeU32(bytes, SPENT_AT.height, spender.height);
  return scratch.view(length);
}

/** Short values are copied by a loop, long ones by the platform. */
function copyValue(coin: Coin, scratch: Scratch, at: number, total: number): void {
  scratch.need(total);
  if (coin.length <= 200) copyBytes(coin.bytes, coin.at, scratch.bytes, at, coin.length);
  else scratch.bytes.set(coin.bytes.subarray(coin.at, coin.end), at);
}
