/**
 * The rows of the history, as they are stored:
 *
 *   history_tx       height u32 | tx index u32  ->  id 32 | the transaction as it stands alone
 *                    height u32 | 80000000 + n  ->  id 32 | the stored value of the n-th output that the ledger granted
 *                    height u32 | ffffffff      ->  what stands behind the last transaction, if anything does
 *   history_script, history_payment, history_stake
 *                    key 28 | height u32 | tx index u32
 *                      ->  funded u32 | their sum u64 | spent u32 | their sum u64
 *   history_spend    outpoint 36  ->  height u32 | tx index u32 | input u32
 *                      [| the stored value of the output, where no transaction of the history made it]
 *
 * Where the ledger itself removed outputs the tx index is fffffffe. The row of a
 * transaction whose bytes were forgotten is its id alone.
 */
import { KEY_BYTES, type KeyKind } from '../../ledgers/ledger.ts';
import { readBigU64, readU32, writeU32 } from '../../util/bytes.ts';

export const HISTORY_TX = 'history_tx';
export const HISTORY_SPEND = 'history_spend';

/** The column of the rows by a kind of key. */
export const HISTORY_KEY_COLUMN: Readonly<Record<KeyKind, string>> = {
  address: 'history_script',
  payment: 'history_payment',
  stake: 'history_stake',
};

/** Stands for what is behind the last transaction of a block. */
export const TAIL_INDEX = 0xffff_ffff;

export const PLACE_BYTES = 8;
export const HISTORY_KEY_BYTES = KEY_BYTES + PLACE_BYTES;
/** Behind it stands the output, where no transaction of the history made it. */
export const SPEND_BYTES = 12;
export const TOTALS_AT = { fundedCount: 0, fundedSum: 4, spentCount: 12, spentSum: 16 } as const;
export const TOTALS_BYTES = 24;

/** What one or all transactions did to a script, an address or a credential. */
export interface ScriptTotals {
  readonly fundedCount: number;
  readonly fundedSum: bigint;
  readonly spentCount: number;
  readonly spentSum: bigint;
}

/** Where an output was spent. */
export interface HistorySpend {
  readonly height: number;
  /** LEDGER_INDEX: not by a transaction, the ledger itself removed it. */
  readonly txIndex: number;
  readonly input: number;
  /** Its stored value; null: a transaction of the history made it. */
  readonly output: Uint8Array | null;
}

export function historyTxKey(height: number, txIndex: number): Uint8Array {
  const key = new Uint8Array(PLACE_BYTES);
  writeHistoryPlace(key, 0, height, txIndex);
  return key;
}

/** Of a row by script, address or credential. */
export function historyKey(key: Uint8Array, height: number, txIndex: number): Uint8Array {
  const row = new Uint8Array(HISTORY_KEY_BYTES);
  row.set(key);
  writeHistoryPlace(row, KEY_BYTES, height, txIndex);
  return row;
}

export function writeHistoryPlace(to: Uint8Array, at: number, height: number, txIndex: number): void {
  writeU32(to, at, height);
  writeU32(to, at + 4, txIndex);
}

export function readScriptTotals(value: Uint8Array): ScriptTotals {
  return {
    fundedCount: readU32(value, TOTALS_AT.fundedCount),
    fundedSum: readBigU64(value, TOTALS_AT.fundedSum),
    spentCount: readU32(value, TOTALS_AT.spentCount),
    spentSum: readBigU64(value, TOTALS_AT.spentSum),
  };
}

export function readHistorySpend(value: Uint8Array): HistorySpend {
  const output = value.length > SPEND_BYTES ? value.subarray(SPEND_BYTES) : null;
  return { height: readU32(value, 0), txIndex: readU32(value, 4), input: readU32(value, 8), output };
}
