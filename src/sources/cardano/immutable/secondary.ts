/**
 * The secondary index of a chunk: 56 bytes a block (where it begins, CRC-32,
 * hash, slot). It is only a hint: cut, stale and wrong indexes occur in
 * practice, so an entry is used only after it was checked against the chunk.
 *
 * Format: ouroboros-consensus-cardano/cddl/disk/immutable/secondary.ksy.
 */
import { gunzipSync } from 'node:zlib';
import { readRegular } from '../../../files/regular.ts';
import { readU32, readU64 } from '../../../util/bytes.ts';
import { CHUNK_BYTES_MAX } from '../../../util/limits.ts';
import type { ChunkFile } from './folder.ts';
import { isPacked } from './folder.ts';

const ENTRY_BYTES = 56;
const CRC_AT = 12;
const HASH_AT = 16;
const SLOT_AT = 48;
const HASH_BYTES = 32;

export class SecondaryIndex {
  readonly count: number;
  private readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    // An entry that is still being written does not count.
    this.count = Math.floor(bytes.length / ENTRY_BYTES);
  }

  /** Where the block begins in the chunk; -1, which no position equals, where there is no such entry. */
  offset(entry: number): number {
    return entry >= 0 && entry < this.count ? readU64(this.bytes, entry * ENTRY_BYTES) : -1;
  }

  crc(entry: number): number {
    return readU32(this.bytes, entry * ENTRY_BYTES + CRC_AT);
  }

  hash(entry: number): Uint8Array {
    const at = entry * ENTRY_BYTES + HASH_AT;
    return this.bytes.subarray(at, at + HASH_BYTES);
  }

  /** The slot, or the epoch where the block is an epoch boundary block. */
  slot(entry: number): number {
    return readU64(this.bytes, entry * ENTRY_BYTES + SLOT_AT);
  }

  /** The entry whose block begins at `offset`, or -1. Offsets ascend in a sound index; in an unsound one we may miss it. */
  entryAt(offset: number): number {
    let low = 0;
    let high = this.count - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.offset(middle);
      if (found === offset) return middle;
      if (found < offset) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /** The entry of the block with this hash, or -1. */
  entryOf(hash: Uint8Array): number {
    if (hash.length !== HASH_BYTES) return -1;
    for (let entry = 0; entry < this.count; entry++) {
      const at = entry * ENTRY_BYTES + HASH_AT;
      let same = 0;
      while (same < HASH_BYTES && this.bytes[at + same] === hash[same]) same++;
      if (same === HASH_BYTES) return entry;
    }
    return -1;
  }
}

/** Null where it is missing or unreadable: the chunk is then walked without it, and its blocks are not called intact. */
export function loadSecondary(file: ChunkFile): SecondaryIndex | null {
  if (file.secondary === null) return null;
  try {
    const bytes = readRegular(file.secondary, { bytesMax: CHUNK_BYTES_MAX, links: 'follow' });
    return new SecondaryIndex(isPacked(file.secondary) ? gunzipSync(bytes, { maxOutputLength: CHUNK_BYTES_MAX }) : bytes);
  } catch {
    return null;
  }
}
