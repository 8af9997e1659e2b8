/**
 * What happened, for ever: every transaction, what each did to every script it
 * touched, and who spent which output. Nothing here is pruned, but for the bytes
 * of transactions that nobody can need any more, where that is asked for
 * (`txs.boundHistory`): such a row is the id alone.
 *
 *   history_tx      height u32 | tx index u32  ->  tx id 32 | its bytes
 *                   height u32 | ffffffff      ->  what stands behind the last transaction, if anything does
 *   history_script  script key 28 | height u32 | tx index u32
 *                     ->  funded u32 | their sum u64 | spent u32 | their sum u64
 *   history_spend   outpoint 36  ->  height u32 | tx index u32 | input u32
 *
 * Outputs that nothing can spend never enter the set, and so have no row by
 * script. All keys are new ones, and a block that is undone still knows what it
 * created and spent: no undo of its own is needed.
 */
import type { Batch, ColumnSpec, Reader } from '../../engine/engine.ts';
import { KEY_BYTES, type Ledger } from '../../ledgers/ledger.ts';
import { OUTPOINT_BYTES, TXID_BYTES } from '../../ledgers/outpoint.ts';
import { copyBytes, readBigU64, readU32, toHex, writeU32 } from '../../util/bytes.ts';
import { assert, UnspentError } from '../../util/errors.ts';
import { inPrefixOrder } from '../../util/key-order.ts';
import { Scratch } from '../../util/scratch.ts';
import { AT, type Coin } from '../coin.ts';
import type { ForwardBlock, Projection, Step, StepBlock } from '../projection.ts';
import { type ScriptRow, scriptKeyAt, scriptRows } from './script-rows.ts';

export const HISTORY_TX = 'history_tx';
export const HISTORY_SCRIPT = 'history_script';
export const HISTORY_SPEND = 'history_spend';

/** Stands for what is behind the last transaction of a block. */
export const TAIL_INDEX = 0xffff_ffff;

const PLACE_BYTES = 8;
export const HISTORY_SCRIPT_KEY_BYTES = KEY_BYTES + PLACE_BYTES;
const SPEND_BYTES = 12;
const SCRIPT_AT = { fundedCount: 0, fundedSum: 4, spentCount: 12, spentSum: 16 } as const;
const SCRIPT_BYTES = 24;

/** By bytes written: a transaction of some 300 bytes touches about three scripts and spends about two outputs. */
const columns: readonly ColumnSpec[] = [
  { name: HISTORY_TX, access: 'order', weight: 40 },
  { name: HISTORY_SCRIPT, access: 'prefix', prefixBytes: KEY_BYTES, weight: 20 },
  { name: HISTORY_SPEND, access: 'archive', weight: 10 },
];

/** What one or all transactions did to a script. */
export interface ScriptTotals {
  readonly fundedCount: number;
  readonly fundedSum: bigint;
  readonly spentCount: number;
  readonly spentSum: bigint;
}

/** Where an output was spent. */
export interface HistorySpend {
  readonly height: number;
  readonly txIndex: number;
  readonly input: number;
}

export function historyTxKey(height: number, txIndex: number): Uint8Array {
  const key = new Uint8Array(PLACE_BYTES);
  writePlace(key, 0, height, txIndex);
  return key;
}

export function historyScriptKey(scriptKey: Uint8Array, height: number, txIndex: number): Uint8Array {
  const key = new Uint8Array(HISTORY_SCRIPT_KEY_BYTES);
  key.set(scriptKey);
  writePlace(key, KEY_BYTES, height, txIndex);
  return key;
}

export function readScriptTotals(value: Uint8Array): ScriptTotals {
  return {
    fundedCount: readU32(value, SCRIPT_AT.fundedCount),
    fundedSum: readBigU64(value, SCRIPT_AT.fundedSum),
    spentCount: readU32(value, SCRIPT_AT.spentCount),
    spentSum: readBigU64(value, SCRIPT_AT.spentSum),
  };
}

export function readHistorySpend(value: Uint8Array): HistorySpend {
  return { height: readU32(value, 0), txIndex: readU32(value, 4), input: readU32(value, 8) };
}

function writePlace(to: Uint8Array, at: number, height: number, txIndex: number): void {
  writeU32(to, at, height);
  writeU32(to, at + 4, txIndex);
}

