/**
 * Verified events on their way to the reader, in chain order. A rollback takes
 * back what was not handed over yet, and only the rest of it becomes an event.
 */
import type { Block, Point } from '../../../ledgers/ledger.ts';
import { equalBytes } from '../../../util/bytes.ts';
import type { WirePoint, WireTip } from './point.ts';

export type WireEvent =
  | { readonly kind: 'forward'; readonly raw: Uint8Array; readonly intact: true; readonly block: Block; readonly point: Point }
  | { readonly kind: 'back'; readonly point: WirePoint };

export interface Batch {
  readonly events: readonly WireEvent[];
  readonly tip: WireTip;
  /** The peer has nothing newer, and all before was handed over. */
  readonly atTip: boolean;
}

export class Outbox {
  private events: WireEvent[] = [];
  /** Bytes of the blocks in it. */
  bytes = 0;

  get length(): number {
    return this.events.length;
  }

  forward(block: Block): void {
    const { raw } = block;
    this.events.push({ kind: 'forward', raw, intact: true, block, point: block });
    this.bytes += raw.length;
  }

  /** Drops what is newer than the point; if the point is not in here, the reader must go back to it. */
  back(point: WirePoint): void {
    for (let last = this.events.at(-1); last !== undefined; last = this.events.at(-1)) {
      if (isAt(last, point)) return;
      this.events.pop();
      if (last.kind === 'forward') this.bytes -= last.raw.length;
    }
    this.events.push({ kind: 'back', point });
  }

  take(): readonly WireEvent[] {
    const { events } = this;
    this.events = [];
    this.bytes = 0;
    return events;
  }
}

function isAt({ point }: WireEvent, other: WirePoint): boolean {
  if (point === null || other === null) return point === other;
  return equalBytes(point.hash, other.hash);
}
