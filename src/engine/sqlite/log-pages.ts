/**
 * The pages in SQLite's log (https://www.sqlite.org/walformat.html): a header,
 * then frames, each a page with its number. Read to know which pages are moved
 * from it into the tables, and with what content (page-sums.ts).
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { PAGE_BYTES } from './files.ts';
import { pageSum } from './page-sums.ts';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES;
/** About 1 MB at a time. */
const FRAMES_READ = 256;
/** The last bit says whether checksums are of words with the high byte first. */
const MAGIC = 0x377f0682;
const SALT = { from: 16, to: 24 } as const;

interface Frame {
  readonly number: number;
  readonly bytes: Buffer;
}

interface LoggedPage {
  /** The last that holds it. */
  readonly frame: number;
  readonly sum: number;
}

/** Follows one log as it grows and begins anew. */
export class LogPages {
  readonly #path: string;
  readonly #pages = new Map<number, LoggedPage>();
  /** Tells one log from the next in the same file. */
  #salt = '';
  #read = 0;
  #moved = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Pages that a checkpoint has moved since the last one said to be recorded, with their checksums: of `logged` frames it
   * moved the first `moved`, but no page that a later frame holds again.
   */
  movedPages(logged: number, moved: number): Map<number, number> {
    if (logged > 0) this.#readTo(logged);
    const pages = new Map<number, number>();
    for (const [page, { frame, sum }] of this.#pages) if (frame > this.#moved && frame <= moved) pages.set(page, sum);
    return pages;
  }

  recorded(moved: number): void {
    this.#moved = moved;
  }

  #readTo(logged: number): void {
    const file = openSync(this.#path, 'r');
    try {
      const salt = readHeader(file).toString('latin1', SALT.from, SALT.to);
      if (salt !== this.#salt) {
        this.#pages.clear();
        [this.#salt, this.#read, this.#moved] = [salt, 0, 0];
      }
      for (const { number, bytes } of frames(file, this.#read, logged)) {
        this.#pages.set(bytes.readUInt32BE(0), { frame: number, sum: pageSum(bytes.subarray(FRAME_HEADER_BYTES)) });
        this.#read = number;
      }
    } finally {
      closeSync(file);
    }
  }
}

/** Pages that SQLite will take from a log that was left behind: of frames up to the last commit whose checksums are right. */
export function recoverablePages(path: string): ReadonlySet<number> {
  const pages = new Set<number>();
  const file = openSync(path, 'r');
  try {
    const header = readHeader(file);
    const magic = header.readUInt32BE(0);
    if ((magic & ~1) >>> 0 !== MAGIC || header.readUInt32BE(8) !== PAGE_BYTES) return pages;
    const sum = new LogChecksum((magic & 1) === 1);
    sum.add(header.subarray(0, 24));
    if (!sum.equals(header, 24)) return pages;
    let uncommitted: number[] = [];
    for (const { bytes } of frames(file, 0, Number.POSITIVE_INFINITY)) {
      if (bytes.compare(header, SALT.from, SALT.to, 8, 16) !== 0) break;
      sum.add(bytes.subarray(0, 8));
      sum.add(bytes.subarray(FRAME_HEADER_BYTES));
      if (!sum.equals(bytes, 16)) break;
      uncommitted.push(bytes.readUInt32BE(0));
      const isCommit = bytes.readUInt32BE(4) !== 0;
      if (!isCommit) continue;
      for (const page of uncommitted) pages.add(page);
      uncommitted = [];
    }
    return pages;
  } finally {
    closeSync(file);
  }
}

function readHeader(file: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  readSync(file, header, 0, HEADER_BYTES, 0);
  return header;
}

/** Whole frames only, numbered from one, after the first `from`. They share a buffer. */
function* frames(file: number, from: number, to: number): Generator<Frame, void, void> {
  const last = Math.min(to, Math.floor((fstatSync(file).size - HEADER_BYTES) / FRAME_BYTES));
  const buffer = Buffer.allocUnsafeSlow(FRAMES_READ * FRAME_BYTES);
  for (let at = from; at < last; at += FRAMES_READ) {
    const wanted = Math.min(FRAMES_READ, last - at) * FRAME_BYTES;
    const read = readSync(file, buffer, 0, wanted, HEADER_BYTES + at * FRAME_BYTES);
    for (let frame = 0; (frame + 1) * FRAME_BYTES <= read; frame++) {
      yield { number: at + frame + 1, bytes: buffer.subarray(frame * FRAME_BYTES, (frame + 1) * FRAME_BYTES) };
    }
  }
}

/** Of everything from the beginning of the log, two words at a time. */
class LogChecksum {
  readonly #isBigEndian: boolean;
  #first = 0;
  #second = 0;

  constructor(isBigEndian: boolean) {
    this.#isBigEndian = isBigEndian;
  }

  add(bytes: Buffer): void {
    const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const isLittleEndian = !this.#isBigEndian;
    let [first, second] = [this.#first, this.#second];
    for (let at = 0; at < bytes.length; at += 8) {
      first = (first + words.getUint32(at, isLittleEndian) + second) | 0;
      second = (second + words.getUint32(at + 4, isLittleEndian) + first) | 0;
    }
    [this.#first, this.#second] = [first, second];
  }

  equals(bytes: Buffer, at: number): boolean {
    return bytes.readInt32BE(at) === this.#first && bytes.readInt32BE(at + 4) === this.#second;
  }
}
