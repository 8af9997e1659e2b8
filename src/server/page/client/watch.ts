/**
 * Keeps the overview up to date: events say when something happened, then the
 * figures are asked for. Without events they are asked for now and then, so
 * that a quiet chain is not taken for a dead one. A hidden page asks for nothing.
 */
import { get, type Problem, problem } from './api.ts';
import { hasAssets } from './format.ts';
import type { Overview } from './overview.ts';
import { chain } from './parts.ts';
import type { Column, Point, Roots, Sample, Status } from './shapes.ts';
import type { StreamEvent } from './sse.ts';
import { LiveStream } from './stream.ts';
import { isAtRest } from './verdict.ts';

/** Until the server has said how often. */
const REFRESH_MS = 2000;
/** A chain whose newest block, which we are at, is of another day than ours has a time of its own. */
const OWN_TIME_SECONDS = 86_400;
/** However many blocks come, the status is asked for this often at most. */
const STATUS_LEAST_MS = 300;
/** Sizes change slowly, and the engine has to look for them. */
const COLUMNS_MS = 60_000;

export interface WatchListener {
  onLine(state: 'live' | 'lost' | 'connecting', text: string): void;
  onStatus(status: Status): void;
  /** The chain has another newest block; null: none. */
  onTip(point: Point | null): void;
  onTokenNeeded(): void;
}

export class Watch {
  private readonly overview: Overview;
  private readonly listener: WatchListener;
  private readonly stream: LiveStream;
  private timer = 0;
  private columnsAt = Number.NEGATIVE_INFINITY;
  private asked = 0;
  private turn = 0;
  private shown = 0;
  private soon = 0;
  private isLost = false;
  private refreshMs = REFRESH_MS;
  /** The name of the network at least, which every view shows. */
  private isKnown = false;
  private known = Promise.withResolvers<void>();

  constructor(overview: Overview, listener: WatchListener) {
    this.overview = overview;
    this.listener = listener;
    this.stream = new LiveStream(['tip', 'rollback'], {
      onEvent: (event) => this.take(event),
      onOpen: () => this.found(),
      onLost: (why, retryMs) => this.lose(why, retryMs),
    });
  }

  /** Resolves when the server has said which chain it is, or has not answered. */
  get chainKnown(): Promise<void> {
    return this.known.promise;
  }

  restart(): void {
    this.pause();
    this.columnsAt = Number.NEGATIVE_INFINITY;
    this.stream.start();
    this.repeat();
    this.refresh();
  }

  pause(): void {
    this.stream.stop();
    clearInterval(this.timer);
    clearTimeout(this.soon);
    this.soon = 0;
  }

  /** Asks for everything that changes by the second, if anybody sees it. */
  refresh(): void {
    this.askStatus();
    if (!this.overview.element.isConnected) return;
    void this.ask(async () => this.overview.showHistory((await get<Sample[]>('/status/history')).body));
    if (Date.now() > this.columnsAt + COLUMNS_MS) this.askColumns();
  }

  private take({ type, data }: StreamEvent): void {
    if (type === 'rollback') this.overview.rollback((JSON.parse(data) as { readonly to: Point | null }).to);
    if (type === 'tip') {
      const { point, roots } = JSON.parse(data) as { readonly point: Point | null; readonly roots?: Roots };
      this.overview.showRoots(point, roots);
      this.listener.onTip(point);
    }
    this.askStatusSoon();
  }

  private askStatusSoon(): void {
    if (this.soon !== 0) return;
    const wait = Math.max(0, this.asked + STATUS_LEAST_MS - Date.now());
    this.soon = setTimeout(() => {
      this.soon = 0;
      this.askStatus();
    }, wait);
  }

  private askStatus(): void {
    if (!this.overview.element.isConnected && this.isKnown) return;
    this.asked = Date.now();
    const turn = ++this.turn;
    void this.ask(async () => {
      const { body } = await get<Status>('/status');
      // An answer that took longer than the one asked for after it is of the past.
      if (turn < this.shown) return;
      this.shown = turn;
      this.learn(body);
      this.overview.show(body);
      this.listener.onStatus(body);
    });
  }

  private learn(status: Status): void {
    chain.network = status.network;
    chain.coin = status.coin;
    chain.unit = status.unit;
    chain.hasAssets = hasAssets(status.unit);
    chain.family = status.family;
    chain.hasEsplora = status.shapes.includes('esplora');
    chain.projections = status.projections;
    if (isAtRest(status) || hasOwnTime(status, Date.now() / 1000)) chain.hasOurTime = false;
    if (this.refreshMs !== 1000 * status.refresh_seconds) {
      this.refreshMs = 1000 * status.refresh_seconds;
      this.repeat();
    }
    this.known.resolve();
    this.isKnown = true;
  }

  private repeat(): void {
    clearInterval(this.timer);
    this.timer = setInterval(() => this.refresh(), this.refreshMs);
  }

  private askColumns(): void {
    this.columnsAt = Date.now();
    void this.ask(async () =>
      this.overview.showColumns((await get<{ readonly columns: readonly Column[] }>('/status/engine')).body.columns),
    );
  }

  /** The stream notices a dead server; here only what it cannot know is of interest. */
  private async ask(body: () => Promise<void>): Promise<void> {
    if (this.isLost) return;
    try {
      await body();
    } catch (error) {
      this.known.resolve();
      const why = problem(error);
      if (why.status === 401) this.needToken();
      else if (why.status >= 400) this.overview.fail(why.title, `${why.message} ${why.advice}`);
    }
  }

  private needToken(): void {
    this.known.resolve();
    this.known = Promise.withResolvers();
    this.pause();
    this.listener.onLine('lost', 'token needed');
    this.listener.onTokenNeeded();
  }

  private found(): void {
    this.listener.onLine('live', 'live');
    const was = this.isLost;
    this.isLost = false;
    if (was) this.refresh();
  }

  private lose(why: Problem, retryMs: number): void {
    if (why.status === 401) {
      this.needToken();
      return;
    }
    this.isLost = true;
    this.listener.onLine('lost', 'connection lost');
    const seconds = Math.max(1, Math.round(retryMs / 1000));
    const detail = `Trying again in ${seconds} s. What is below was true when it was last seen. (${why.message})`;
    this.overview.fail('Connection lost', detail);
  }
}

/** `now` in Unix seconds. */
function hasOwnTime({ following, lag_blocks, tip }: Status, now: number): boolean {
  return following.state === 'following' && lag_blocks === 0 && tip !== null && Math.abs(now - tip.block_time) > OWN_TIME_SECONDS;
}
