/**
 * Live nodes as a source: `n2n://host:port` and `n2c:PATH`. Goes on where the
 * reader is, hands over verified blocks in runs, follows rollbacks, and stays:
 * a lost peer is tried again with growing pauses, the next one first where there
 * are several.
 *
 * It stops, and says why, when trying again cannot help: another network, or a
 * chain that has none of our points.
 */
import { toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { CONNECT_MS } from '../../../util/limits.ts';
import { dial } from '../../dial.ts';
import type { NodeSource } from '../../peer.ts';
import { type PeerOptions, Peers } from '../../peers.ts';
import type { ChainEvent, FollowOptions, Run, SourceTip } from '../../source.ts';
import { type Address, parseAddress } from './address.ts';
import type { ChainClient } from './chain-client.ts';
import { versionName } from './handshake.ts';
import { NodeLedger } from './ledger-feed.ts';
import { Mux } from './mux.ts';
import { N2cClient } from './n2c-client.ts';
import { N2nClient } from './n2n-client.ts';
import { NodeMempool } from './node-mempool.ts';
import type { Batch } from './outbox.ts';
import { explainClosing, type PeerDepths, usualDepths } from './pipeline-depth.ts';
import { samePoint, type WirePoint, type WireTip } from './point.ts';
import { violation } from './protocol.ts';
import { RecentPoints } from './recent-points.ts';

export interface OuroborosOptions extends PeerOptions {
  readonly magic: number;
  readonly byronEpochSlots: number;
  readonly connectMs?: number;
  /** Every time limit of the protocols is multiplied by it; tests do not wait a minute. */
  readonly timeScale?: number;
}

export type OuroborosSource = NodeSource;

/** One or more peers of the same chain, tried in turn. Reads nothing before it is followed. */
export function openOuroboros(urls: readonly string[], options: OuroborosOptions): OuroborosSource {
  const addresses = urls.map(parseAddress);
  if (addresses.length === 0) throw new UnspentError('USAGE', 'no address of a node was given');
  const follower = new Follower(addresses, options);
  const source = { name: urls.join(', '), runs: (follow: FollowOptions) => follower.runs(follow), status: () => follower.peers.status() };
  // Only the local socket of a node has questions and transactions beside its blocks.
  if (addresses.some(({ wire }) => wire !== 'n2c')) return source;
  return { ...source, ledger: follower.ledger, mempool: follower.mempool };
}

class Follower {
  readonly peers: Peers<Address>;
  readonly ledger = new NodeLedger(() => this.local());
  readonly mempool = new NodeMempool(this.ledger);
  private readonly options: OuroborosOptions;
  private recent = new RecentPoints([]);
  private tip: WireTip | null = null;
  /** The connection there is, over a local socket. */
  private client: N2cClient | null = null;
  /** How far ahead each peer may be asked, as found out so far. */
  private readonly depths = new Map<Address, PeerDepths>();

  constructor(addresses: readonly Address[], options: OuroborosOptions) {
    this.options = options;
    this.peers = new Peers(addresses, options, () => ({ tip: this.sourceTip() ?? null, at: this.recent.newest }));
  }

  runs({ from, chain, signal, follow }: FollowOptions): AsyncGenerator<Run, void, undefined> {
    this.recent = new RecentPoints(from, chain);
    return this.peers.followWithFailover(signal, follow, () => this.follow(signal, follow));
  }

  /** Throws SOURCE_UNREACHABLE while there is none. */
  private local(): N2cClient {
    if (this.client !== null) return this.client;
    throw new UnspentError('SOURCE_UNREACHABLE', `${this.peers.address.url} is not connected just now`, { url: this.peers.address.url });
  }

  /** One connection, from the first byte to the last. Returns when there is nothing more to come, or on abort. */
  private async *follow(signal: AbortSignal, follow: boolean): AsyncGenerator<Run, void, undefined> {
    const depths = this.depthsOf(this.peers.address);
    const client = await this.connect(signal, depths);
    const onAbort = (): void => client.mux.fail(new UnspentError('INTERRUPTED', 'stopped'));
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    try {
      const start = await this.meet(client);
      this.peers.following(versionName(client.agreement.version));
      if (client instanceof N2cClient) {
        this.client = client;
        // It ends with the connection.
        void this.mempool.follow(client);
      }
      if (start !== null) yield this.run([start], false);
      for (;;) {
        const batch = await client.next();
        this.tip = batch.tip;
        yield this.run(this.events(batch), batch.atTip);
        if (signal.aborted || (batch.atTip && !follow)) return;
      }
    } catch (error) {
      throw explainClosing(error, this.peers.address.url, depths);
    } finally {
      this.client = null;
      signal.removeEventListener('abort', onAbort);
      await client.close();
    }
  }

  private depthsOf(address: Address): PeerDepths {
    const depths = this.depths.get(address) ?? usualDepths(address.wire);
    this.depths.set(address, depths);
    return depths;
  }

  private async connect(signal: AbortSignal, depths: PeerDepths): Promise<ChainClient> {
    const { address } = this.peers;
    const { connectMs = CONNECT_MS, timeScale = 1 } = this.options;
    const mux = new Mux(await dial(address, connectMs, signal), { peer: address.url, timeScale });
    const onAbort = (): void => mux.fail(new UnspentError('INTERRUPTED', 'stopped'));
    signal.addEventListener('abort', onAbort);
    try {
      const options = { ...this.options, depths };
      return await (address.wire === 'n2n' ? N2nClient.over(mux, options) : N2cClient.over(mux, options));
    } catch (error) {
      await mux.close();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Finds common ground; the event that brings the reader there, or null when that is where it is. */
  private async meet(client: ChainClient): Promise<ChainEvent | null> {
    const candidates = this.recent.candidates();
    const found = await client.findIntersect(candidates);
    this.tip = client.tip;
    if (found === null) throw this.noCommonPoint(candidates, client.tip);
    const { newest } = this.recent;
    if (samePoint(found.point, newest)) return null;
    return this.back(found.point);
  }

  private events({ events }: Batch): ChainEvent[] {
    return events.map((event) => {
      if (event.kind === 'back') return this.back(event.point);
      this.recent.push(event.point);
      return event;
    });
  }

  private back(point: WirePoint): ChainEvent {
    const to = this.recent.back(point);
    // An honest peer does not do this. After a reconnect the intersection is a point that we do have.
    if (to === undefined) throw violation('a rollback to a point we were never at', { slot: point?.slot ?? null });
    return { kind: 'back', point: to };
  }

  private run(events: readonly ChainEvent[], atTip: boolean): Run {
    const tip = this.sourceTip();
    return tip === undefined ? { events, atTip } : { events, tip, atTip };
  }

  private sourceTip(): SourceTip | undefined {
    return this.tip?.point ? { slot: this.tip.point.slot, height: this.tip.height } : undefined;
  }

  private noCommonPoint(candidates: readonly WirePoint[], tip: WireTip): UnspentError {
    const { url } = this.peers.address;
    const oldest = candidates.at(-1) ?? null;
    const theirs = tip.point === null ? 'it has no block yet' : `its tip is at slot ${tip.point.slot}`;
    if (oldest !== null && (tip.point?.slot ?? -1) < oldest.slot) {
      return new UnspentError('SOURCE_UNREACHABLE', `${url} is behind all of our points (${theirs}): it is still syncing`, { url });
    }
    const ours = candidates[0] === null ? 'the origin' : `slot ${candidates[0].slot}, block ${toHex(candidates[0].hash)}`;
    const message =
      `${url} has none of our ${candidates.length} points: its chain forks below our horizon, or is another one ` +
      `(${theirs}; our newest is ${ours}). Follow another node, or sync a new store from this one with another --data DIR`;
    return new UnspentError('SOURCE_FORK', message, { url, points: candidates.length });
  }
}
