/**
 * Where each transaction stands: `tx` by id.
 *
 *   tx id  ->  height u32 | tx index u32 | flags u8 (1: phase-2 invalid)
 *
 * An id can come a second time (BIP30), and then leads to the later place. What
 * stood there before is the undo of that block: id 32 | the earlier row.
 */
import type { Reader } from '../engine/engine.ts';
import type { Ledger } from '../ledgers/ledger.ts';
import { TXID_BYTES } from '../ledgers/outpoint.ts';
import { concatBytes, equalBytes, readU32, writeU32 } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { Scratch } from '../util/scratch.ts';
import type { ProjectionEntry } from './entry.ts';
import type { Projection, StepBlock, StepTx } from './projection.ts';

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

export function transactionsProjection({ repeats }: Pick<Ledger, 'repeats'>): Projection {
  const row = new Scratch(ROW_BYTES);
  return {
    name: 'transactions',
    columns: [{ name: TX, access: 'archive', weight: 6 }],
    apply(step, view, batch) {
      for (const { txs, height } of step.blocks) {
        for (let i = 0; i < txs.length; i++) batch.put(TX, txs[i].id, writeRow(row, txs[i], height, i));
      }
      if (repeats === undefined || step.blocks.every((block) => repeats(block) === null)) return undefined;
      return step.blocks.map((block, i) => (repeats(block) === null ? undefined : earlier(step.blocks.slice(0, i), block.txs[0].id, view)));
    },
    revert(step, undo, _view, batch) {
      for (let i = 0; i < step.blocks.length; i++) {
        const { txs, height } = step.blocks[i];
        for (let at = 0; at < txs.length; at++)
          batch.del(TX, txs[at].id, batch.asksValues === true ? writeRow(row, txs[at], height, at) : undefined);
        const before = undo[i];
        if (before === undefined) continue;
        if (before.length !== TXID_BYTES + ROW_BYTES)
          throw new UnspentError('STORE_DAMAGED', `the undo of ${TX} has ${before.length} bytes`);
        batch.put(TX, before.subarray(0, TXID_BYTES), before.subarray(TXID_BYTES));
      }
    },
  };
}

export const transactionsEntry = {
  name: 'transactions',
  from: 'blocks',
  make: (ledger) => transactionsProjection(ledger),
} as const satisfies ProjectionEntry;

function writeRow(row: Scratch, tx: StepTx, height: number, txIndex: number): Uint8Array {
  writeU32(row.bytes, 0, height);
  writeU32(row.bytes, 4, txIndex);
  row.bytes[8] = tx.valid ? 0 : 1;
  return row.view(ROW_BYTES);
}

/** The row of this id before a block: in the store, or of a block before it in the same step. Undefined: a store that began later. */
function earlier(before: readonly StepBlock[], id: Uint8Array, view: Reader): Uint8Array | undefined {
  for (const { txs, height } of before) {
    const at = txs.findIndex((tx) => equalBytes(tx.id, id));
    if (at >= 0) return concatBytes(id, writeRow(new Scratch(ROW_BYTES), txs[at], height, at));
  }
  const row = view.get(TX, id);
  return row === undefined ? undefined : concatBytes(id, row);
}
