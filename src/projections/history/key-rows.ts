/**
 * What the transactions of a block do to the owners of outputs, gathered from
 * the coins of a step: one row for each key of a kind (a script or address, a
 * credential) that a transaction touches, however many outputs of it that is. On
 * the path of every block, so without strings and bigints where few keys meet.
 *
 * What the ledger itself does has rows of its own, behind those of every
 * transaction: each output it grants, and all of a key that it removes together.
 */
import { KEY_BYTES, type KeyKind } from '../../ledgers/ledger.ts';
import { readU32, toHex } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import { AT, type Coin, GRANT_TX_INDEX, keyOffset, NO_INPUT } from '../coin.ts';
import type { StepBlock } from '../projection.ts';

/** Stands for the ledger itself, which removes outputs without a transaction. */
export const LEDGER_INDEX = 0xffff_fffe;

/** What a transaction does to a key. Sums in two halves: exact for two million outputs, and no bigint per output. */
export class KeyRow {
  /** One of its coins, for the key. */
  readonly coin: Coin;
  /** Where the key stands in the bytes of the coin. */
  readonly keyAt: number;
  readonly height: number;
  readonly txIndex: number;
  fundedCount = 0;
  fundedHi = 0;
  fundedLo = 0;
  spentCount = 0;
  spentHi = 0;
  spentLo = 0;

  constructor(coin: Coin, keyAt: number, height: number, txIndex: number) {
    this.coin = coin;
    this.keyAt = keyAt;
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
export function keyRows({ created, spent, height }: StepBlock, kind: KeyKind, rows: KeyRow[]): void {
  let [c, s, last] = [0, 0, -1];
  // What the ledger itself does stands before all transactions.
  for (; isGrant(created, c); c++) new TxRows(rows, kind, height, creatorOf(created, c)).of(created[c])?.fund(created[c]);
  if (isRemoval(spent, s)) {
    const own = new TxRows(rows, kind, height, LEDGER_INDEX);
    for (; isRemoval(spent, s); s++) own.of(spent[s])?.spend(spent[s]);
  }
  while (c < created.length || s < spent.length) {
    const txIndex = Math.min(creatorOf(created, c), spenderOf(spent, s));
    assert(txIndex > last && txIndex < GRANT_TX_INDEX, 'coins stand in the order of their transactions');
    last = txIndex;
    const own = new TxRows(rows, kind, height, txIndex);
    for (; spenderOf(spent, s) === txIndex; s++) own.of(spent[s])?.spend(spent[s]);
    for (; creatorOf(created, c) === txIndex; c++) own.of(created[c])?.fund(created[c]);
  }
}

/** Which transaction of its block made it; from GRANT_TX_INDEX on: the ledger. */
export function creatorIndex({ bytes, at }: Coin): number {
  return readU32(bytes, at + AT.txIndex);
}

/** Which transaction of its block spent it; LEDGER_INDEX: the ledger itself. */
export function spenderIndex({ spender, input }: Coin): number {
  assert(spender !== null, 'a spent coin has a spender');
  return input === NO_INPUT ? LEDGER_INDEX : spender.txIndex;
}

function creatorOf(created: readonly Coin[], i: number): number {
  return i < created.length ? creatorIndex(created[i]) : NO_TX;
}

function isGrant(created: readonly Coin[], i: number): boolean {
  return i < created.length && creatorIndex(created[i]) >= GRANT_TX_INDEX;
}

function spenderOf(spent: readonly Coin[], i: number): number {
  return i < spent.length ? spenderIndex(spent[i]) : NO_TX;
}

function isRemoval(spent: readonly Coin[], i: number): boolean {
  return i < spent.length && spent[i].input === NO_INPUT;
}

/** Looking through so few rows is cheaper than making strings of their keys. */
const SEARCHED_ROWS_MAX = 12;

/** The rows of one transaction, at the end of those of the step. */
class TxRows {
  private readonly rows: KeyRow[];
  private readonly kind: KeyKind;
  private readonly from: number;
  private readonly height: number;
  private readonly txIndex: number;
  private byKey: Map<string, KeyRow> | null = null;

  constructor(rows: KeyRow[], kind: KeyKind, height: number, txIndex: number) {
    this.rows = rows;
    this.kind = kind;
    this.from = rows.length;
    this.height = height;
    this.txIndex = txIndex;
  }

  /** Undefined: the output has no key of this kind. */
  of(coin: Coin): KeyRow | undefined {
    const keyAt = keyOffset(coin.bytes, coin.at, this.kind);
    if (keyAt < 0) return undefined;
    const known = this.find(coin, keyAt);
    if (known !== undefined) return known;
    const row = new KeyRow(coin, keyAt, this.height, this.txIndex);
    this.rows.push(row);
    this.byKey?.set(keyText(coin, keyAt), row);
    return row;
  }

  private find(coin: Coin, keyAt: number): KeyRow | undefined {
    const { rows, from } = this;
    if (rows.length - from > SEARCHED_ROWS_MAX) {
      this.byKey ??= new Map(rows.slice(from).map((row) => [keyText(row.coin, row.keyAt), row]));
      return this.byKey.get(keyText(coin, keyAt));
    }
    for (let i = from; i < rows.length; i++) if (isSameKey(rows[i], coin, keyAt)) return rows[i];
    return undefined;
  }
}

function isSameKey({ coin, keyAt }: KeyRow, other: Coin, otherAt: number): boolean {
  for (let i = 0; i < KEY_BYTES; i++) if (coin.bytes[keyAt + i] !== other.bytes[otherAt + i]) return false;
  return true;
}

function keyText({ bytes }: Coin, keyAt: number): string {
  return toHex(bytes, keyAt, keyAt + KEY_BYTES);
}
