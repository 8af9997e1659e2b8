/**
 * Records of one step, copied one behind the other into one run of bytes and
 * found by their ids: whoever goes through many of them follows numbers, and
 * makes no object for any.
 */
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { copyBytes } from '../../util/bytes.ts';
import { idHash, isSameId } from '../../util/id-map.ts';

const BYTES_FIRST = 64 * 1024;
const PLACES_FIRST = 256;
/** Where there is no record. */
export const NO_ROW = -1;

export class RowTable {
  bytes = new Uint8Array(BYTES_FIRST);
  #end = 0;
  /** Where the id of each stands, and where its row begins and ends. */
  readonly idAt: number[] = [];
  readonly rowAt: number[] = [];
  readonly rowEnd: number[] = [];
  /** Numbers of those that can be found, plus one, by a hash of the id; 0: free. */
  #places = new Int32Array(PLACES_FIRST);
  #found = 0;

  clear(): void {
    this.#end = this.#found = 0;
    this.idAt.length = this.rowAt.length = this.rowEnd.length = 0;
    this.#places.fill(0);
  }

  /** The number of a record whose id stands in other bytes. It cannot be found yet. */
  add(ids: Uint8Array, idAt: number, row: Uint8Array): number {
    this.#need(TXID_BYTES);
    copyBytes(ids, idAt, this.bytes, this.#end, TXID_BYTES);
    const n = this.#push(this.#end);
    this.#end += TXID_BYTES;
    this.setRow(n, row, 0, row.length);
    return n;
  }

  /** The number of a record whose id stands in these bytes; it can be found, and has no row yet. */
  addId(at: number): number {
    const n = this.#push(at);
    this.enter(n);
    return n;
  }

  setRow(n: number, from: Uint8Array, at: number, length: number): void {
    this.#need(length);
    this.bytes.set(at === 0 && length === from.length ? from : from.subarray(at, at + length), this.#end);
    this.rowAt[n] = this.#end;
    this.#end += length;
    this.rowEnd[n] = this.#end;
  }

  /** It can be found from here on. */
  enter(n: number): void {
    if (2 * ++this.#found > this.#places.length) this.#grow();
    this.#places[this.#placeOf(this.idAt[n])] = n + 1;
  }

  /** The number of the record with the id that stands there; -1: there is none. */
  find(at: number): number {
    return this.#places[this.#placeOf(at)] - 1;
  }

  #push(idAt: number): number {
    this.rowAt.push(NO_ROW);
    this.rowEnd.push(NO_ROW);
    return this.idAt.push(idAt) - 1;
  }

  #placeOf(at: number): number {
    const mask = this.#places.length - 1;
    for (let place = idHash(this.bytes, at) & mask; ; place = (place + 1) & mask) {
      const n = this.#places[place];
      if (n === 0 || isSameId(this.bytes, this.idAt[n - 1], this.bytes, at)) return place;
    }
  }

  #grow(): void {
    const known = this.#places;
    this.#places = new Int32Array(4 * known.length);
    for (const n of known) if (n !== 0) this.#places[this.#placeOf(this.idAt[n - 1])] = n;
  }

  #need(length: number): void {
    if (this.#end + length <= this.bytes.length) return;
    const { bytes } = this;
    this.bytes = new Uint8Array(Math.max(2 * bytes.length, this.#end + length));
    this.bytes.set(bytes.subarray(0, this.#end));
  }
}
