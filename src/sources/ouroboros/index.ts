/**
 * Live nodes as a source: `n2n://host:port` and `n2c:PATH`. Goes on where the
 * reader is, hands over verified blocks in runs, follows rollbacks, and stays:
 * a lost peer is tried again with growing pauses, the next one first where there
 * are several.
 *
 * It stops, and says why, when trying again cannot help: another network, or a
 * chain that has none of our points.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { CONNECT_MS, RECONNECT_ATTEMPTS, RECONNECT_MS_MAX, RECONNECT_MS_MIN } from '../../util/limits.ts';
import type { NodeSource, PeerStatus } from '../peer.ts';
import type { ChainEvent, FollowOptions, Run, SourceTip } from '../source.ts';
import type { ChainClient } from './chain-client.ts';
import { type Address, dial, parseAddress } from './dial.ts';
import { versionName } from './handshake.ts';
import { Mux } from './mux.ts';
import { N2cClient } from './n2c-client.ts';
import { N2nClient } from './n2n-client.ts';
import type { Batch } from './outbox.ts';
import { samePoint, type WirePoint, type WireTip } from './point.ts';
import { violation } from './protocol.ts';
import { Trail } from './trail.ts';

export interface OuroborosOptions {
  readonly magic: number;
  readonly byronEpochSlots: number;
  /** Told whenever the connection changes. */
  readonly onPeer?: ((status: PeerStatus) => void) | undefined;
  /** First and longest pause before a lost peer is tried again. */
  readonly reconnectMs?: readonly [number, number];
  /** Rounds over all peers without a block, after which a sync that does not follow gives up. */
  readonly attempts?: number;
  readonly connectMs?: number;
  /** Every time limit of the protocols is multiplied by it; tests do not wait a minute. */
  readonly timeScale?: number;
}

export type { PeerStatus } from '../peer.ts';

export type OuroborosSource = NodeSource;

/** One or more peers of the same chain, tried in turn. Reads nothing before it is followed. */
export function openOuroboros(urls: readonly string[], options: OuroborosOptions): OuroborosSource {
  const addresses = urls.map(parseAddress);
  if (addresses.length === 0) throw new UnspentError('USAGE', 'no address of a node was given');
  const follower = new Follower(addresses, options);
  return { name: urls.join(', '), runs: (follow) => follower.runs(follow), status: () => follower.status() };
}

class Follower {
  private readonly addresses: readonly Address[];
  private readonly options: OuroborosOptions;
  private trail = new Trail([]);
  private which = 0;
  private state: PeerStatus['state'] = 'stopped';
  private version = '';
  private tip: WireTip | null = null;
  private lastRollback: PeerStatus['lastRollback'] = null;
  private lost = 0;
  private lastError: UnspentError | null = null;
  /** Blocks handed over. */
  private blocks = 0;
  /** Peers whose chain we cannot follow, since the last block. */
  private readonly strangers = new Set<Address>();

  constructor(addresses: readonly Address[], options: OuroborosOptions) {
    this.addresses = addresses;
    this.options = options;
  }

  status(): PeerStatus {
    const { state, version, lastRollback, lost, lastError } = this;
    const at = this.trail.newest;
    const tip = this.sourceTip() ?? null;
    const lagBlocks = tip?.height === undefined ? null : Math.max(0, tip.height - (at?.height ?? -1));
    return { state, peer: this.address.url, version, tip, at, lagBlocks, lastRollback, lost, lastError };
  }

