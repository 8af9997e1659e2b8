/**
 * Bodies for announced headers, over block-fetch: asked for in ranges ahead of
 * need, bounded in bytes, checked against their headers, and put out in chain
 * order.
 *
 * A rollback may come while blocks of the lost branch are on their way: those
 * are dropped on arrival, and a range the peer can no longer serve is asked for
 * again as far as it still stands.
 */
import type { Block } from '../../../ledgers/ledger.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { FETCH_BYTES_MAX, FETCH_RANGE_BLOCKS, FETCH_RANGE_BYTES } from '../../../util/limits.ts';
import { type AnnouncedHeader, readAnnouncedBlock } from './announced-header.ts';
import { BLOCK_FETCH, type BlockFetchMessage, type BlockFetchState } from './block-fetch.ts';
import { Gate } from './gate.ts';
import type { Mux } from './mux.ts';
import type { Outbox } from './outbox.ts';
import type { PipelineDepth } from './pipeline-depth.ts';
import type { WirePoint } from './point.ts';
import { violation } from './protocol.ts';
import { Session } from './session.ts';

/** If a peer has no blocks for headers it announced, it must send us the rollback that explains it within this time. */
const ROLLBACK_WAIT_MS = 10_000;
/** Blocks put out together at most, so that the reader is not kept waiting. */
const BURST_BYTES = 1024 * 1024;

/** A header whose block has not been put out yet. */
interface Entry {
  readonly announced: AnnouncedHeader;
  block: Block | null;
  asked: boolean;
  /** Rolled back: whatever comes for it is dropped. */
  dropped: boolean;
}

interface Range {
  readonly entries: readonly Entry[];
  readonly bytes: number;
  /** The next block to come. */
  next: number;
}

export class BlockFetcher {
  private readonly session: Session<BlockFetchMessage, BlockFetchState>;
  private readonly outbox: Outbox;
  private readonly depth: PipelineDepth;
  private readonly bytesMax: number;
  private readonly changed = new Gate();
  /** In chain order. */
  private entries: Entry[] = [];
  /** Entries before this one were asked for. */
  private unasked = 0;
  private ranges: Range[] = [];
  private bytesRequested = 0;
  private rollbacks = 0;
  /** The peer had no blocks for headers it announced: until it rolls back, no more blocks are asked for. */
  awaitingRollback = false;

  constructor(mux: Mux, outbox: Outbox, depth: PipelineDepth, bytesMax = FETCH_BYTES_MAX) {
    this.session = new Session(mux, BLOCK_FETCH, 'initiator');
    this.outbox = outbox;
    this.depth = depth;
    depth.begin();
    this.bytesMax = bytesMax;
  }

  /** Headers whose blocks are not put out yet. */
  get waiting(): number {
    return this.entries.length;
  }

  announce(announced: AnnouncedHeader): void {
    this.entries.push({ announced, block: null, asked: false, dropped: false });
  }

  /** Forgets headers newer than the point; false when the point is not among those that wait. */
  back(point: WirePoint): boolean {
    let kept = this.entries.length;
    while (kept > 0 && (point === null || !equalBytes(this.entries[kept - 1].announced.header.hash, point.hash))) kept--;
    for (let i = kept; i < this.entries.length; i++) this.entries[i].dropped = true;
    this.entries.length = kept;
    this.unasked = Math.min(this.unasked, kept);
    this.rollbacks++;
    this.wake();
    return kept > 0;
  }

  /** Asks for what there is room for; of a connection that has ended, nothing. */
  plan(): void {
    if (this.session.channel.mux.failure !== null) return;
    while (!this.awaitingRollback && this.ranges.length < this.depth.max) {
      while (this.unasked < this.entries.length && this.entries[this.unasked].asked) this.unasked++;
      if (this.unasked === this.entries.length) break;
      const held = this.outbox.bytes + this.bytesRequested;
      if (held > 0 && held + this.entries[this.unasked].announced.blockBytes > this.bytesMax) break;
      this.ask(this.bytesMax - held);
    }
    if (this.ranges.length > 0) this.wake();
  }

