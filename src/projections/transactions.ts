/**
 * Where each transaction stands: `tx` by id.
 *
 *   tx id  ->  height u32 | tx index u32 | flags u8 (1: phase-2 invalid)
 */
import { readU32, writeU32 } from '../util/bytes.ts';
import { Scratch } from '../util/scratch.ts';
import type { Projection } from './projection.ts';

export const TX = 'tx';
const ROW_BYTES = 9;

export interface TxRow {
  readonly height: number;
  readonly txIndex: number;
  readonly valid: boolean;
}

export function readTxRow(value: Uint8Array): TxRow {
  return { height: readU32(value, 0), txIndex: readU32(value, 4), valid: value[8] === 0 };
}

export function transactionsProjection(): Projection {
  const row = new Scratch(ROW_BYTES);
  return {
    name: 'transactions',
    columns: [{ name: TX, access: 'archive', weight: 6 }],
    apply(step, _view, batch) {
      for (const { txs, height } of step.blocks) {
        for (let i = 0; i < txs.length; i++) {
          writeU32(row.bytes, 0, height);
          writeU32(row.bytes, 4, i);
          row.bytes[8] = txs[i].valid ? 0 : 1;
          batch.put(TX, txs[i].id, row.view(ROW_BYTES));
        }
      }
      return undefined;
    },
    revert(step, _undo, _view, batch) {
      for (const { txs } of step.blocks) for (const tx of txs) batch.del(TX, tx.id);
    },
  };
}
