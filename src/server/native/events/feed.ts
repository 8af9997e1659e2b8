/**
 * The feed: holds on to the point it announced last and, when the store moves,
 * tells everybody how to get from there to the new one. Each event is worked out
 * once for all readers, and only if one of them wants it; without readers it
 * does nothing and holds nothing.
 *
 * A reader who comes back replays on its own until it is where the feed is, and
 * joins there, so that it neither misses an event nor gets one twice.
 */

import { ALL, type Position, PositionWriter, parsePosition, resume } from '../../../events/position.ts';
import type { Lease } from '../../../events/shared-snapshots.ts';
import type { Query } from '../../../query/query.ts';
import { renderPoint } from '../../../query/render.ts';
import type { Windows } from '../../../state/pruned.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { TimeSlice } from '../../../util/time-slice.ts';
import type { Reads } from '../../context.ts';
import type { Workload } from '../../http/work/workload.ts';
import {
  type Announcements,
  announceMove,
  announceSince,
  type EventContext,
  type EventSelection,
  PrunedGap,
  rollbackTo,
} from './announce.ts';
import { frame } from './announcement.ts';
import type { EventStream } from './event-stream.ts';

export interface FeedOptions extends EventContext {
  readonly reads: Reads;
  readonly windows: Windows;
  readonly workload: Workload;
  /** Milliseconds of work before others get their turn. */
  readonly sliceMs: number;
  /** Told what went wrong with the store; the readers concerned were told to come back. */
  onFailure(error: Error): void;
}

export class Feed {
  private readonly options: FeedOptions;
  /** Readers who have everything up to `at`. */
  private readonly live = new Set<EventStream>();
  /** Readers who have everything up to `aim` already. */
  private readonly ahead = new Set<EventStream>();
  /** Readers on their way to `aim`. */
  private readonly catching = new Set<EventStream>();
  private at: Lease | null = null;
  /** Where the feed is going; the same as `at` while it rests. */
  private aim: Lease | null = null;
  private moving = false;
  private readonly forget: () => void;
  /** Of readers who have seen everything up to the head of a query. */
  private readonly headPositions = new WeakMap<Query, string>();

  constructor(options: FeedOptions) {
    this.options = options;
    this.forget = options.reads.onMove(() => void this.advance());
  }

  get readers(): number {
    return this.live.size + this.ahead.size + this.catching.size;
  }

  /** Takes a reader in. `after` is where it was; null: it begins with what comes. Throws USAGE when that is not a place. */
  join(stream: EventStream, after: string | null): void {
    this.at ??= this.options.reads.lease();
    this.aim ??= this.at;
    const lease = this.aim.share();
    try {
      const from =
        after === null || stream.subscription.wantsTipOnly ? null : parsePosition(after, lease.query, this.options.network.dialect);
      this.catching.add(stream);
      stream.place = () => this.placeOf(stream);
      void this.catchUp(stream, lease, from);
    } catch (error) {
      lease.release();
      this.rest();
      throw error;
    }
  }

  leave(stream: EventStream): void {
    for (const set of [this.live, this.ahead, this.catching]) set.delete(stream);
    this.rest();
  }

  /** No more events: every reader's stream ends. */
  close(): void {
    this.forget();
    for (const stream of [...this.live, ...this.ahead, ...this.catching]) stream.finish('closed', ': the server stops\n\n');
  }

  private async catchUp(stream: EventStream, first: Lease, from: Position | null): Promise<void> {
    let lease = first;
    try {
      if (from !== null) await this.replay(stream, lease.query, from);
      else if (!stream.subscription.wantsTipOnly) stream.tell(this.pointFrame('begin', lease));
      // The feed may have gone on meanwhile, and again while we follow it.
      while (!stream.ended && this.aim !== null && this.aim.query !== lease.query) {
        const [previous, next] = [lease, this.aim.share()];
        lease = next;
        const events = announceMove(previous.query, next.query, wantedBy([stream]), this.options);
        await this.deliver(stream, events).finally(() => previous.release());
      }
      if (!this.catching.delete(stream) || stream.ended) return;
      if (wantsTip(stream)) stream.tell(this.pointFrame('tip', lease));
      if (this.moving) this.ahead.add(stream);
      else this.live.add(stream);
    } catch (error) {
      this.fail([stream], error);
    } finally {
      lease.release();
    }
  }

  /** From the newest block of the id that is still on our chain. */
  private async replay(stream: EventStream, query: Query, position: Position): Promise<void> {
    const start = resume(position, query, this.options.windows);
    if (start === null) return expire(stream, 'none of the blocks it names is on the chain any more');
    const { row, seen, lost } = start;
    // What it saw of the lost blocks is not stored any more; whatever its types, it must know.
    if (lost > 0) stream.tell(rollbackTo(query, row, lost, this.options).text);
    await this.deliver(stream, announceSince(query, row, seen, wantedBy([stream]), this.options));
  }

