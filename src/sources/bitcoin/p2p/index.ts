/**
 * Nodes of the Bitcoin family as a source: `p2p://host:port[,host:port]`. Goes on
 * where the reader is, hands over checked blocks in runs, turns when the chain
 * turns, and stays: a lost node is tried again with growing pauses, the next one
 * first where there are several.
 *
 * It stops, and says why, when trying again cannot help: another network, or a
 * chain that has none of our points.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { UnspentError } from '../../../util/errors.ts';
import { CONNECT_MS, RECONNECT_ATTEMPTS, RECONNECT_MS_MAX, RECONNECT_MS_MIN } from '../../../util/limits.ts';
import { dial } from '../../ouroboros/dial.ts';
import type { NodeSource, PeerStatus } from '../../peer.ts';
import type { FollowOptions, Run } from '../../source.ts';
import { type NodeAddress, parseNodes } from './address.ts';
import { type Batch, Client } from './client.ts';
import { greet, settled } from './handshake.ts';
import { Link } from './link.ts';
import { PROTOCOL_VERSION } from './messages.ts';
import { Route } from './route.ts';
import type { Ear } from './submission.ts';
import { TxFeed } from './tx-feed.ts';

export interface P2pOptions {
  /** Told whenever the connection changes. */
  readonly onPeer?: ((status: PeerStatus) => void) | undefined;
  /** First and longest pause before a lost node is tried again. */
  readonly reconnectMs?: readonly [number, number];
  /** Rounds over all nodes without a block, after which a sync that does not follow gives up. */
  readonly attempts?: number;
  readonly connectMs?: number;
  /** Every time limit of the protocol is multiplied by it; tests do not wait a minute. */
  readonly timeScale?: number;
}

/** One or more nodes of the same chain, tried in turn. Reads nothing before it is followed. */
export function openP2p(urls: readonly string[], network: BitcoinNetwork, options: P2pOptions = {}): NodeSource {
  const follower = new Follower(parseNodes(urls, network.p2pPort), network, options);
  return {
    name: urls.join(', '),
    runs: (follow) => follower.runs(follow),
    status: () => follower.status(),
    mempool: follower.feed,
  };
}

class Follower {
  readonly feed: TxFeed;
  private readonly addresses: readonly NodeAddress[];
  private readonly network: BitcoinNetwork;
  private readonly options: P2pOptions;
  private readonly timeScale: number;
  private route: Route | null = null;
  private client: Client | null = null;
  private which = 0;
  private state: PeerStatus['state'] = 'stopped';
  private lastRollback: PeerStatus['lastRollback'] = null;
  private lost = 0;
  private lastError: UnspentError | null = null;
  /** Blocks handed over. */
  private blocks = 0;
  /** Nodes whose chain we cannot follow, since the last block. */
  private readonly strangers = new Set<NodeAddress>();

  constructor(addresses: readonly NodeAddress[], network: BitcoinNetwork, options: P2pOptions) {
    this.addresses = addresses;
    this.network = network;
    this.options = options;
    this.timeScale = options.timeScale ?? 1;
    this.feed = new TxFeed(network, this.timeScale);
  }

  status(): PeerStatus {
    const { state, lastRollback, lost, lastError, client } = this;
    const at = this.route?.at ?? null;
    const height = client?.tipHeight ?? this.route?.bestHeight ?? null;
    const tip = height === null ? null : { slot: height, height };
    const lagBlocks = height === null ? null : Math.max(0, height - (at?.height ?? -1));
    const version = client === null ? '' : `P2P ${Math.min(PROTOCOL_VERSION, client.version.version)}`;
    return { state, peer: this.address.url, version, tip, at, lagBlocks, lastRollback, lost, lastError };
  }

