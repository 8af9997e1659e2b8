/**
 * Several server threads behind one port, seen as one. The system hands each
 * connection to one of them (SO_REUSEPORT); each reads the same open database
 * through a handle of its own, hears every update and every change of the
 * mempool, and has its share of what the settings and limits allow in all.
 */
import type { Config } from '../../config/schema.ts';
import type { MempoolChange } from '../../ledgers/mempool-change.ts';
import type { LogLine } from '../../util/log.ts';
import type { Listening } from './host.ts';
import type { LiveUpdate } from './live.ts';
import type { FollowedNode } from './node-link.ts';
import { ServerThread, type ThreadData } from './thread.ts';

export class ServerThreads {
  /** Resolves when all of them listen. */
  readonly listening: Promise<Listening>;
  /** Resolves when all have ended as they were told to; rejects when one ended by itself. */
  readonly ended: Promise<void>;
  private readonly threads: ServerThread[] = [];
  private readonly data: ThreadData;
  private readonly node: FollowedNode;
  private readonly log: LogLine;
  private last: LiveUpdate | null = null;
  private isClosing = false;
  private readonly end = Promise.withResolvers<void>();

  constructor(data: ThreadData, count: number, node: FollowedNode, log: LogLine) {
    this.data = { ...data, config: shareOf(data.config, count) };
    this.node = node;
    this.log = log;
    this.ended = this.end.promise;
    // Whoever waits for the threads to listen is told as well.
    this.ended.catch(() => {});
    this.listening = this.open(count);
  }

  /** The first finds out whether the ports are free, and which they are; the others join it there. */
  private async open(count: number): Promise<Listening> {
    const listening = await this.begin({ ...this.data, place: { number: 0, count } });
    const { server } = this.data.config;
    const port = Number(new URL(listening.url).port || 80);
    const config = { ...this.data.config, server: { ...server, port } };
    const joining = Array.from({ length: count - 1 }, (_, i) =>
      this.begin({ ...this.data, config, ports: listening.ports, place: { number: i + 1, count } }),
    );
    await Promise.all(joining);
    return listening;
  }

  private begin(data: ThreadData): Promise<Listening> {
    const thread: ServerThread = new ServerThread(data, this.node, this.log, () => this.figuresBut(thread));
    this.threads.push(thread);
    thread.ended.then(
      () =>
        void Promise.all(this.threads.map(({ ended }) => ended)).then(
          () => this.isClosing && this.end.resolve(),
          () => {},
        ),
      (error) => this.end.reject(error),
    );
    // Blocks may have come while it was being started.
    const { last } = this;
    if (last !== null) thread.tell({ ...last, moved: true, timings: [] });
    return thread.listening;
  }

  private figuresBut(asking: ServerThread) {
    return Promise.all(this.threads.filter((thread) => thread !== asking).map((thread) => thread.figures()));
  }

  tell(update: LiveUpdate): void {
    this.last = update;
    for (const thread of this.threads) thread.tell(update);
  }

  /** Resolves when all have taken them in. */
  async change(changes: readonly MempoolChange[]): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.change(changes)));
  }

  async close(): Promise<void> {
    this.isClosing = true;
    // One that is being started joins the list, and is closed as soon as it can be told.
    await this.listening.catch(() => {});
    await Promise.all(this.threads.map((thread) => thread.close()));
    this.end.resolve();
  }
}

/** What one of so many threads may have open, so that all of them keep to what the settings say. */
export function shareOf(config: Config, count: number): Config {
  const share = (most: number): number => Math.max(1, Math.floor(most / count));
  const { server, electrum } = config;
  return {
    ...config,
    server: { ...server, connectionsMax: share(server.connectionsMax), streamsMax: share(server.streamsMax) },
    electrum: { ...electrum, sessionsMax: share(electrum.sessionsMax) },
  };
}
