/**
 * One connection to a node, from its greeting to its end: headers first, blocks
 * along the best branch known so far, many on their way at once and handed over
 * in order, then new ones as they are announced.
 *
 * Messages change what is known as they come; whoever follows asks for what
 * there is to be handed over, and waits for it.
 */
import { type BitcoinNetwork, formatId } from '../../../ledgers/bitcoin/index.ts';
import { UnspentError } from '../../../util/errors.ts';
import { GROUP_BLOCKS_MAX, GROUP_BYTES_MAX, P2P_ANSWER_MS, P2P_HEADERS_MAX, P2P_PING_MS, P2P_SILENCE_MS } from '../../../util/limits.ts';
import type { ChainEvent } from '../../source.ts';
import { Downloads } from './downloads.ts';
import { violation } from './frame.ts';
import { greet } from './handshake.ts';
import type { HeaderPath } from './header-path.ts';
import type { Link } from './link.ts';
import { ITEM, type Item, type Message, SERVICE, type Version } from './messages.ts';
import type { Connect } from './submission.ts';
import type { TxFeed } from './tx-feed.ts';

const NO_HASH = new Uint8Array(32);
const NO_NONCE = new Uint8Array(8);
/** Looks at the clock in the time of the shortest limit. */
const TICKS = 20;
/** Headers of unknown parents: the answer of a node of another network, or news that crossed our question. */
const UNLINKED_MAX = 2;
/** The same of a node that gave a good answer before: it may tell of many blocks of a new branch, one by one, before it answers. */
const UNLINKED_NEWS_MAX = 1000;

export interface Batch {
  readonly events: readonly ChainEvent[];
  readonly atTip: boolean;
}

export interface ClientOptions {
  readonly network: BitcoinNetwork;
  readonly route: HeaderPath;
  readonly feed: TxFeed;
  /** Opens a further connection to the node. */
  readonly connect: Connect;
  readonly timeScale: number;
}

export class Client {
  readonly version: Version;
  private readonly link: Link;
  private readonly options: ClientOptions;
  private readonly route: HeaderPath;
  private readonly downloads: Downloads;
  private readonly timer: NodeJS.Timeout;
  private failure: Error | null = null;
  private wake: (() => void) | null = null;
  private wakeReader: (() => void) | null = null;
  /** When headers were asked for; 0: no question is open. */
  private askedAt = 0;
  private unlinked = 0;
  /** The node has more headers above the best than we hold at once. */
  private hasMore = false;
  private toldTip = false;
  private heardAt = Date.now();
  private blockAt = Date.now();
  private pingedAt = Date.now();

  private constructor(link: Link, version: Version, options: ClientOptions) {
    this.link = link;
    this.version = version;
    this.options = options;
    this.route = options.route;
    this.downloads = new Downloads(options.network, options.route);
    this.timer = setInterval(() => this.tick(), (P2P_ANSWER_MS * options.timeScale) / TICKS);
  }

  /** Greets the node and asks for its headers. Throws what ends the connection. */
  static async over(link: Link, options: ClientOptions): Promise<Client> {
    const messages = link.messages();
    options.route.forget();
    const version = await greet(link, messages, options.network, options.route.at?.height ?? 0, options.timeScale);
    const client = new Client(link, version, options);
    link.send({ kind: 'sendheaders' });
    client.askHeaders();
    options.feed.connected(link, options.connect);
    void client.read(messages);
    return client;
  }

  /** Height of the node's newest block, as far as it has said. */
  get tipHeight(): number {
    const { bestHeight } = this.route;
    return this.downloads.isSynced ? bestHeight : Math.max(bestHeight, this.version.startHeight);
  }

