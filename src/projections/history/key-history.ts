/**
 * What happened to the owners of outputs: which transactions paid to a script,
 * an address or a credential or spent from it, in the order of the chain. Rows by
 * script or address are part of the history itself; those by a credential are a
 * projection of their own for each kind, kept where the index of that kind is.
 */
import type { Batch, ColumnSpec } from '../../engine/engine.ts';
import { KEY_BYTES, type KeyKind } from '../../ledgers/ledger.ts';
import { copyBytes, readU32, writeU32 } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { inPrefixOrder } from '../../util/key-order.ts';
import { Scratch } from '../../util/scratch.ts';
import { type Coin, keyOffset } from '../coin.ts';
import type { Projection, StepBlock } from '../projection.ts';
import { startHeightKey, undoneSince } from '../start-height.ts';
import { creatorIndex, type KeyRow, keyRows, spenderIndex } from './key-rows.ts';
import { HISTORY_KEY_BYTES, HISTORY_KEY_COLUMN, TOTALS_AT, TOTALS_BYTES, writeHistoryPlace } from './rows.ts';

export function keyHistoryColumn(kind: KeyKind): ColumnSpec {
  return { name: HISTORY_KEY_COLUMN[kind], access: 'prefix', prefixBytes: KEY_BYTES, weight: 20 };
}

export function keyHistoryName(kind: KeyKind): string {
  return kind === 'address' ? 'history' : `history.${kind}`;
}

/** Writes and deletes the rows by one kind of key. */
export class KeyHistory {
  private readonly kind: KeyKind;
  private readonly column: string;
  private readonly key = new Scratch(HISTORY_KEY_BYTES);
  private readonly value = new Scratch(TOTALS_BYTES);

  constructor(kind: KeyKind) {
    this.kind = kind;
    this.column = HISTORY_KEY_COLUMN[kind];
  }

  put(blocks: readonly StepBlock[], batch: Batch): void {
    const rows: KeyRow[] = [];
    for (const block of blocks) keyRows(block, this.kind, rows);
    for (const row of inPrefixOrder(rows, ({ coin, keyAt }) => readU32(coin.bytes, keyAt))) {
      batch.put(this.column, this.rowKey(row.coin, row.keyAt, row.height, row.txIndex), this.totals(row));
    }
  }

  del(blocks: readonly StepBlock[], batch: Batch): void {
    for (const { height, created, spent } of blocks) {
      for (const coin of created) this.delRow(coin, height, creatorIndex(coin), batch);
      for (const coin of spent) this.delRow(coin, height, spenderIndex(coin), batch);
    }
  }

  private delRow(coin: Coin, height: number, txIndex: number, batch: Batch): void {
    const keyAt = keyOffset(coin.bytes, coin.at, this.kind);
    if (keyAt >= 0) batch.del(this.column, this.rowKey(coin, keyAt, height, txIndex));
  }

  private rowKey({ bytes }: Coin, keyAt: number, height: number, txIndex: number): Uint8Array {
    copyBytes(bytes, keyAt, this.key.bytes, 0, KEY_BYTES);
    writeHistoryPlace(this.key.bytes, KEY_BYTES, height, txIndex);
    return this.key.view(HISTORY_KEY_BYTES);
  }

  private totals(row: KeyRow): Uint8Array {
    const { bytes } = this.value;
    writeU32(bytes, TOTALS_AT.fundedCount, row.fundedCount);
    writeSum(bytes, TOTALS_AT.fundedSum, row.fundedHi, row.fundedLo);
    writeU32(bytes, TOTALS_AT.spentCount, row.spentCount);
    writeSum(bytes, TOTALS_AT.spentSum, row.spentHi, row.spentLo);
    return this.value.view(TOTALS_BYTES);
  }
}

/** Rows by a credential. `leaves`: those of old blocks to a published copy. */
export function keyHistoryProjection(kind: KeyKind, leaves = false): Projection {
  const rows = new KeyHistory(kind);
  const name = keyHistoryName(kind);
  return {
    name,
    columns: [keyHistoryColumn(kind)],
    reserved: [startHeightKey(name)],
    startsLate: true,
    apply(step, _view, batch) {
      rows.put(step.blocks, batch);
      return undefined;
    },
    revert(step, _undo, view, batch) {
      rows.del(undoneSince(step.blocks, view, batch, name), batch);
    },
    ...(leaves ? { leave: (blocks, batch) => rows.del(blocks, batch) } : {}),
  };
}

const U32 = 0x1_0000_0000;

function writeSum(to: Uint8Array, at: number, hi: number, lo: number): void {
  const carried = hi + Math.floor(lo / U32);
  if (carried >= U32) throw new UnspentError('BLOCK_INVALID', 'a transaction moves more of one script than 64 bits can count');
  writeU32(to, at, carried);
  writeU32(to, at + 4, lo % U32);
}
