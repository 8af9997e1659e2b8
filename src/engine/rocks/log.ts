/**
 * RocksDB's log format, read as RocksDB reads it (db/log_reader.cc): the
 * write-ahead logs and the manifest are both written in it.
 *
 *   file      blocks of 32 KiB; fewer than 7 bytes left in a block are padding
 *   fragment  masked CRC-32C of type and payload u32 | length u16 | type u8 | payload
 *   record    one fragment FULL, or FIRST, MIDDLE ..., LAST
 */
import { closeSync, readSync } from 'node:fs';
import { openRegular } from '../../files/regular.ts';
import { crc32c } from '../../util/crc32c.ts';
import { UnspentError } from '../../util/errors.ts';

const BLOCK_BYTES = 32 * 1024;
const HEADER_BYTES = 7;
const [ZERO, FULL, FIRST, LAST] = [0, 1, 2, 4];

/** Blocks read from the file at once: 1 MiB. */
const BLOCKS_READ = 32;

export interface LogEnd {
  /** RocksDB stops here, because a record is cut or its checksum is wrong. Otherwise it ends after a record or in zeros. */
  readonly isBroken: boolean;
  /** A block where a record begins, near the end: where to go on when the file has grown. */
  readonly resumeAt: number;
}

/**
 * The records in order, each with at most its first `keepBytes` bytes, and how
 * the file ends; `from` is where another reading told to resume. Throws STORE_DAMAGED where RocksDB would pass over a hole
 * without a word: zeros, and then records again.
 */
export function* readLog(path: string, keepBytes: number, from = 0): Generator<Uint8Array, LogEnd, void> {
  const file = openRegular(path);
  try {
    let parts: Uint8Array[] | null = null;
    let zeros = false;
    let resumeAt = from;
    let blockAt = from;
    const broken = (): LogEnd => ({ isBroken: true, resumeAt });
    for (const block of blocksOf(file, from)) {
      if (parts === null) resumeAt = blockAt;
      blockAt += block.length;
      for (let at = 0; at < block.length; ) {
        const left = block.length - at;
        if (left < HEADER_BYTES) {
          if (block.length < BLOCK_BYTES) return broken();
          break;
        }
        const length = block[at + 4] | (block[at + 5] << 8);
        const type = block[at + 6];
        const end = at + HEADER_BYTES + length;
        if (end > block.length) return broken();
        if (type === ZERO && length === 0) {
          if (parts !== null) return broken();
          zeros = true;
          break;
        }
        if (type < FULL || type > LAST || !isChecked(block, at, end)) return broken();
        if (zeros) throw new UnspentError('STORE_DAMAGED', `the store is damaged: ${path} has a hole`, { file: path });
        const starts = type === FULL || type === FIRST;
        if (starts !== (parts === null)) return broken();
        const kept: Uint8Array[] = parts ?? [];
        const missing = keepBytes - kept.reduce((sum, part) => sum + part.length, 0);
        if (missing > 0) kept.push(block.slice(at + HEADER_BYTES, Math.min(end, at + HEADER_BYTES + missing)));
        parts = type === FULL || type === LAST ? null : kept;
        if (parts === null) yield kept.length === 1 ? kept[0] : Buffer.concat(kept);
        at = end;
      }
    }
    return { isBroken: parts !== null, resumeAt };
  } finally {
    closeSync(file);
  }
}

function isChecked(block: Uint8Array, at: number, end: number): boolean {
  const masked = (block[at] | (block[at + 1] << 8) | (block[at + 2] << 16) | (block[at + 3] << 24)) >>> 0;
  const crc = crc32c(block, at + 6, end);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0 === masked;
}

/** Views of one buffer: each is valid until the next. */
function* blocksOf(file: number, from: number): Generator<Uint8Array, void, void> {
  let place = from;
  const buffer = new Uint8Array(BLOCKS_READ * BLOCK_BYTES);
  for (;;) {
    let filled = 0;
    for (let read = -1; read !== 0 && filled < buffer.length; filled += read) {
      read = readSync(file, buffer, filled, buffer.length - filled, place + filled);
    }
    place += filled;
    for (let at = 0; at < filled; at += BLOCK_BYTES) yield buffer.subarray(at, Math.min(filled, at + BLOCK_BYTES));
    if (filled < buffer.length) return;
  }
}