  async *runs({ from, chain, signal, follow }: FollowOptions): AsyncGenerator<Run, void, undefined> {
    this.trail = new Trail(from, chain);
    /** Since the last block. */
    let failures = 0;
    try {
      while (!signal.aborted) {
        const { blocks } = this;
        try {
          yield* this.follow(signal, follow);
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

  /** One connection, from the first byte to the last. Returns when there is nothing more to come, or on abort. */
  private async *follow(signal: AbortSignal, follow: boolean): AsyncGenerator<Run, void, undefined> {
    const client = await this.connect(signal);
    const onAbort = (): void => client.mux.fail(new UnspentError('INTERRUPTED', 'stopped'));
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    try {
      const start = await this.meet(client);
      this.become('following', versionName(client.agreement.version));
      if (start !== null) yield this.run([start], false);
      for (;;) {
        const batch = await client.next();
        this.tip = batch.tip;
        yield this.run(this.events(batch), batch.atTip);
        if (signal.aborted || (batch.atTip && !follow)) return;
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      await client.close();
    }
  }

  private async connect(signal: AbortSignal): Promise<ChainClient> {
    this.become('connecting');
    const { address } = this;
    const { connectMs = CONNECT_MS, timeScale = 1 } = this.options;
    const mux = new Mux(await dial(address, connectMs, signal), { peer: address.url, timeScale });
    const onAbort = (): void => mux.fail(new UnspentError('INTERRUPTED', 'stopped'));
    signal.addEventListener('abort', onAbort);
    try {
      return await (address.wire === 'n2n' ? N2nClient.over(mux, this.options) : N2cClient.over(mux, this.options));
    } catch (error) {
      await mux.close();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Finds common ground; the event that brings the reader there, or null when that is where it is. */
  private async meet(client: ChainClient): Promise<ChainEvent | null> {
    const candidates = this.trail.candidates();
    const found = await client.findIntersect(candidates);
    this.tip = client.tip;
    if (found === null) throw this.noCommonPoint(candidates, client.tip);
    const { newest } = this.trail;
    if (samePoint(found.point, newest)) return null;
    return this.back(found.point);
  }

  private events({ events }: Batch): ChainEvent[] {
    return events.map((event) => {
      if (event.kind === 'back') return this.back(event.point);
      this.trail.push(event.point);
      this.blocks++;
      return event;
    });
  }

  private back(point: WirePoint): ChainEvent {
    const to = this.trail.back(point);
    // Met again, it is asked for a point that we do have.
    if (to === undefined) throw violation('a rollback to a point we were never at', { slot: point?.slot ?? null });
    this.lastRollback = { time: Date.now(), to };
    return { kind: 'back', point: to };
  }

  private run(events: readonly ChainEvent[], atTip: boolean): Run {
    if (events.length > 0) this.strangers.clear();
    const tip = this.sourceTip();
    return tip === undefined ? { events, atTip } : { events, tip, atTip };
  }

  private sourceTip(): SourceTip | undefined {
    return this.tip?.point ? { slot: this.tip.point.slot, height: this.tip.height } : undefined;
  }

  private noCommonPoint(candidates: readonly WirePoint[], tip: WireTip): UnspentError {
    const { url } = this.address;
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

  /** Throws when trying again cannot help, or was tried enough. */
  private giveUp(error: UnspentError, failures: number, follow: boolean): void {
    this.lost++;
    this.lastError = error;
    this.become('waiting');
    const { length } = this.addresses;
    // Of one peer this is final; of several, another may know better.
    if (error.code === 'SOURCE_FORK' || error.code === 'UNSUPPORTED') {
      this.strangers.add(this.address);
      if (this.strangers.size === length) throw error;
    } else if (error.code !== 'SOURCE_UNREACHABLE' && error.code !== 'PROTOCOL') throw error;
    if (!follow && failures >= (this.options.attempts ?? RECONNECT_ATTEMPTS) * length) throw error;
  }

  /** The next peer at once; when all were tried, a pause that doubles, with jitter so that many do not come back together. */
  private async pause(failures: number, signal: AbortSignal): Promise<void> {
    this.which = (this.which + 1) % this.addresses.length;
    if (failures % this.addresses.length !== 0) return;
    const [first, longest] = this.options.reconnectMs ?? [RECONNECT_MS_MIN, RECONNECT_MS_MAX];
    const round = failures / this.addresses.length - 1;
    const delay = Math.min(longest, first * 2 ** Math.min(round, 30));
    await sleep(delay * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
  }

  private become(state: PeerStatus['state'], version = ''): void {
    this.state = state;
    this.version = version;
    this.options.onPeer?.(this.status());
  }

  private get address(): Address {
    return this.addresses[this.which];
  }
}
