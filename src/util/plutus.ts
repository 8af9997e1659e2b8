/**
 * The little of Plutus data that proofs and datums are made of: constructors,
 * integers and bytes. Written as ledger libraries write it (lists of indefinite
 * length, bytes in pieces of 64). Read as a ledger reads it: any well-formed
 * encoding of the same data counts, because on chain the author of a
 * transaction chooses one.
 */
import { type Cursor, INDEFINITE } from './cbor.ts';
import type { CborWriter } from './cbor-write.ts';

/** Constructors 0 to 6 have tags of their own; tag 102 names any. */
const FIRST_TAG = 121;
const CONSTRUCTORS = 7;
const GENERAL_TAG = 102;
const PIECE_BYTES = 64;

/** Begins a constructor; `end` closes it. */
export function startConstructor(w: CborWriter, alternative: number): CborWriter {
  return w.tag(FIRST_TAG + alternative).startArray();
}

/** A constructor without fields; libraries write its list with a length. */
export function writeEmptyConstructor(w: CborWriter, alternative: number): CborWriter {
  return w.tag(FIRST_TAG + alternative).array(0);
}

/** Bytes: up to 64 as they are, more in pieces. */
export function writePlutusBytes(w: CborWriter, bytes: Uint8Array): CborWriter {
  if (bytes.length <= PIECE_BYTES) return w.bytes(bytes);
  w.startBytes();
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) w.bytes(bytes.subarray(at, at + PIECE_BYTES));
  return w.end();
}

/** A constructor and its fields: `read` takes them off the cursor; `more` says whether there is another one. */
export function readConstructor<T>(c: Cursor, read: (alternative: number, fields: ConstructorFields) => T): T {
  const at = c.at;
  const tag = c.tag();
  if (tag === GENERAL_TAG) {
    const outer = c.tuple(2, 'a constructor');
    const alternative = c.uint();
    const value = read(alternative, new ConstructorFields(c));
    c.close(outer);
    return value;
  }
  if (tag < FIRST_TAG || tag >= FIRST_TAG + CONSTRUCTORS) c.fail(`tag ${tag} is none of the constructors known here`, at);
  return read(tag - FIRST_TAG, new ConstructorFields(c));
}

/** The fields of a constructor, one after another. */
export class ConstructorFields {
  private readonly c: Cursor;
  private readonly count: number;
  private taken = 0;

  constructor(c: Cursor) {
    this.c = c;
    this.count = c.array();
  }

  /** True while there is another field; false once, at the end. */
  more(): boolean {
    return this.c.more(this.count, this.taken++);
  }

  /** Before each field that must be there. */
  next(): Cursor {
    const { c, count, taken } = this;
    if (count !== INDEFINITE && taken >= count) c.fail('a constructor with too few fields');
    this.taken++;
    return c;
  }

  end(): void {
    if (this.count === INDEFINITE) this.c.close(this.count);
    else if (this.taken !== this.count) this.c.fail('a constructor with too many fields');
  }
}

/** An integer that is a length or an index here. */
export function readCount(c: Cursor): number {
  const at = c.at;
  const value = c.bigInt();
  if (value < 0n || value > 0xffff_ffffn) c.fail('an integer out of range', at);
  return Number(value);
}

/** Bytes, of exactly `length` where given. */
export function readPlutusBytes(c: Cursor, length?: number): Uint8Array {
  const at = c.at;
  const bytes = c.byteString();
  if (length !== undefined && bytes.length !== length) c.fail(`expected ${length} bytes, found ${bytes.length}`, at);
  return bytes.slice();
}
