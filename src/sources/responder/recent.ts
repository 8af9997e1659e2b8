/**
 * What was read from the folder a moment ago, for whoever comes by next: the
 * headers of a stretch of blocks are asked for just before the blocks, and many
 * clients walk the same way.
 */
import type { Position } from '../immutable/resume.ts';
import type { Batch } from '../immutable/walk.ts';

/** Bytes of blocks kept; what a client asks for ahead fits, whatever the number of clients. */
const KEPT_BYTES_MAX = 32 * 1024 * 1024;

export class RecentBatches {
  /** By where they begin, oldest first. */
  private readonly batches = new Map<string, Batch>();
  private bytes = 0;

  get(at: Position): Batch | undefined {
    return this.batches.get(keyOf(at));
  }

  add(at: Position, batch: Batch): void {
    const key = keyOf(at);
    if (this.batches.has(key)) return;
    this.batches.set(key, batch);
    this.bytes += batch.next - at.offset;
    for (const [oldest, { next }] of this.batches) {
      if (this.bytes <= KEPT_BYTES_MAX) break;
      this.batches.delete(oldest);
      this.bytes -= next - Number(oldest.slice(oldest.indexOf(':') + 1));
    }
  }
}

function keyOf({ chunk, offset }: Position): string {
  return `${chunk}:${offset}`;
}