  /** To one reader, as fast as it takes them. */
  private async deliver(stream: EventStream, events: Announcements): Promise<void> {
    const slice = this.newSlice(() => stream.ended);
    for (const event of events) {
      if (event instanceof PrunedGap) expire(stream, event.why);
      else if (event !== null) stream.offer(event);
      await stream.drained();
      if (stream.ended) return;
      if (slice.isOver) await slice.turn();
    }
  }

  /** Follows the store while it moves and there are listeners. */
  private async advance(): Promise<void> {
    if (this.moving || this.at === null) return;
    this.moving = true;
    try {
      let moved = true;
      while (moved && this.readers > 0) moved = await this.step(this.at);
    } catch (error) {
      this.fail([...this.live, ...this.ahead], error);
    } finally {
      this.moving = false;
      this.rest();
    }
  }

  /** One move of the store; false when there was none. */
  private async step(from: Lease): Promise<boolean> {
    const to = this.options.reads.lease();
    if (isSameHead(from.query, to.query)) {
      to.release();
      return false;
    }
    this.aim = to;
    try {
      await this.announce(from, to);
    } catch (error) {
      this.aim = from;
      to.release();
      throw error;
    }
    this.at = to;
    from.release();
    for (const stream of this.ahead) this.live.add(stream);
    this.ahead.clear();
    return true;
  }

  private async announce(from: Lease, to: Lease): Promise<void> {
    const streams = [...this.live].filter(({ subscription }) => !subscription.wantsTipOnly);
    const slice = this.newSlice(() => this.readers === 0);
    for (const event of streams.length === 0 ? [] : announceMove(from.query, to.query, wantedBy(streams), this.options)) {
      if (event instanceof PrunedGap) for (const stream of streams.filter(wantsOutputs)) expire(stream, event.why);
      else if (event !== null) for (const stream of streams) stream.offer(event);
      if (!slice.isOver) continue;
      await slice.turn();
      if (streams.every((stream) => stream.ended)) break;
    }
    const tips = [...this.live].filter(wantsTip);
    for (const stream of tips) stream.tell(this.pointFrame('tip', to));
  }

  /** Where a reader is who has got everything; null while it has not. */
  private placeOf(stream: EventStream): string | null {
    if (this.ahead.has(stream)) return this.aim === null ? null : this.headPosition(this.aim.query);
    return this.live.has(stream) && !this.moving && this.at !== null ? this.headPosition(this.at.query) : null;
  }

  private fail(streams: readonly EventStream[], error: unknown): void {
    this.options.onFailure(error as Error);
    const data = { detail: 'the store could not be read', advice: 'Come back with the id of the last event.' };
    for (const stream of streams) stream.finish('failed', frame('failure', null, data));
  }

  private pointFrame(name: 'begin' | 'tip', { query }: Lease): string {
    const roots = name === 'tip' ? this.options.rootsOf(query) : null;
    return frame(name, this.headPosition(query), {
      point: renderPoint(query.head, this.options.network.dialect),
      ...(roots !== null && { roots }),
    });
  }

  private headPosition(query: Query): string {
    const known = this.headPositions.get(query) ?? new PositionWriter(query).at(query.headRow(), ALL);
    this.headPositions.set(query, known);
    return known;
  }

  private newSlice(isCancelled: () => boolean): TimeSlice {
    const task = this.options.workload.ownTask(isCancelled);
    return new TimeSlice(this.options.sliceMs, () => task.turn());
  }

  /** Without readers nothing is held. */
  private rest(): void {
    if (this.readers > 0 || this.moving || this.at === null) return;
    this.at.release();
    this.at = null;
    this.aim = null;
  }
}

/** Nothing happened between the two. */
function isSameHead({ head: a }: Query, { head: b }: Query): boolean {
  return a === b || (a !== null && b !== null && equalBytes(a.hash, b.hash));
}

function wantsTip({ subscription }: EventStream): boolean {
  return subscription.types.has('tip');
}

function wantsOutputs({ subscription }: EventStream): boolean {
  return subscription.wantsOutputs;
}

/** What any of them listens to. */
function wantedBy(streams: readonly EventStream[]): EventSelection {
  return { blocks: streams.some(({ subscription }) => subscription.wantsBlocks), outputs: streams.some(wantsOutputs) };
}

function expire(stream: EventStream, why: string): void {
  const data = { detail: `the events cannot be told any more: ${why}`, advice: 'Read the state anew, and begin without an id.' };
  stream.finish('expired', frame('expired', null, data));
}
