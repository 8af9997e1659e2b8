/**
 * An index against the unspent set: each output has its rows there, and there
 * is no row that no output asks for.
 */

import type { Row } from '../../engine/engine.ts';
import { KEY_BYTES, KEY_KINDS, type KeyKind } from '../../ledgers/ledger.ts';
import { outpointKey, TXID_BYTES } from '../../ledgers/outpoint.ts';
import { equalBytes, toHex } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import { SCAN_ROWS } from '../../util/limits.ts';
import { Scratch } from '../../util/scratch.ts';
import { type Coin, keyOffset } from '../coin.ts';
import type { Inspection } from '../inspection.ts';
import { wholeValue } from '../packed.ts';
import { keepsPlaces, txIdsOf } from '../place.ts';
import { UNSPENT } from '../utxo.ts';
import { INDEX_KEY_BYTES, type IndexKind, indexColumn, indexKeyOutput, rowValues, type TraitKind, writeRowKey } from './by-key.ts';
import { traitKeys } from './by-trait.ts';

const NONE: readonly Uint8Array[] = Object.freeze([]);
const NO_KEY = new Uint8Array(0);

export class IndexCheck {
  readonly column: string;
  private readonly inspection: Inspection;
  private readonly kind: IndexKind;
  private readonly valueFor: (coin: Coin) => Uint8Array;
  private readonly scratch = new Scratch(INDEX_KEY_BYTES);
  private wanted = 0;
  private faulty = false;

  constructor(inspection: Inspection, kind: IndexKind) {
    this.column = indexColumn(kind);
    this.inspection = inspection;
    this.kind = kind;
    this.valueFor = rowValues(inspection.ledger);
  }

  expect(rows: readonly Coin[]): void {
    const { column, inspection } = this;
    const wanted = rows.flatMap((coin) =>
      this.keysOf(coin.bytes).map((key) => ({ coin, key: new Uint8Array(writeRowKey(key, 0, coin, this.scratch)) })),
    );
    const found = inspection.reader.getMany(
      column,
      wanted.map(({ key }) => key),
    );
    for (let i = 0; i < wanted.length; i++) {
      const { coin, key } = wanted[i];
      const value = found[i];
      if (value !== undefined && equalBytes(value, this.valueFor(coin))) continue;
      this.faulty = true;
      inspection.fault(column, key, value === undefined ? 'is missing' : 'names another transaction');
    }
    this.wanted += wanted.length;
  }

  private keysOf(stored: Uint8Array): readonly Uint8Array[] {
    const { kind } = this;
    if (isKeyKind(kind)) {
      const at = keyOffset(stored, 0, kind);
      return at < 0 ? NONE : [stored.subarray(at, at + KEY_BYTES)];
    }
    const { traits } = this.inspection.ledger;
    assert(traits !== null, `a store with the ${kind} index has a ledger with traits`);
    return traitKeys(kind, traits, stored, 0, stored.length);
  }

  finish(): number {
    const { column, inspection } = this;
    let count = 0;
    for (const _ of inspection.reader.scan(column)) inspection.progress(column, ++count);
    // All that are asked for are there, and there are as many: then there is no other.
    if (count === this.wanted && !this.faulty) return count;
    this.nameOthers();
    if (count !== this.wanted) inspection.fault(column, NO_KEY, `has ${count} rows, the unspent set asks for ${this.wanted}`);
    return count;
  }

  private nameOthers(): void {
    let rows: Row[] = [];
    for (const row of this.inspection.reader.scan(this.column)) {
      rows.push(row);
      if (rows.length < SCAN_ROWS) continue;
      this.outputs(rows);
      rows = [];
    }
    this.outputs(rows);
  }

  /** Each row names an unspent output that has its key. */
  private outputs(rows: readonly Row[]): void {
    const { column, inspection } = this;
    const names = rows.map(([key, value]): Row => (keepsPlaces(inspection.ledger) ? [key, NO_KEY] : [key, value]));
    const txIds = txIdsOf(inspection.reader, names);
    const outpoints = rows.map(([key], i) => outpointKey(idOr(txIds[i]), indexKeyOutput(key)));
    const values = inspection.reader.getMany(UNSPENT, outpoints);
    for (let i = 0; i < rows.length; i++) {
      const key = rows[i][0].subarray(0, KEY_BYTES);
      const value = inspection.unreadable.has(toHex(outpoints[i])) ? undefined : values[i];
      if (value !== undefined && this.keysOf(wholeValue(value, 0, inspection.ledger)).some((own) => equalBytes(own, key))) continue;
      inspection.fault(column, rows[i][0], 'names an output that is not unspent there');
    }
  }
}

/** An id that no transaction has, where a row names none. */
function idOr(txId: Uint8Array | undefined): Uint8Array {
  return txId?.length === TXID_BYTES ? txId : new Uint8Array(TXID_BYTES);
}

function isKeyKind(kind: KeyKind | TraitKind): kind is KeyKind {
  return (KEY_KINDS as readonly string[]).includes(kind);
}
