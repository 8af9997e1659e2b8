/**
 * The records of a block file: magic, length, block, one behind the other in
 * order of arrival, with zeros behind the last. Only the beginning of each is
 * looked at: many in one read while they are small, a short read each when they
 * are large.
 *
 * What is no record is passed over up to the next magic: a node that was killed
 * leaves such places behind.
 */
import { closeSync, fstatSync, readSync } from 'node:fs';
import { openRegular } from '../../../files/regular.ts';
import { HEADER_BYTES } from '../../../ledgers/bitcoin/index.ts';
import { copyBytes } from '../../../util/bytes.ts';
import { BLK_LOOK_BYTES_MAX, BLK_LOOK_BYTES_MIN, BLOCK_BYTES_MAX } from '../../../util/limits.ts';
import { unreadable } from './folder.ts';
import { xorWithKey } from './xor.ts';

const PREFIX_BYTES = 8;
/** A long look that finds fewer records than this is not worth its length. */
const RECORDS_PER_LOOK = 4;

export interface BlockRecord {
  /** Where the record begins, where its block does, and how long that is. */
  readonly start: number;
  readonly offset: number;
  readonly length: number;
  /** 80 bytes of its own. */
  readonly header: Uint8Array;
}

export class RecordReader {
  readonly path: string;
  readonly size: number;
  private readonly fd: number;
  private readonly key: Uint8Array | null;
  private readonly magicNumber: number;
  /** As it stands in a file. */
  private readonly magic = Buffer.alloc(4);
  private readonly buffer = Buffer.allocUnsafeSlow(BLK_LOOK_BYTES_MAX);
  /** What was read last, and from where. */
  private view: Buffer = this.buffer.subarray(0, 0);
  private viewAt = 0;
  private foundInLook = 0;

  /** Throws SOURCE_UNREACHABLE. */
  constructor(path: string, magic: number, key: Uint8Array | null) {
    this.path = path;
    this.key = key;
    this.magicNumber = magic;
    this.magic.writeUInt32BE(magic);
    try {
      this.fd = openRegular(path);
      this.size = fstatSync(this.fd).size;
    } catch (error) {
      throw unreadable(path, error);
    }
  }

  close(): void {
    closeSync(this.fd);
  }

  /** The four bytes the file begins with; null: there are none, or only zeros. */
  firstMagic(): number | null {
    if (this.size < 4) return null;
    const first = this.read(0, 4);
    return first.every((byte) => byte === 0) ? null : Buffer.from(this.plain(first, 0)).readUInt32BE();
  }

  /** From `start`, where one is expected. While the file grows it ends before one that is cut off, because that is being written. */
  *records(start: number, isGrowing: boolean): Generator<BlockRecord, void, undefined> {
    let expected = start;
    for (let at = start; at >= 0; ) {
      const record = this.recordAt(at);
      if (record !== null && record.offset + record.length <= this.size) {
        this.foundInLook++;
        yield record;
        at = expected = record.offset + record.length;
        continue;
      }
      if (record !== null && at === expected && isGrowing) return;
      at = this.search(at + 1);
    }
  }

  /** A whole block. Throws SOURCE_UNREACHABLE. */
  block({ offset, length }: BlockRecord): Uint8Array {
    return this.plain(this.read(offset, length), offset);
  }

  /** What claims to be a record; null: nothing does. */
  private recordAt(at: number): BlockRecord | null {
    const headerAt = at + PREFIX_BYTES;
    if (!this.look(at, PREFIX_BYTES + HEADER_BYTES)) return null;
    const from = at - this.viewAt;
    if (this.view.readUInt32BE(from) !== this.magicNumber) return null;
    const length = this.view.readUInt32LE(from + 4);
    if (length <= HEADER_BYTES || length > BLOCK_BYTES_MAX) return null;
    const header = new Uint8Array(HEADER_BYTES);
    copyBytes(this.view, from + PREFIX_BYTES, header, 0, HEADER_BYTES);
    return { start: at, offset: headerAt, length, header };
  }

  /** The next place with the magic; -1: none. */
  private search(from: number): number {
    for (let at = from; this.look(at, this.magic.length, BLK_LOOK_BYTES_MAX); at = this.viewAt + this.view.length - this.magic.length + 1) {
      const found = this.view.indexOf(this.magic, at - this.viewAt);
      if (found >= 0) return this.viewAt + found;
    }
    return -1;
  }

  /** Sees to it that so many bytes from there on are in view; false: the file ends before. */
  private look(at: number, bytes: number, lookBytes = this.worthwhile()): boolean {
    if (at >= this.viewAt && at + bytes <= this.viewAt + this.view.length) return true;
    if (at + bytes > this.size) return false;
    this.foundInLook = 0;
    this.view = this.buffer.subarray(0, Math.min(lookBytes, this.size - at));
    this.viewAt = at;
    this.fill(this.view, at);
    this.plain(this.view, at);
    return true;
  }

  /** By what the last look found. */
  private worthwhile(): number {
    return this.view.length > 0 && this.foundInLook < RECORDS_PER_LOOK ? BLK_LOOK_BYTES_MIN : BLK_LOOK_BYTES_MAX;
  }

  private read(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(length);
    this.fill(bytes, at);
    return bytes;
  }

  private fill(bytes: Buffer, at: number): void {
    let got = 0;
    try {
      got = readSync(this.fd, bytes, 0, bytes.length, at);
    } catch (error) {
      throw unreadable(this.path, error);
    }
    if (got < bytes.length) throw unreadable(this.path, new Error('it became shorter while it was read'));
  }

  /** The same bytes without the key, and as what they are: a Buffer's `slice` would not copy. */
  private plain(bytes: Buffer, at: number): Uint8Array {
    const plain = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    if (this.key !== null) xorWithKey(plain, this.key, at);
    return plain;
  }
}
