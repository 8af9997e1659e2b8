/**
 * Nodes of the Bitcoin family as a source: `p2p://host:port[,host:port]`. Goes on
 * where the reader is, hands over checked blocks in runs, turns when the chain
 * turns, and stays: a lost node is tried again with growing pauses, the next one
 * first where there are several. Of several, the one with the most work is
 * followed.
 *
 * It stops, and says why, when trying again cannot help: another network, or a
 * chain that has none of our points.
 */
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { UnspentError } from '../../../util/errors.ts';
import { CONNECT_MS, P2P_COMPARE_GRACE_MS, P2P_COMPARE_MS } from '../../../util/limits.ts';
import { dial } from '../../dial.ts';
import type { NodeSource } from '../../peer.ts';
import { type FollowPosition, type PeerOptions, Peers } from '../../peers.ts';
import type { FollowOptions, Run } from '../../source.ts';
import { type NodeAddress, parseNodes } from './address.ts';
import { type Batch, Client } from './client.ts';
import { findBetter } from './comparison.ts';
import { greet, settled } from './handshake.ts';
import { HeaderPath } from './header-path.ts';
import { Link } from './link.ts';
import { PROTOCOL_VERSION } from './messages.ts';
import type { OpenLink } from './submission.ts';
import { TxFeed } from './tx-feed.ts';

export interface P2pOptions extends PeerOptions {
  readonly connectMs?: number;
  /** Every time limit of the protocol is multiplied by it; tests do not wait a minute. */
  readonly timeScale?: number;
  /** Milliseconds between looks at another node's headers, and for the followed one to show as much work. */
  readonly compareMs?: readonly [everyMs: number, graceMs: number];
}

/** One or more nodes of the same chain, tried in turn. Reads nothing before it is followed. */
export function openP2p(urls: readonly string[], network: BitcoinNetwork, options: P2pOptions = {}): NodeSource {
  const follower = new Follower(parseNodes(urls, network.p2pPort), network, options);
  return {
    name: urls.join(', '),
    runs: (follow) => follower.runs(follow),
    status: () => follower.peers.status(),
    mempool: follower.feed,
  };
}

class Follower {
  readonly feed: TxFeed;
  readonly peers: Peers<NodeAddress>;
  private readonly network: BitcoinNetwork;
  private readonly options: P2pOptions;
  private readonly timeScale: number;
  private route: HeaderPath | null = null;
  private client: Client | null = null;

  constructor(addresses: readonly NodeAddress[], network: BitcoinNetwork, options: P2pOptions) {
    this.peers = new Peers(addresses, options, () => this.standing());
    this.network = network;
    this.options = options;
    this.timeScale = options.timeScale ?? 1;
    this.feed = new TxFeed(network, this.timeScale);
  }

  runs({ from, chain, signal, follow }: FollowOptions): AsyncGenerator<Run, void, undefined> {
    const route = new HeaderPath(this.network, from, chain);
    this.route = route;
    return this.peers.followWithFailover(signal, follow, () => this.follow(route, signal, follow));
  }

  private standing(): FollowPosition {
    const height = this.client?.tipHeight ?? this.route?.bestHeight ?? null;
    return { tip: height === null ? null : { slot: height, height }, at: this.route?.at ?? null };
  }

  /** One connection. Returns when there is nothing more to come, or on abort. */
  private async *follow(route: HeaderPath, signal: AbortSignal, follow: boolean): AsyncGenerator<Run, void, undefined> {
    const { network, feed, timeScale } = this;
    const { address } = this.peers;
    const link = await this.open(address, signal);
    const stopped = new UnspentError('INTERRUPTED', 'stopped');
    const onAbort = (): void => link.fail(stopped);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    const left = new AbortController();
    let isComparing = false;
    try {
      const client = await Client.over(link, { network, route, feed, timeScale, connect: () => this.connect(address, signal) });
      this.client = client;
      this.peers.following(`P2P ${Math.min(PROTOCOL_VERSION, client.version.version)}`);
      for (;;) {
        const batch = await client.next();
        yield runOf(batch, client);
        if (signal.aborted || (batch.atTip && !follow)) return;
        // Before its tip, a node is busy giving us what it has.
        if (batch.atTip && !isComparing) void this.compare(client, route, AbortSignal.any([signal, left.signal]));
        isComparing ||= batch.atTip;
      }
    } finally {
      left.abort();
      signal.removeEventListener('abort', onAbort);
      this.client?.close(stopped);
      this.client = null;
      link.fail(stopped);
    }
  }

  /** Leaves the node that is followed for one that has more work. */
  private async compare(client: Client, route: HeaderPath, signal: AbortSignal): Promise<void> {
    const [everyMs, graceMs] = this.options.compareMs ?? [P2P_COMPARE_MS, P2P_COMPARE_GRACE_MS];
    const { address, others } = this.peers;
    const connect = (other: NodeAddress): Promise<OpenLink> => this.connect(other, signal);
    const better = await findBetter({ route, others, connect, everyMs, graceMs, timeScale: this.timeScale, signal }).catch(
      (error) => error,
    );
    if (better === null || signal.aborted) return;
    if (better instanceof Error) return client.close(better);
    this.peers.prefer(better);
    client.close(new UnspentError('SOURCE_UNREACHABLE', `${address.url} has less work than ${better.url}`, { peer: address.url }));
  }

  private async open(address: NodeAddress, signal: AbortSignal): Promise<Link> {
    return new Link(await dial(address, this.options.connectMs ?? CONNECT_MS, signal), this.network.magic, address.url);
  }

  /** A further connection, for what the node does not tell over the first. */
  private async connect(address: NodeAddress, signal: AbortSignal): Promise<OpenLink> {
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
}

function runOf({ events, atTip }: Batch, { tipHeight }: Client): Run {
  return { events, atTip, tip: { slot: tipHeight, height: tipHeight } };
}
