/**
 * A node's RPC as a source: `rpc://user:password@host:port`. Goes on where the
 * reader is, fetches blocks in batches ahead of it, turns with the node from the
 * exact fork point, and stays: a lost node is tried again with growing pauses.
 *
 * It stops, and says why, when trying again cannot help: another network, a
 * chain that has none of our points, a password that is not taken.
 */
import { prevHashOf } from '../../../ledgers/bitcoin/decode.ts';
import { parseId } from '../../../ledgers/bitcoin/ids.ts';
import { type BitcoinNetwork, formatId } from '../../../ledgers/bitcoin/index.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { RPC_POLL_MS } from '../../../util/limits.ts';
import { pause } from '../../../util/pause.ts';
import type { NodeSource } from '../../peer.ts';
import { type PeerOptions, Peers } from '../../peers.ts';
import type { ChainEvent, FollowOptions, Run, SourceTip } from '../../source.ts';
import { RpcClient } from './client.ts';
import { findCommon } from './common-ground.ts';
import { DeliveredBlocks } from './delivered-blocks.ts';
import { BlockFetcher, type FetchedBlock } from './fetcher.ts';
import { RpcMempool } from './mempool.ts';
import { type Best, RpcNode } from './node.ts';

export interface RpcOptions extends PeerOptions {
  /** Milliseconds between questions for a new block. */
  readonly pollMs?: number;
  /** The least milliseconds between looks at its mempool. */
  readonly mempoolMs?: number;
}

/** Reads nothing before it is followed. Throws USAGE. */
export function openRpc(url: string, network: BitcoinNetwork, options: RpcOptions = {}): NodeSource {
  const follower = new Follower(new RpcClient(url, network), network, options);
  const { name, mempool, peers } = follower;
  return { name, mempool, runs: (follow) => follower.runs(follow), status: () => peers.status() };
}

class Follower {
  readonly mempool: RpcMempool;
  readonly peers: Peers<{ readonly url: string }>;
  private readonly client: RpcClient;
  private readonly network: BitcoinNetwork;
  private readonly options: RpcOptions;
  private handedOver = new DeliveredBlocks([]);
  private best: Best | null = null;
  /** Whether the last run said that this is the tip. */
  private toldTip = false;

  constructor(client: RpcClient, network: BitcoinNetwork, options: RpcOptions) {
    this.client = client;
    this.network = network;
    this.options = options;
    this.peers = new Peers([{ url: client.name }], options, () => ({ tip: this.tip, at: this.handedOver.newest }));
    this.mempool = new RpcMempool(client, network, options.mempoolMs);
  }

  get name(): string {
    return this.client.name;
  }

  runs({ from, chain, signal, follow }: FollowOptions): AsyncGenerator<Run, void, undefined> {
    this.handedOver = new DeliveredBlocks(from, chain);
    return this.peers.followWithFailover(signal, follow, () => this.follow(signal, follow));
  }

  /** For as long as the node answers. Returns when there is nothing more to come, or on abort. */
  private async *follow(signal: AbortSignal, follow: boolean): AsyncGenerator<Run, void, undefined> {
    const stop = new AbortController();
    const node = new RpcNode(this.client, AbortSignal.any([signal, stop.signal]));
    try {
      this.peers.following(await this.meet(node));
      this.toldTip = false;
      while (!signal.aborted) {
        const best = await node.best();
        this.best = best;
        const back = await this.turn(node, best);
        if (back !== null) yield this.run([back], false);
        const isNew = yield* this.catchUp(node, best);
        if (!this.isAt(best)) {
          if (isNew || back !== null) continue;
          throw new UnspentError(
            'SOURCE_UNREACHABLE',
            `${this.name} names block ${formatId(best.hash)} its best and does not give it to us`,
          );
        }
        if (!this.toldTip) yield this.run([], true);
        if (!follow) return;
        await this.waitForNews(node, best, signal);
      }
    } finally {
      stop.abort();
      this.client.close();
    }
  }