  /** Takes blocks until the connection ends; never returns otherwise. `settled` is told when blocks may have been put out. */
  async run(settled: () => void): Promise<never> {
    const { mux } = this.session.channel;
    for (;;) {
      // A peer that sends more than its headers said is not read faster than its blocks are used.
      if (this.ranges.length === 0 || this.outbox.bytes > 2 * this.bytesMax) {
        await this.changed.wait();
        if (mux.failure !== null && this.ranges.length === 0) throw mux.failure;
        continue;
      }
      const refused = await this.burst();
      this.release();
      settled();
      if (refused !== null) await this.waitForRollback(refused);
      this.plan();
    }
  }

  /** Ends a wait: blocks were asked for or used, or the connection has ended. */
  wake(): void {
    this.changed.open();
  }

  private ask(bytesMax: number): void {
    const start = this.unasked;
    let bytes = 0;
    let end = start;
    for (; end < this.entries.length && end - start < FETCH_RANGE_BLOCKS; end++) {
      const { announced, asked } = this.entries[end];
      const total = bytes + announced.blockBytes;
      if (asked || (end > start && total > Math.min(bytesMax, FETCH_RANGE_BYTES))) break;
      bytes = total;
      this.entries[end].asked = true;
    }
    const entries = this.entries.slice(start, end);
    this.ranges.push({ entries, bytes, next: 0 });
    this.bytesRequested += bytes;
    this.unasked = end;
    this.session.send({ kind: 'requestRange', from: entries[0].announced.header, to: entries[entries.length - 1].announced.header });
    this.depth.asked();
  }

  /** Messages at hand; ends early, with the range, when the peer has no blocks for one that still stands. */
  private async burst(): Promise<Range | null> {
    let bytes = 0;
    let message: BlockFetchMessage | undefined = this.session.tryReceive() ?? (await this.session.receive());
    while (message !== undefined) {
      const [range] = this.ranges;
      if (message.kind === 'block') {
        this.arrived(range, message.raw);
        bytes += message.raw.length;
      } else if (message.kind === 'noBlocks') {
        if (this.finish(range)) return range;
      } else if (message.kind === 'batchDone' && this.finish(range)) {
        throw violation('fewer blocks than the range that was asked for has');
      }
      message = this.ranges.length > 0 && bytes < BURST_BYTES ? this.session.tryReceive() : undefined;
    }
    return null;
  }

  private arrived(range: Range, raw: Uint8Array): void {
    const entry = range.entries[range.next++];
    if (entry === undefined) throw violation('more blocks than the range that was asked for has');
    if (entry.dropped) return;
    entry.block = readAnnouncedBlock(raw, entry.announced);
  }

  /** Puts out what is complete, in order. */
  private release(): void {
    let done = 0;
    for (; done < this.entries.length; done++) {
      const { block } = this.entries[done];
      if (block === null) break;
      this.outbox.forward(block);
    }
    if (done === 0) return;
    this.entries = this.entries.slice(done);
    this.unasked -= done;
  }

  /** Ends a range. True: the peer has not sent blocks that are still on its chain; they will be asked for again. */
  private finish(range: Range): boolean {
    this.ranges.shift();
    this.depth.answered();
    this.bytesRequested -= range.bytes;
    const missing = range.entries.slice(range.next).filter((entry) => !entry.dropped);
    if (missing.length === 0) return false;
    for (const entry of missing) entry.asked = false;
    this.unasked = Math.min(this.unasked, this.entries.indexOf(missing[0]));
    return true;
  }

  /** An honest peer has headers without blocks only if it has just switched to another branch: then a rollback follows. Without one the connection fails. */
  private async waitForRollback({ entries }: Range): Promise<void> {
    if (entries.some((entry) => entry.dropped)) return;
    const { rollbacks } = this;
    const { mux } = this.session.channel;
    const { slot } = entries[0].announced.header;
    const silent = (): void => mux.fail(violation(`no blocks for headers it announced (slot ${slot})`, { slot }));
    const timer = setTimeout(silent, ROLLBACK_WAIT_MS * mux.timeScale);
    this.awaitingRollback = true;
    while (rollbacks === this.rollbacks && mux.failure === null) await this.changed.wait();
    this.awaitingRollback = false;
    clearTimeout(timer);
    if (mux.failure !== null) throw mux.failure;
  }
}
