/**
 * Rows of the history by a kind of key against the unspent set: what all
 * transactions did to an owner leaves what is unspent there. Memory is bounded by
 * a part of the set. Where the history began later than the store, outputs that
 * are older have no row, and what is left cannot be compared.
 */
import { KEY_BYTES, type KeyKind } from '../../ledgers/ledger.ts';
import { fromHex, readBigU64, readU16, readU32, toHex } from '../../util/bytes.ts';
import { VERIFY_BALANCE_OUTPUTS } from '../../util/limits.ts';
import { AT, type Coin, keyOffset } from '../coin.ts';
import type { Inspection, ProjectionCheck } from '../inspection.ts';
import { wholeValue } from '../packed.ts';
import { readStartHeight } from '../start-height.ts';
import { UNSPENT } from '../utxo.ts';
import { readElsewhere } from './elsewhere.ts';
import { keyHistoryName } from './key-history.ts';
import { creatorIndex } from './key-rows.ts';
import { HISTORY_KEY_COLUMN, historyKey, readScriptTotals } from './rows.ts';

/** A number of outputs and what they are worth. */
export interface OutputSum {
  count: number;
  value: bigint;
}

/** What all rows by a kind of key count. */
export interface KeyRowCounts {
  rows: number;
  funded: number;
  spent: number;
}

export class KeyHistoryCheck implements ProjectionCheck {
  readonly column: string;
  /** The height of the first block that the history has. */
  readonly startHeight: number;
  private readonly inspection: Inspection;
  private readonly kind: KeyKind;
  private utxos = 0;

  constructor(inspection: Inspection, kind: KeyKind) {
    this.inspection = inspection;
    this.kind = kind;
    this.column = HISTORY_KEY_COLUMN[kind];
    this.startHeight = Math.max(readElsewhere(inspection.reader), readStartHeight(inspection.reader, keyHistoryName(kind)));
  }

  /** Each unspent output was paid by a transaction, or a grant, that has a row. */
  expect(coins: readonly Coin[]): void {
    const { inspection, kind, column } = this;
    this.utxos += coins.length;
    const keyed = coins.filter((coin) => heightOf(coin) >= this.startHeight && keyOffset(coin.bytes, coin.at, kind) >= 0);
    if (keyed.length === 0) return;
    const rows = inspection.reader.getMany(
      column,
      keyed.map((coin) => rowKeyOf(coin, kind)),
    );
    for (let i = 0; i < keyed.length; i++) {
      const row = rows[i];
      if (row === undefined || readScriptTotals(row).fundedCount === 0)
        inspection.fault(column, keyed[i].keyBytes, 'does not know of the output');
    }
  }

  finish(): number {
    return this.counts().rows;
  }

  /** What came and went is what is there, key by key. Keys are hashes: any of their bits divide them evenly. */
  counts(): KeyRowCounts {
    const parts = Math.max(1, Math.ceil(this.utxos / VERIFY_BALANCE_OUTPUTS));
    const all = { rows: 0, funded: 0, spent: 0 };
    for (let part = 0; part < parts; part++) this.part((key) => readU16(key, 0) % parts === part, all);
    return all;
  }

  private part(isMine: (key: Uint8Array) => boolean, all: KeyRowCounts): void {
    const { inspection, column } = this;
    const left = this.unspentOf(isMine);
    // Rows of a key stand together, so that only one sum is open.
    let [key, sum]: [string, OutputSum] = ['', { count: 0, value: 0n }];
    for (const [row, value] of inspection.reader.scan(column)) {
      if (!isMine(row)) continue;
      const totals = readScriptTotals(value);
      const own = toHex(row, 0, KEY_BYTES);
      if (own !== key) {
        this.close(left, key, sum);
        [key, sum] = [own, { count: 0, value: 0n }];
      }
      sum.count += totals.fundedCount - totals.spentCount;
      sum.value += totals.fundedSum - totals.spentSum;
      all.funded += totals.fundedCount;
      all.spent += totals.spentCount;
      inspection.progress(column, ++all.rows);
    }
    this.close(left, key, sum);
    for (const [unmet, { count }] of left) inspection.fault(column, fromHex(unmet), `has no rows; ${count} outputs are unspent`);
  }

  /** What is unspent by key; empty where the history began later, because then nothing follows from it. */
  private unspentOf(isMine: (key: Uint8Array) => boolean): Map<string, OutputSum> {
    const left = new Map<string, OutputSum>();
    if (this.startHeight > 0) return left;
    const { reader, unreadable, ledger } = this.inspection;
    for (const [outpoint, row] of reader.scan(UNSPENT)) {
      if (unreadable.has(toHex(outpoint))) continue;
      const stored = wholeValue(row, 0, ledger);
      const at = keyOffset(stored, 0, this.kind);
      if (at >= 0 && isMine(stored.subarray(at))) addOutput(left, toHex(stored, at, at + KEY_BYTES), readBigU64(stored, AT.value));
    }
    return left;
  }

  private close(left: Map<string, OutputSum>, key: string, { count, value }: OutputSum): void {
    if (this.startHeight > 0) return;
    const unspent = left.get(key) ?? { count: 0, value: 0n };
    left.delete(key);
    if (count === unspent.count && value === unspent.value) return;
    this.inspection.fault(
      this.column,
      fromHex(key),
      `leaves ${value} in ${count} outputs; ${unspent.value} in ${unspent.count} are unspent`,
    );
  }
}

export function heightOf({ bytes, at }: Coin): number {
  return readU32(bytes, at + AT.height);
}

function rowKeyOf(coin: Coin, kind: KeyKind): Uint8Array {
  const at = keyOffset(coin.bytes, coin.at, kind);
  return historyKey(coin.bytes.subarray(at, at + KEY_BYTES), heightOf(coin), creatorIndex(coin));
}

export function addOutput(sums: Map<string, OutputSum>, key: string, value: bigint): void {
  const known = sums.get(key);
  if (known === undefined) sums.set(key, { count: 1, value });
  else {
    known.count++;
    known.value += value;
  }
}
