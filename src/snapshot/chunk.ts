/**
 * Chunks of a snapshot: rows of `utxo_unspent` in the order of their keys,
 *
 *   outpoint 36 | length varint | stored value
 *
 * one after another and not compressed, because only then are the bytes the same
 * whoever writes them. A chunk ends before the row that would take it past
 * SNAPSHOT_CHUNK_BYTES: where the cuts are follows from the rows.
 */
import { OUTPOINT_BYTES } from '../ledgers/outpoint.ts';
import { Coin } from '../projections/coin.ts';
import { ByteWriter } from '../util/byte-writer.ts';
import { UnspentError } from '../util/errors.ts';
import { SNAPSHOT_CHUNK_BYTES } from '../util/limits.ts';

const VARINT_BYTES_MAX = 4;

/** Collects rows until a chunk is full. */
export class ChunkWriter {
  private readonly writer = new ByteWriter();
  private readonly bytesMax: number;
  rows = 0;
  bytes = 0;

  constructor(bytesMax = SNAPSHOT_CHUNK_BYTES) {
    this.bytesMax = bytesMax;
  }

  /** Whether this row has to wait for the next chunk. */
  isFullFor(value: Uint8Array): boolean {
    return this.rows > 0 && this.bytes + rowBytes(value.length) > this.bytesMax;
  }

  add(key: Uint8Array, value: Uint8Array): void {
    this.writer.run(key);
    this.writer.varint(value.length);
    this.writer.run(value);
    this.rows++;
    this.bytes += rowBytes(value.length);
  }

  /** What was collected, as a view that the next `add` invalidates. */
  take(): Uint8Array {
    const bytes = this.writer.view();
    this.writer.reset();
    this.rows = 0;
    this.bytes = 0;
    return bytes;
  }
}

export function rowBytes(valueBytes: number): number {
  let varint = 1;
  for (let rest = valueBytes; rest >= 0x80; rest >>>= 7) varint++;
  return OUTPOINT_BYTES + varint + valueBytes;
}

/** The rows of a chunk, as coins over its own bytes. Throws SNAPSHOT_INVALID. */
export function readRows(bytes: Uint8Array, file: string): Coin[] {
  const coins: Coin[] = [];
  for (let at = 0; at < bytes.length; ) {
    const keyAt = at;
    at += OUTPOINT_BYTES;
    let length = 0;
    let scale = 1;
    for (let i = 0; ; i++) {
      const byte = bytes[at++];
      // A last byte of zero would say the same as nothing.
      if (byte === undefined || i === VARINT_BYTES_MAX || (byte === 0 && i > 0)) throw malformed(file, keyAt);
      length += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
      scale *= 0x80;
    }
    if (length === 0 || length > bytes.length - at) throw malformed(file, keyAt);
    coins.push(new Coin(bytes, keyAt, bytes, at, at + length, false));
    at += length;
  }
  return coins;
}

function malformed(file: string, at: number): UnspentError {
  return new UnspentError('SNAPSHOT_INVALID', `${file}: the row at byte ${at} is cut or malformed`, { file, at });
}
