/**
 * What was read from the folder a moment ago, for whoever comes by next: the
 * headers of a stretch of blocks are asked for just before the blocks, and many
 * clients walk the same way.
 */
import type { Position } from '../../../sources/cardano/immutable/resume.ts';
import type { Batch } from '../../../sources/cardano/immutable/walk.ts';

/** Bytes of blocks kept; what a client asks for ahead fits, whatever the number of clients. */
const KEPT_BYTES_MAX = 32 * 1024 * 1024;

interface Kept {
  readonly batch: Batch;
  readonly bytes: number;
}

export class RecentBatches {
  /** By where they begin, oldest first. */
  private readonly kept = new Map<string, Kept>();
  private bytes = 0;

  get(at: Position): Batch | undefined {
    return this.kept.get(keyOf(at))?.batch;
  }

  add(at: Position, batch: Batch): void {
    const key = keyOf(at);
    if (this.kept.has(key)) return;
    const bytes = batch.next - at.offset;
    this.kept.set(key, { batch, bytes });
    this.bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.kept) {
      if (this.bytes <= KEPT_BYTES_MAX) break;
      this.kept.delete(oldest);
      this.bytes -= freed;
    }
  }
}

function keyOf({ chunk, offset }: Position): string {
  return `${chunk}:${offset}`;
}
