/**
 * The feed: holds on to the point it announced last and, when the store moves,
 * tells everybody how to get from there to the new one. Each event is worked out
 * once for all readers, and only if one of them wants it; without readers it
 * does nothing and holds nothing.
 *
 * A reader who comes back replays on its own until it is where the feed is, and
 * joins there, so that it neither misses an event nor gets one twice.
 */

import { type Position, parsePosition, resume } from '../../../events/position.ts';
import type { Query } from '../../../query/query.ts';
import { renderPoint } from '../../../query/render.ts';
import type { Windows } from '../../../state/pruned.ts';
import type { Reads } from '../../context.ts';
import type { Workload } from '../../http/work/workload.ts';
import { frame } from './announcement.ts';
import type { EventStream } from './event-stream.ts';
import { Moment } from './moment.ts';
import { Pace } from './pace.ts';
import { type Events, Gap, rollbackTo, type Told, type Wanted, walk, walkOn } from './walk.ts';

export interface FeedOptions extends Told {
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
  private at: Moment | null = null;
  /** Where the feed is going; the same as `at` while it rests. */
  private aim: Moment | null = null;
  private moving = false;
  private readonly forget: () => void;

  constructor(options: FeedOptions) {
    this.options = options;
    this.forget = options.reads.onMove(() => void this.advance());
  }

  get readers(): number {
    return this.live.size + this.ahead.size + this.catching.size;
  }

  /** Takes a reader in. `after` is where it was; null: it begins with what comes. Throws USAGE when that is not a place. */
  join(stream: EventStream, after: string | null): void {
    this.at ??= new Moment(this.options.reads.lease());
    this.aim ??= this.at;
    const moment = this.aim.hold();
    try {
      const from =
        after === null || stream.subscription.wantsTipOnly ? null : parsePosition(after, moment.query, this.options.network.dialect);
      this.catching.add(stream);
      stream.place = () => this.placeOf(stream);
      void this.catchUp(stream, moment, from);
    } catch (error) {
      moment.letGo();
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

  private async catchUp(stream: EventStream, first: Moment, from: Position | null): Promise<void> {
    let moment = first;
    try {
      if (from !== null) await this.replay(stream, moment.query, from);
      else if (!stream.subscription.wantsTipOnly) stream.tell(this.pointFrame('begin', moment));
      // The feed may have gone on meanwhile, and again while we follow it.
      while (!stream.ended && this.aim !== null && this.aim !== moment) {
        const [previous, next] = [moment, this.aim.hold()];
        moment = next;
        await this.deliver(stream, walk(previous.query, next.query, wantedBy([stream]), this.options)).finally(() => previous.letGo());
      }
      if (!this.catching.delete(stream) || stream.ended) return;
      if (wantsTip(stream)) stream.tell(this.pointFrame('tip', moment));
      if (this.moving) this.ahead.add(stream);
      else this.live.add(stream);
    } catch (error) {
      this.fail([stream], error);
    } finally {
      moment.letGo();
    }
  }

  /** From the newest block of the id that is still on our chain. */
  private async replay(stream: EventStream, query: Query, position: Position): Promise<void> {
    const start = resume(position, query, this.options.windows);
    if (start === null) return expire(stream, 'none of the blocks it names is on the chain any more');
    const { row, seen, lost } = start;
    // What it saw of the lost blocks is not stored any more; whatever its types, it must know.
    if (lost > 0) stream.tell(rollbackTo(query, row, lost, this.options).text);
    await this.deliver(stream, walkOn(query, row, seen, wantedBy([stream]), this.options));
  }

  /** To one reader, as fast as it takes them. */
  private async deliver(stream: EventStream, events: Events): Promise<void> {
    const pace = new Pace(
      this.options.workload.ownTask(() => stream.ended),
      this.options.sliceMs,
    );
    for (const event of events) {
      if (event instanceof Gap) expire(stream, event.why);
      else if (event !== null) stream.offer(event);
      await stream.drained();
      if (stream.ended) return;
      if (pace.isOver) await pace.turn();
    }
  }

  /** Follows the store for as long as it moves and somebody listens. */
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
  private async step(from: Moment): Promise<boolean> {
    const to = new Moment(this.options.reads.lease());
    if (from.isAt(to.query)) {
      to.letGo();
      return false;
    }
    this.aim = to;
    try {
      await this.announce(from, to);
    } catch (error) {
      this.aim = from;
      to.letGo();
      throw error;
    }
    this.at = to;
    from.letGo();
    for (const stream of this.ahead) this.live.add(stream);
    this.ahead.clear();
    return true;
  }

  private async announce(from: Moment, to: Moment): Promise<void> {
    const streams = [...this.live].filter(({ subscription }) => !subscription.wantsTipOnly);
    const pace = new Pace(
      this.options.workload.ownTask(() => this.readers === 0),
      this.options.sliceMs,
    );
    for (const event of streams.length === 0 ? [] : walk(from.query, to.query, wantedBy(streams), this.options)) {
      if (event instanceof Gap) for (const stream of streams.filter(wantsOutputs)) expire(stream, event.why);
      else if (event !== null) for (const stream of streams) stream.offer(event);
      if (!pace.isOver) continue;
      await pace.turn();
      if (streams.every((stream) => stream.ended)) break;
    }
    const tips = [...this.live].filter(wantsTip);
    for (const stream of tips) stream.tell(this.pointFrame('tip', to));
  }

  /** Where a reader is who has got everything; null while it has not. */
  private placeOf(stream: EventStream): string | null {
    if (this.ahead.has(stream)) return this.aim?.id ?? null;
    return this.live.has(stream) && !this.moving ? (this.at?.id ?? null) : null;
  }

  private fail(streams: readonly EventStream[], error: unknown): void {
    this.options.onFailure(error as Error);
    const data = { detail: 'the store could not be read', advice: 'Come back with the id of the last event.' };
    for (const stream of streams) stream.finish('failed', frame('failure', null, data));
  }

  private pointFrame(name: 'begin' | 'tip', { query, id }: Moment): string {
    const roots = name === 'tip' ? this.options.rootsOf(query) : null;
    return frame(name, id, { point: renderPoint(query.head, this.options.network.dialect), ...(roots !== null && { roots }) });
  }

  /** Without readers nothing is held. */
  private rest(): void {
    if (this.readers > 0 || this.moving || this.at === null) return;
    this.at.letGo();
    this.at = null;
    this.aim = null;
  }
}

function wantsTip({ subscription }: EventStream): boolean {
  return subscription.types.has('tip');
}

function wantsOutputs({ subscription }: EventStream): boolean {
  return subscription.wantsOutputs;
}

/** What any of them listens to. */
function wantedBy(streams: readonly EventStream[]): Wanted {
  return { blocks: streams.some(({ subscription }) => subscription.wantsBlocks), outputs: streams.some(wantsOutputs) };
}

function expire(stream: EventStream, why: string): void {
  const data = { detail: `the events cannot be told any more: ${why}`, advice: 'Read the state anew, and begin without an id.' };
  stream.finish('expired', frame('expired', null, data));
}