  async *runs({ from, chain, signal, follow }: FollowOptions): AsyncGenerator<Run, void, undefined> {
    const route = new Route(this.network, from, chain);
    this.route = route;
    /** Since the last block. */
    let failures = 0;
    try {
      while (!signal.aborted) {
        const { blocks } = this;
        try {
          yield* this.follow(route, signal, follow);
          return;
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof UnspentError)) throw error;
          failures = this.blocks === blocks ? failures + 1 : 1;
          this.giveUp(error, failures, follow);
        }
        await this.pause(failures, signal);
      }
    } finally {
      this.become('stopped');
    }
  }

  /** One connection. Returns when there is nothing more to come, or on abort. */
  private async *follow(route: Route, signal: AbortSignal, follow: boolean): AsyncGenerator<Run, void, undefined> {
    this.become('connecting');
    const { address, network, feed, timeScale } = this;
    const link = await this.open(address, signal);
    const stopped = new UnspentError('INTERRUPTED', 'stopped');
    const onAbort = (): void => link.fail(stopped);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    try {
      const client = await Client.over(link, { network, route, feed, timeScale, listen: () => this.listen(address, signal) });
      this.client = client;
      this.become('following');
      for (;;) {
        const batch = await client.next();
        yield this.run(batch, client);
        if (signal.aborted || (batch.atTip && !follow)) return;
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.client?.close(stopped);
      this.client = null;
      link.fail(stopped);
    }
  }

  private async open(address: NodeAddress, signal: AbortSignal): Promise<Link> {
    return new Link(await dial(address, this.options.connectMs ?? CONNECT_MS, signal), this.network.magic, address.url);
  }

  /** A second connection, for what the first cannot hear. */
  private async listen(address: NodeAddress, signal: AbortSignal): Promise<Ear> {
    const link = await this.open(address, signal);
    const messages = link.messages();
    try {
      await greet(link, messages, this.network, this.route?.at?.height ?? 0, this.timeScale);
      await settled(link, messages, this.timeScale);
    } catch (error) {
      link.fail(new UnspentError('CLOSED', 'not greeted'));
      throw error;
    }
    return { link, messages };
  }

  private run({ events, atTip }: Batch, { tipHeight }: Client): Run {
    for (const event of events) {
      if (event.kind === 'back') this.lastRollback = { time: Date.now(), to: event.point };
      else this.blocks++;
    }
    if (events.length > 0) this.strangers.clear();
    return { events, atTip, tip: { slot: tipHeight, height: tipHeight } };
  }

  /** Throws when trying again cannot help, or was tried enough. */
  private giveUp(error: UnspentError, failures: number, follow: boolean): void {
    this.lost++;
    this.lastError = error;
    this.become('waiting');
    const { length } = this.addresses;
    // Of one node this is final; of several, another may know better.
    if (error.code === 'SOURCE_FORK' || error.code === 'UNSUPPORTED' || error.code === 'NETWORK_WRONG') {
      this.strangers.add(this.address);
      if (this.strangers.size === length) throw error;
    } else if (error.code !== 'SOURCE_UNREACHABLE' && error.code !== 'PROTOCOL') throw error;
    if (!follow && failures >= (this.options.attempts ?? RECONNECT_ATTEMPTS) * length) throw error;
  }

  /** The next node at once; when all were tried, a pause that doubles, with jitter so that many do not come back together. */
  private async pause(failures: number, signal: AbortSignal): Promise<void> {
    this.which = (this.which + 1) % this.addresses.length;
    if (failures % this.addresses.length !== 0) return;
    const [first, longest] = this.options.reconnectMs ?? [RECONNECT_MS_MIN, RECONNECT_MS_MAX];
    const round = failures / this.addresses.length - 1;
    const delay = Math.min(longest, first * 2 ** Math.min(round, 30));
    await sleep(delay * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
  }

  private become(state: PeerStatus['state']): void {
    this.state = state;
    this.options.onPeer?.(this.status());
  }

  private get address(): NodeAddress {
    return this.addresses[this.which];
  }
}