  /** What is there to be handed over; waits until something is. Throws what ended the connection. */
  async next(): Promise<Batch> {
    for (;;) {
      const events = this.failure === null ? this.gather() : [];
      const atTip = this.isAtTip();
      if (events.length > 0 || (atTip && !this.toldTip)) {
        this.toldTip = atTip;
        if (atTip) this.options.feed.open((this.version.services & SERVICE.bloom) !== 0n);
        return { events, atTip };
      }
      if (this.failure !== null) throw this.failure;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  close(why: Error): void {
    this.fail(why);
  }

  private async read(messages: AsyncIterable<Message>): Promise<void> {
    try {
      for await (const message of messages) {
        this.heardAt = Date.now();
        this.handle(message);
        this.notify();
        await this.roomToRead();
      }
    } catch (error) {
      this.fail(this.link.named(error as Error));
    }
  }

  /** A reader that is slower than the node is waited for. */
  private async roomToRead(): Promise<void> {
    while (this.downloads.isFull && this.failure === null) {
      await new Promise<void>((resolve) => {
        this.wakeReader = resolve;
      });
      // The node was not listened to; that is not its fault.
      this.heardAt = this.blockAt = Date.now();
      if (this.askedAt !== 0) this.askedAt = this.heardAt;
    }
  }

  private handle(message: Message): void {
    if (message.kind === 'headers') this.takeHeaders(message.headers);
    else if (message.kind === 'block') {
      this.blockAt = Date.now();
      this.downloads.arrived(message.raw);
    } else if (message.kind === 'ping') this.link.send({ kind: 'pong', nonce: message.nonce });
    // We have nothing to give, and say so.
    else if (message.kind === 'getheaders') this.link.send({ kind: 'headers', headers: [] });
    else if (message.kind === 'version' || message.kind === 'verack') throw violation(`'${message.kind}' after the handshake`);
    else {
      if (message.kind === 'inv' && message.items.some((item) => this.isNews(item)) && this.askedAt === 0) this.askHeaders();
      if (message.kind === 'notfound') this.notFound(message.items);
      this.options.feed.handle(message);
    }
    this.askBlocks();
  }

  private isNews({ type, hash }: Item): boolean {
    return type === ITEM.block && this.route.tree.find(hash) === -1;
  }

  private askHeaders(since?: number): void {
    this.askedAt = Date.now();
    this.link.send({ kind: 'getheaders', locator: this.route.locator(since), stop: NO_HASH });
  }

  private takeHeaders(headers: readonly Uint8Array[]): void {
    const { route, downloads } = this;
    if (headers.length > 0 && !route.links(headers[0])) {
      this.takeUnlinked(headers[0]);
      return;
    }
    this.askedAt = 0;
    this.unlinked = 0;
    if (headers.length > 0) {
      const last = route.take(headers, this.link.peer);
      downloads.isOfNetwork = true;
      if (headers.length === P2P_HEADERS_MAX) this.goOn(last);
    }
    if (headers.length < P2P_HEADERS_MAX) downloads.isSynced = true;
    this.toldTip = false;
  }

  /** After as many headers as fit in a message: the next ones, at once or, when many are waiting for their blocks, later. */
  private goOn(last: number): void {
    this.hasMore = last === this.route.tree.best && !this.route.hasRoom;
    if (!this.hasMore) this.askHeaders(last);
  }

  /** Headers whose parent we do not know. Of a node that has answered well before they are news; what lies between is asked for. */
  private takeUnlinked(first: Uint8Array): void {
    const { isOfNetwork, isSynced } = this.downloads;
    const isNews = (isOfNetwork || isSynced) && !this.route.beginsChain(first);
    if (++this.unlinked >= (isNews ? UNLINKED_NEWS_MAX : UNLINKED_MAX))
      throw this.route.strange(first, this.link.peer, this.version.startHeight, isOfNetwork);
    if (!isNews || this.askedAt === 0) this.askHeaders();
  }

  private askBlocks(): void {
    const hashes = this.downloads.ask();
    if (hashes.length === 0) return;
    if (this.downloads.waiting === hashes.length) this.blockAt = Date.now();
    this.link.send({ kind: 'getdata', items: hashes.map((hash) => ({ type: ITEM.witnessBlock, hash })) });
  }

  private notFound(items: readonly Item[]): void {
    const lost = items.find(({ type, hash }) => type === ITEM.witnessBlock && this.downloads.has(hash));
    if (lost === undefined) return;
    const hash = formatId(lost.hash);
    throw new UnspentError('SOURCE_UNREACHABLE', `${this.link.peer} does not have block ${hash}`, { peer: this.link.peer, hash });
  }

  private gather(): ChainEvent[] {
    const events: ChainEvent[] = [];
    try {
      for (let bytes = 0; events.length < GROUP_BLOCKS_MAX && bytes < GROUP_BYTES_MAX; ) {
        const step = this.downloads.step();
        if (step === null) break;
        const { back, block } = step;
        if (back !== null) events.push({ kind: 'back', point: back });
        events.push({ kind: 'forward', raw: block.raw, intact: true, height: block.height, block });
        this.options.feed.confirmed(block.txs);
        bytes += block.raw.length;
      }
    } catch (error) {
      // What came before it is good.
      this.fail(this.link.named(error as Error));
    }
    if (events.length > 0) {
      this.route.trim();
      if (this.hasMore && this.route.hasRoom) {
        this.hasMore = false;
        this.askHeaders();
      }
      this.askBlocks();
      this.notifyReader();
    }
    return events;
  }

  private isAtTip(): boolean {
    return this.failure === null && this.askedAt === 0 && this.downloads.isDone;
  }

  private tick(): void {
    const now = Date.now();
    const limit = (ms: number): number => ms * this.options.timeScale;
    const { peer } = this.link;
    const stalled = (what: string): void => this.fail(new UnspentError('SOURCE_UNREACHABLE', `${peer} ${what}`, { peer }));
    // The reader is what everybody waits for.
    if (this.wakeReader !== null) return;
    if (this.askedAt !== 0 && now - this.askedAt > limit(P2P_ANSWER_MS))
      stalled('does not give its headers: it may still be syncing itself');
    else if (this.downloads.waiting > 0 && now - this.blockAt > limit(P2P_ANSWER_MS)) stalled('does not give the blocks it was asked for');
    else if (now - this.heardAt > limit(P2P_SILENCE_MS)) stalled('has fallen silent');
    else if (now - Math.max(this.heardAt, this.pingedAt) > limit(P2P_PING_MS)) {
      this.pingedAt = now;
      this.link.send({ kind: 'ping', nonce: NO_NONCE });
    }
  }

  /** A mistake of ours is told as it is: it ends the source, not only the connection. */
  private fail(error: Error): void {
    if (this.failure !== null) return;
    this.failure = error;
    clearInterval(this.timer);
    const why = error instanceof UnspentError ? error : new UnspentError('CLOSED', 'an error of ours', {}, error);
    this.link.fail(why);
    this.options.feed.disconnected(why);
    this.notify();
    this.notifyReader();
  }

  private notify(): void {
    const { wake } = this;
    this.wake = null;
    wake?.();
  }

  private notifyReader(): void {
    const { wakeReader } = this;
    this.wakeReader = null;
    wakeReader?.();
  }
}
