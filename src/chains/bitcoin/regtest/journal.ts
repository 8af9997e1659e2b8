/**
 * The blocks of a regtest chain in a file beside the store, so that store and
 * chain still fit after a restart. Behind a line of text that says whose it is
 * come records, only ever appended: how many of the last blocks are void, and
 * the blocks that come in their place, with a checksum over both. A turn of the
 * chain is one record, so that a file that ends early is that of an earlier
 * moment, never of none.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { sha256 } from '../../../crypto/sha256.ts';
import { openRegular } from '../../../files/regular.ts';
import { concatBytes, equalBytes, readU32, utf8, writeU32 } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';

export interface JournalBlock {
  readonly raw: Uint8Array;
  /** A byte a transaction: which of its outputs are the chain's own. */
  readonly owned: Uint8Array;
}

/** A block and where it begins in the file. */
export interface WrittenBlock extends JournalBlock {
  readonly at: number;
}

export interface JournalTurn {
  readonly undone: number;
  readonly blocks: readonly WrittenBlock[];
}

const TITLE = 'unspent regtest 1';
const TITLE_BYTES_MAX = 4096;
const CHECK_BYTES = 4;
/** Length of the payload; then undone and count at its beginning, and two lengths before each block. */
const HEAD_BYTES = 4;

export class Journal {
  private readonly path: string;
  private readonly file: number;
  private readonly first: number;
  private end: number;

  /** `about`: what the chain is made from; a journal of another is refused with CONFIG. */
  constructor(path: string, about: string) {
    this.path = path;
    const title = utf8(`${TITLE} ${about}\n`);
    // Before anything is read or written: a pipe would wait for ever, and take what is written without giving it back.
    if (existsSync(path)) closeSync(openRegular(path));
    if (!existsSync(path) || isBegun(path, title)) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, title);
    }
    this.file = openSync(path, 'r+');
    this.first = title.length;
    this.end = fstatSync(this.file).size;
    if (!this.isTitled(title)) {
      const found = new TextDecoder().decode(this.bytesAt(0, Math.min(this.end, TITLE_BYTES_MAX))).split('\n')[0];
      closeSync(this.file);
      throw new UnspentError('CONFIG', `${path} is of another chain (${found.slice(0, 200)}); this one is ${TITLE} ${about}`, { path });
    }
  }

  /** All turns, in order. A last record that was not finished when the process died is cut off. Throws SOURCE_DAMAGED. */
  *read(): Iterable<JournalTurn> {
    let at = this.first;
    while (at < this.end) {
      const length = this.end - at < HEAD_BYTES ? Number.POSITIVE_INFINITY : readU32(this.bytesAt(at, HEAD_BYTES), 0);
      const next = at + HEAD_BYTES + length + CHECK_BYTES;
      const turn = next > this.end ? null : this.turnAt(at + HEAD_BYTES, length);
      if (turn === null && next < this.end) {
        throw new UnspentError('SOURCE_DAMAGED', `${this.path}: the record at byte ${at} is damaged`, { path: this.path, at });
      }
      if (turn === null) {
        ftruncateSync(this.file, at);
        this.end = at;
        return;
      }
      yield turn;
      at = next;
    }
  }

  /** Returns where each block begins. */
  append(undone: number, blocks: readonly JournalBlock[]): number[] {
    const parts = [u32(undone), u32(blocks.length)];
    for (const { raw, owned } of blocks) parts.push(u32(raw.length), u32(owned.length), raw, owned);
    const payload = concatBytes(...parts);
    const record = concatBytes(u32(payload.length), payload, checkOf(payload));
    const from = this.end;
    writeSync(this.file, record, 0, record.length, from);
    this.end += record.length;
    let at = from + HEAD_BYTES + 8;
    return blocks.map(({ raw, owned }) => {
      const begins = at + 8;
      at = begins + raw.length + owned.length;
      return begins;
    });
  }

  bytesAt(at: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    const got = readSync(this.file, bytes, 0, length, at);
    if (got === length) return bytes;
    throw new UnspentError('SOURCE_DAMAGED', `${this.path} ends at byte ${at + got}, and ${at + length} were written`, { path: this.path });
  }

  close(): void {
    closeSync(this.file);
  }

  private isTitled(title: Uint8Array): boolean {
    return this.end >= title.length && equalBytes(this.bytesAt(0, title.length), title);
  }

  /** Null: not what was written there. */
  private turnAt(start: number, length: number): JournalTurn | null {
    const payload = this.bytesAt(start, length);
    if (!equalBytes(checkOf(payload), this.bytesAt(start + length, CHECK_BYTES))) return null;
    const blocks: WrittenBlock[] = [];
    let at = 8;
    for (let count = readU32(payload, 4); count > 0; count--) {
      const rawEnd = at + 8 + readU32(payload, at);
      const end = rawEnd + readU32(payload, at + 4);
      blocks.push({ raw: payload.subarray(at + 8, rawEnd), owned: payload.subarray(rawEnd, end), at: start + at + 8 });
      at = end;
    }
    return { undone: readU32(payload, 0), blocks };
  }
}

/** The process ended while it wrote the title. */
function isBegun(path: string, title: Uint8Array): boolean {
  if (statSync(path).size >= title.length) return false;
  const found = readFileSync(path);
  return equalBytes(found, title.subarray(0, found.length));
}

function checkOf(payload: Uint8Array): Uint8Array {
  return sha256(payload).subarray(0, CHECK_BYTES);
}

function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  writeU32(bytes, 0, value);
  return bytes;
}
