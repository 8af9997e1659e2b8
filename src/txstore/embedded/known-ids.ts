/**
 * Which ids certainly have no record, so that nobody has to look: how many
 * records there are, by a hash of their id. Where the count is 0 there is none;
 * elsewhere the store decides.
 *
 * After a restart it learns the ids that are there already step by step, in the
 * order of the keys: of those behind what it has read nothing is certain.
 */
import type { Reader } from '../../engine/engine.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { readU32, writeU32 } from '../../util/bytes.ts';
import { idHash } from '../../util/id-map.ts';
import { TX_RECORD } from './columns.ts';

/** One count for each record leaves every third id to be looked up in vain, sixteen leave one of seventeen. */
const COUNTS_PER_RECORD = 16;
/** With less for each record it begins anew with more of them. */
const COUNTS_PER_RECORD_MIN = 5;
/** 32 MB: with 6 million records one id in six is looked up in vain. */
const COUNTS_MAX = 2 ** 25;
/** A count that has reached it stays: nobody knows how many there are then. */
const COUNT_MAX = 0xff;
/** Behind the first four bytes of every id. */
const PREFIX_END = 2 ** 32;

export class KnownIds {
  readonly #counts: Uint8Array;
  /** Ids whose first four bytes are a smaller number have been counted. */
  #end: number;

  /** `countsMin`: a power of two. */
  constructor(records: number, countsMin: number) {
    this.#counts = new Uint8Array(countsFor(records, countsMin));
    this.#end = records === 0 ? PREFIX_END : 0;
  }

  /** Whether another one for so many records would be better. */
  isSmallFor(records: number): boolean {
    return this.#counts.length < COUNTS_MAX && this.#counts.length < COUNTS_PER_RECORD_MIN * records;
  }

  /** Reads so many more of the ids that are stored, or a few more. */
  learn(reader: Reader, rows: number): void {
    if (this.#end === PREFIX_END) return;
    const gte = new Uint8Array(TXID_BYTES);
    writeU32(gte, 0, this.#end);
    const keys = [...reader.scan(TX_RECORD, { gte, limit: rows })].map(([key]) => key);
    const ids = keys.filter(({ length }) => length === TXID_BYTES);
    const end = keys.length < rows ? PREFIX_END : ids.length === 0 ? this.#end : readU32(ids[ids.length - 1], 0);
    // Several may have the same first bytes: those of the last are read again, or by a longer step.
    if (end === this.#end) {
      this.learn(reader, 2 * rows);
      return;
    }
    for (const id of ids) if (readU32(id, 0) < end) this.#count(idHash(id));
    this.#end = end;
  }

  /** There is a record with this id from here on. */
  add(id: Uint8Array): void {
    if (readU32(id, 0) < this.#end) this.#count(idHash(id));
  }

  addAll(ids: readonly Uint8Array[]): void {
    for (let n = 0; n < ids.length; n++) this.add(ids[n]);
  }

  /** The record with the id that stands at `at` is gone. */
  remove(ids: Uint8Array, at = 0): void {
    if (readU32(ids, at) >= this.#end) return;
    const place = this.#placeOf(idHash(ids, at));
    if (this.#counts[place] < COUNT_MAX) this.#counts[place]--;
  }

  /** Those that may have a record. One loop for each step: what it reads is far apart, as in `RowCache.findAll`. */
  thatMayBe(ids: readonly Uint8Array[]): Uint8Array[] {
    const places = new Uint32Array(ids.length);
    for (let n = 0; n < ids.length; n++) places[n] = this.#placeOf(idHash(ids[n]));
    for (let n = 0; n < ids.length; n++) places[n] = this.#counts[places[n]];
    const found: Uint8Array[] = [];
    for (let n = 0; n < ids.length; n++) if (places[n] !== 0 || readU32(ids[n], 0) >= this.#end) found.push(ids[n]);
    return found;
  }

  #count(hash: number): void {
    const place = this.#placeOf(hash);
    if (this.#counts[place] < COUNT_MAX) this.#counts[place]++;
  }

  #placeOf(hash: number): number {
    return hash & (this.#counts.length - 1);
  }
}

function countsFor(records: number, countsMin: number): number {
  return Math.min(COUNTS_MAX, Math.max(countsMin, 2 ** Math.ceil(Math.log2(COUNTS_PER_RECORD * records + 1))));
}