/** `txBytes` is the ledger's: without it there is nothing to keep. */
export function historyProjection(txBytes: NonNullable<Ledger['txBytes']>, tailBytes: Ledger['tailBytes']): Projection {
  const key = new Scratch(HISTORY_SCRIPT_KEY_BYTES);
  const value = new Scratch(64 * 1024);

  function placeKey(height: number, txIndex: number): Uint8Array {
    writePlace(key.bytes, 0, height, txIndex);
    return key.view(PLACE_BYTES);
  }

  function scriptKey(coin: Coin, height: number, txIndex: number): Uint8Array {
    copyBytes(coin.bytes, scriptKeyAt(coin), key.bytes, 0, KEY_BYTES);
    writePlace(key.bytes, KEY_BYTES, height, txIndex);
    return key.view(HISTORY_SCRIPT_KEY_BYTES);
  }

  function spendKey(coin: Coin): Uint8Array {
    copyBytes(coin.keyBytes, coin.keyAt, key.bytes, 0, OUTPOINT_BYTES);
    return key.view(OUTPOINT_BYTES);
  }

  function putTxs({ block, height }: ForwardBlock, batch: Batch): void {
    for (let i = 0; i < block.txs.length; i++) {
      const bytes = txBytes(block, i);
      const length = TXID_BYTES + bytes.length;
      value.need(length);
      copyBytes(block.txs[i].id, 0, value.bytes, 0, TXID_BYTES);
      value.bytes.set(bytes, TXID_BYTES);
      batch.put(HISTORY_TX, placeKey(height, i), value.view(length));
    }
    const tail = tailBytes?.(block);
    if (tail !== undefined && tail.length > 0) batch.put(HISTORY_TX, placeKey(height, TAIL_INDEX), tail);
  }

  function deleteTxs({ txs, height }: StepBlock, batch: Batch): void {
    for (let i = 0; i < txs.length; i++) batch.del(HISTORY_TX, placeKey(height, i));
    batch.del(HISTORY_TX, placeKey(height, TAIL_INDEX));
  }

  function putScript(row: ScriptRow, batch: Batch): void {
    const { bytes } = value;
    writeU32(bytes, SCRIPT_AT.fundedCount, row.fundedCount);
    writeSum(bytes, SCRIPT_AT.fundedSum, row.fundedHi, row.fundedLo);
    writeU32(bytes, SCRIPT_AT.spentCount, row.spentCount);
    writeSum(bytes, SCRIPT_AT.spentSum, row.spentHi, row.spentLo);
    batch.put(HISTORY_SCRIPT, scriptKey(row.coin, row.height, row.txIndex), value.view(SCRIPT_BYTES));
  }

  function putSpend(coin: Coin, batch: Batch): void {
    const { spender, input } = coin;
    assert(spender !== null, 'a spent coin has a spender');
    writePlace(value.bytes, 0, spender.height, spender.txIndex);
    writeU32(value.bytes, PLACE_BYTES, input);
    batch.put(HISTORY_SPEND, spendKey(coin), value.view(SPEND_BYTES));
  }

  return {
    name: 'history',
    columns,
    keepsBlocks: true,
    apply(step, _view, batch) {
      const rows: ScriptRow[] = [];
      for (const block of step.blocks) {
        putTxs(block, batch);
        scriptRows(block, rows);
      }
      for (const row of inPrefixOrder(rows, ({ coin }) => readU32(coin.bytes, scriptKeyAt(coin)))) putScript(row, batch);
      const spent = step.blocks.flatMap((block) => block.spent);
      for (const coin of inPrefixOrder(spent, ({ keyBytes, keyAt: at }) => readU32(keyBytes, at))) putSpend(coin, batch);
      return undefined;
    },
    revert(step, _undo, view, batch) {
      const spends = readSpends(step, view);
      for (let i = 0; i < step.blocks.length; i++) {
        const { height, created, spent } = step.blocks[i];
        deleteTxs(step.blocks[i], batch);
        for (const coin of created) batch.del(HISTORY_SCRIPT, scriptKey(coin, height, readU32(coin.bytes, coin.at + AT.txIndex)));
        for (let j = 0; j < spent.length; j++) {
          batch.del(HISTORY_SCRIPT, scriptKey(spent[j], height, spends[i][j].txIndex));
          batch.del(HISTORY_SPEND, spendKey(spent[j]));
        }
      }
    },
  };
}

/** By block: where each output it spent was spent. Only the spending transaction's place is not in the coins themselves. */
function readSpends({ blocks }: Step, view: Reader): HistorySpend[][] {
  const keys = blocks.flatMap(({ spent }) => spent.map((coin) => coin.keyBytes.subarray(coin.keyAt, coin.keyAt + OUTPOINT_BYTES)));
  const values = view.getMany(HISTORY_SPEND, keys);
  let next = 0;
  return blocks.map(({ spent, height }) =>
    spent.map(() => {
      const [key, value] = [keys[next], values[next++]];
      if (value !== undefined && value.length === SPEND_BYTES && readU32(value, 0) === height) return readHistorySpend(value);
      const what = value === undefined ? 'is missing' : 'names another block';
      throw new UnspentError('STORE_DAMAGED', `the row ${toHex(key)} of ${HISTORY_SPEND}, which undoing block ${height} needs, ${what}`, {
        column: HISTORY_SPEND,
        key: toHex(key),
      });
    }),
  );
}

const U32 = 0x1_0000_0000;

function writeSum(to: Uint8Array, at: number, hi: number, lo: number): void {
  const carried = hi + Math.floor(lo / U32);
  if (carried >= U32) throw new UnspentError('BLOCK_INVALID', 'a transaction moves more of one script than 64 bits can count');
  writeU32(to, at, carried);
  writeU32(to, at + 4, lo % U32);
}
