/**
 * The places against the unspent set: each output has its own with the id of its
 * transaction, and there is none besides.
 */
import { TXID_BYTES } from '../ledgers/outpoint.ts';
import { equalBytes } from '../util/bytes.ts';
import type { Coin } from './coin.ts';
import type { Inspection, ProjectionCheck } from './inspection.ts';
import { PLACE, PLACE_BYTES, writePlace } from './place.ts';

const NO_KEY = new Uint8Array(0);

export class PlaceCheck implements ProjectionCheck {
  readonly column = PLACE;
  readonly #inspection: Inspection;
  #wanted = 0;

  constructor(inspection: Inspection) {
    this.#inspection = inspection;
  }

  expect(rows: readonly Coin[]): void {
    const keys = rows.map((coin) => {
      const key = new Uint8Array(PLACE_BYTES);
      writePlace(coin, key, 0);
      return key;
    });
    const found = this.#inspection.reader.getMany(PLACE, keys);
    for (const [i, { keyBytes, keyAt }] of rows.entries()) {
      const txId = found[i];
      if (txId !== undefined && equalBytes(txId, keyBytes.subarray(keyAt, keyAt + TXID_BYTES))) continue;
      this.#inspection.fault(PLACE, keys[i], txId === undefined ? 'is missing' : 'has another transaction');
    }
    this.#wanted += rows.length;
  }

  finish(): number {
    let count = 0;
    for (const _ of this.#inspection.reader.scan(PLACE)) this.#inspection.progress(PLACE, ++count);
    if (count !== this.#wanted) this.#inspection.fault(PLACE, NO_KEY, `has ${count} rows, the unspent set asks for ${this.#wanted}`);
    return count;
  }
}