  /** Checks that the node is of our network, and returns the version it speaks. */
  private async meet(node: RpcNode): Promise<string> {
    const version = await node.version();
    const [first] = await node.hashesAt([0]);
    if (first !== null && equalBytes(first, parseId(this.network.genesisHash))) return version === null ? 'RPC' : `RPC ${version}`;
    const { name, genesisHash } = this.network;
    const theirs = first === null ? 'has no first block' : `begins with block ${formatId(first)}`;
    throw new UnspentError('NETWORK_WRONG', `the chain of ${this.name} ${theirs}; '${name}' begins with ${genesisHash}`, { network: name });
  }

  /** The step back to where the node's chain parts from the reader's; null: it goes on from the reader's tip. */
  private async turn(node: RpcNode, best: Best): Promise<ChainEvent | null> {
    const { newest } = this.handedOver;
    if (newest === null || this.isAt(best)) return null;
    const common = await findCommon(node, this.handedOver);
    if (common === null) throw this.nothingShared(best);
    if (common.height === newest.height) return null;
    this.handedOver.back(common);
    return { kind: 'back', point: common };
  }

  /** Blocks up to the node's best, or up to where it turned meanwhile. True when there was one. */
  private async *catchUp(node: RpcNode, best: Best): AsyncGenerator<Run, boolean, undefined> {
    const fetcher = new BlockFetcher(node, (this.handedOver.newest?.height ?? -1) + 1, best.height);
    let isNew = false;
    for (;;) {
      const blocks = await fetcher.take();
      const events = this.forward(blocks);
      if (events.length > 0) yield this.run(events, this.isAt(best));
      isNew ||= events.length > 0;
      if (blocks.length === 0 || events.length < blocks.length) return isNew;
    }
  }

  /** As many of them as follow one another from where the reader is. */
  private forward(blocks: readonly FetchedBlock[]): ChainEvent[] {
    const events: ChainEvent[] = [];
    for (const { height, hash, raw } of blocks) {
      const { newest } = this.handedOver;
      const before = prevHashOf(raw);
      if (newest === null ? height !== 0 : before === null || !equalBytes(before, newest.hash)) break;
      this.handedOver.push(hash);
      events.push({ kind: 'forward', raw, intact: false, height });
    }
    return events;
  }

  /** Returns when the node has another best block, or on abort. Meanwhile its mempool is followed. */
  private async waitForNews(node: RpcNode, { hash }: Best, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const hasMore = await this.mempool.step(node);
      if (!hasMore) await pause(this.options.pollMs ?? RPC_POLL_MS, { signal });
      if (signal.aborted || !equalBytes(await node.bestHash(), hash)) return;
    }
  }

  private isAt({ hash }: Best): boolean {
    const { newest } = this.handedOver;
    return newest !== null && equalBytes(newest.hash, hash);
  }

  private run(events: readonly ChainEvent[], atTip: boolean): Run {
    const { tip } = this;
    this.toldTip = atTip;
    return tip === null ? { events, atTip } : { events, tip, atTip };
  }

  private get tip(): SourceTip | null {
    return this.best === null ? null : { slot: this.best.height, height: this.best.height };
  }

  private nothingShared({ height }: Best): UnspentError {
    const points = this.handedOver.candidates();
    const oldest = points[points.length - 1];
    if (height < oldest.height) {
      return new UnspentError(
        'SOURCE_UNREACHABLE',
        `${this.name} is behind all of our points (its tip is at height ${height}): it is still syncing`,
      );
    }
    const [{ height: ours, hash }] = points;
    const message =
      `${this.name} has none of our ${points.length} points: its chain forks below our horizon, or is another one (its tip is at height ` +
      `${height}; our newest is ${ours}, block ${formatId(hash)}). Follow another node, or sync a new store from this one with another --data DIR`;
    return new UnspentError('SOURCE_FORK', message, { points: points.length });
  }
}
