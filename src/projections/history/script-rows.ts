/**
 * What the transactions of a block do to scripts, gathered from the coins of a
 * step: one row for each script a transaction touches, however many outputs of
 * it that is. On the path of every block, so without strings and bigints where
 * few scripts meet.
 */
import { KEY_BYTES } from '../../ledgers/ledger.ts';
import { readU32, toHex } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import { AT, type Coin, keyOffset } from '../coin.ts';
import type { StepBlock } from '../projection.ts';

/** Every output a ledger with such a history has is owned by a script. */
export function scriptKeyAt(coin: Coin): number {
  const at = keyOffset(coin.bytes, coin.at, 'address');
  assert(at >= 0, 'an output has the key of its script');
  return at;
}

/** What a transaction does to a script. Sums in two halves: exact for two million outputs, and no bigint per output. */
export class ScriptRow {
  /** One of its coins, for the key. */
  readonly coin: Coin;
  readonly height: number;
  readonly txIndex: number;
  fundedCount = 0;
  fundedHi = 0;
  fundedLo = 0;
  spentCount = 0;
  spentHi = 0;
  spentLo = 0;

  constructor(coin: Coin, height: number, txIndex: number) {
    this.coin = coin;
    this.height = height;
    this.txIndex = txIndex;
  }

  fund({ bytes, at }: Coin): void {
    this.fundedCount++;
    this.fundedHi += readU32(bytes, at + AT.value);
    this.fundedLo += readU32(bytes, at + AT.value + 4);
  }

  spend({ bytes, at }: Coin): void {
    this.spentCount++;
    this.spentHi += readU32(bytes, at + AT.value);
    this.spentLo += readU32(bytes, at + AT.value + 4);
  }
}

/** Behind every transaction a block can hold. */
const NO_TX = 0xffff_ffff;

/** Adds the rows of a block: its coins stand in the order of its transactions, so one walk over both lists meets each transaction once. */
export function scriptRows({ created, spent, height }: StepBlock, rows: ScriptRow[]): void {
  let [c, s, last] = [0, 0, -1];
  while (c < created.length || s < spent.length) {
    const txIndex = Math.min(creatorOf(created, c), spenderOf(spent, s));
    assert(txIndex > last && txIndex < NO_TX, 'coins stand in the order of their transactions');
    last = txIndex;
    const own = new TxRows(rows, height, txIndex);
    for (; spenderOf(spent, s) === txIndex; s++) own.of(spent[s]).spend(spent[s]);
    for (; creatorOf(created, c) === txIndex; c++) own.of(created[c]).fund(created[c]);
  }
}

function creatorOf(created: readonly Coin[], i: number): number {
  return i < created.length ? readU32(created[i].bytes, created[i].at + AT.txIndex) : NO_TX;
}

function spenderOf(spent: readonly Coin[], i: number): number {
  return i < spent.length ? (spent[i].spender?.txIndex ?? NO_TX) : NO_TX;
}

/** Looking through so few rows is cheaper than making strings of their keys. */
const SEARCHED_ROWS_MAX = 12;

/** The rows of one transaction, at the end of those of the step. */
class TxRows {
  private readonly rows: ScriptRow[];
  private readonly from: number;
  private readonly height: number;
  private readonly txIndex: number;
  private byKey: Map<string, ScriptRow> | null = null;

  constructor(rows: ScriptRow[], height: number, txIndex: number) {
    this.rows = rows;
    this.from = rows.length;
    this.height = height;
    this.txIndex = txIndex;
  }

  of(coin: Coin): ScriptRow {
    const known = this.find(coin);
    if (known !== undefined) return known;
    const row = new ScriptRow(coin, this.height, this.txIndex);
    this.rows.push(row);
    this.byKey?.set(keyText(coin), row);
    return row;
  }

  private find(coin: Coin): ScriptRow | undefined {
    const { rows, from } = this;
    if (rows.length - from > SEARCHED_ROWS_MAX) {
      this.byKey ??= new Map(rows.slice(from).map((row) => [keyText(row.coin), row]));
      return this.byKey.get(keyText(coin));
    }
    for (let i = from; i < rows.length; i++) if (isSameScript(rows[i].coin, coin)) return rows[i];
    return undefined;
  }
}

function isSameScript(a: Coin, b: Coin): boolean {
  const [atA, atB] = [scriptKeyAt(a), scriptKeyAt(b)];
  for (let i = 0; i < KEY_BYTES; i++) if (a.bytes[atA + i] !== b.bytes[atB + i]) return false;
  return true;
}

function keyText(coin: Coin): string {
  const at = scriptKeyAt(coin);
  return toHex(coin.bytes, at, at + KEY_BYTES);
}
