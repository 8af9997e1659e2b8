/**
 * Datums or scripts by hash: each row is bytes of that hash, seen in a
 * transaction of our chain; and what an unspent output carries is there, seen
 * no later than in that output.
 */

import type { WitnessKind } from '../../ledgers/ledger.ts';
import { equalBytes, readU64, toHex } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import { SCAN_ROWS } from '../../util/limits.ts';
import { CHAIN, chainKey, readChainRow } from '../chain.ts';
import { AT, type Coin } from '../coin.ts';
import type { Inspection } from '../inspection.ts';
import { readTxRow, TX } from '../transactions.ts';
import { readSeen, type SeenRow, seenColumn, witnessesOf } from './seen.ts';

export class SeenCheck {
  readonly column: string;
  private readonly inspection: Inspection;
  private readonly kind: WitnessKind;

  constructor(inspection: Inspection, kind: WitnessKind) {
    this.column = seenColumn(kind);
    this.inspection = inspection;
    this.kind = kind;
  }

  expect(rows: readonly Coin[]): void {
    const { column, inspection } = this;
    const wanted = rows.flatMap((coin) => {
      const item = witnessesOf(this.kind, this.traits, coin.bytes, 0, coin.bytes.length);
      return item === null ? [] : [{ item, slot: readU64(coin.bytes, AT.slot) }];
    });
    const found = inspection.reader.getMany(
      column,
      wanted.map(({ item }) => item.hash),
    );
    for (let i = 0; i < wanted.length; i++) {
      const { item, slot } = wanted[i];
      const value = found[i];
      if (value === undefined) inspection.fault(column, item.hash, 'is missing, and an unspent output carries it');
      else if (readSeen(value).slot > slot) inspection.fault(column, item.hash, `was seen at slot ${slot}, before it says`);
    }
  }

  private get traits() {
    const { traits } = this.inspection.ledger;
    assert(traits !== null, `a store with ${this.column}s has a ledger with traits`);
    return traits;
  }

  finish(): number {
    const { column, inspection } = this;
    let count = 0;
    let rows: { hash: Uint8Array; row: SeenRow }[] = [];
    const flush = (): void => {
      this.places(rows);
      rows = [];
    };
    for (const [hash, value] of inspection.reader.scan(column)) {
      const row = readSeen(value);
      this.named(hash, row.bytes);
      rows.push({ hash, row });
      if (rows.length === SCAN_ROWS) flush();
      inspection.progress(column, ++count);
    }
    flush();
    return count;
  }

  private named(hash: Uint8Array, bytes: Uint8Array): void {
    const { column, inspection } = this;
    try {
      if (!equalBytes(this.traits.hashOf(this.kind, bytes), hash)) inspection.fault(column, hash, 'is not the hash of its bytes');
    } catch (error) {
      inspection.fault(column, hash, `its bytes do not decode: ${(error as Error).message}`);
    }
  }

  /** Each was seen in a transaction of our chain, at the height and slot of its block; unless that was before the snapshot we began with. */
  private places(rows: readonly { readonly hash: Uint8Array; readonly row: SeenRow }[]): void {
    const { column, inspection } = this;
    const txs = inspection.reader.getMany(
      TX,
      rows.map(({ row }) => row.txId),
    );
    const keys = rows.map(({ row }) => chainKey(row.height, false));
    const blocks = inspection.reader.getMany(CHAIN, keys);
    for (let i = 0; i < rows.length; i++) {
      const { hash, row } = rows[i];
      const [tx, block] = [txs[i], blocks[i]];
      if (tx === undefined && inspection.base !== null && row.height <= inspection.base.height) continue;
      const sameHeight = tx !== undefined && readTxRow(tx).height === row.height;
      if (sameHeight && block !== undefined && readChainRow(keys[i], block).slot === row.slot) continue;
      inspection.fault(
        column,
        hash,
        `names transaction ${toHex(row.txId)} at height ${row.height} and slot ${row.slot}, which is not there`,
      );
    }
  }
}
