/**
 * Forgets the bytes of transactions that are so many blocks old
 * (`utxo.historyDepth`): their rows keep the id, so that lists stay whole and who
 * asks for one is told PRUNED. Off the path of blocks, some blocks at a time.
 *
 *   chain: ff "forgotten.history"  ->  height u32 up to which bytes are gone, one higher
 */
import type { Batch, Reader } from '../../engine/engine.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { readU32, writeU32 } from '../../util/bytes.ts';
import { HISTORY_FORGET_BLOCKS, WINDOW_BLOCKS_MAX } from '../../util/limits.ts';
import { CHAIN, metaKey } from '../chain.ts';
import { historyTxRows } from './rebuild.ts';
import { HISTORY_TX } from './rows.ts';

/** The setting, which stands with what it is for. */
export const HISTORY_DEPTH = {
  type: 'integer',
  default: 0,
  min: 0,
  max: WINDOW_BLOCKS_MAX,
  doc: 'Cardano: forget the bytes of transactions that are more than so many blocks old (`utxo.history`), and at least as old as what can be rolled back: whoever asks for them is told PRUNED. Ids, places, what happened to addresses and who spent what stay. 0: never.',
} as const;

export const FORGOTTEN_KEY = metaKey('forgotten.history');

/** The height up to which bytes of transactions were forgotten; -1: none were. */
export function readForgottenHeight(reader: Reader): number {
  const value = reader.get(CHAIN, FORGOTTEN_KEY);
  return value === undefined ? -1 : readU32(value, 0) - 1;
}

/** Forgets up to this height, or a part of it: a store whose depth was lowered catches up over several calls. */
export function forgetTxBytes(height: number, view: Reader, batch: Batch): void {
  const from = readForgottenHeight(view) + 1;
  const to = Math.min(height, from + HISTORY_FORGET_BLOCKS - 1);
  if (to < from) return;
  for (let each = from; each <= to; each++) {
    for (const [key, value] of historyTxRows(view, each))
      if (value.length > TXID_BYTES) batch.put(HISTORY_TX, key, value.subarray(0, TXID_BYTES));
  }
  const cursor = new Uint8Array(4);
  writeU32(cursor, 0, to + 1);
  batch.put(CHAIN, FORGOTTEN_KEY, cursor);
}
