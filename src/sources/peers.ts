/**
 * Following with failover: one or more nodes of the same chain, tried in turn.
 * If a connection is lost, the next node is tried at once; after a round over
 * all of them there is a pause, which doubles from round to round. If trying
 * again cannot help (another network, a fork below our horizon), the error is
 * thrown. How to talk to one node is the caller's: it passes a generator for one
 * connection.
 */
import type { Point } from '../ledgers/ledger.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { RECONNECT_ATTEMPTS, RECONNECT_MS_MAX, RECONNECT_MS_MIN } from '../util/limits.ts';
import { pause } from '../util/pause.ts';
import type { PeerStatus } from './peer.ts';
import type { ChainEvent, Run, SourceTip } from './source.ts';

export interface PeerOptions {
  /** Told whenever the connection changes. */
  readonly onPeer?: ((status: PeerStatus) => void) | undefined;
  /** First and longest pause before a lost node is tried again. */
  readonly reconnectMs?: readonly [number, number];
  /** Rounds over all nodes without a block, after which a sync that does not follow gives up. */
  readonly attempts?: number;
}

/** How far the source is: the node's tip, and the block handed over last. */
export interface FollowPosition {
  readonly tip: SourceTip | null;
  readonly at: Point | null;
}

/** With these a node cannot be followed; if there are others, one of them may still be. */
const FINAL_FOR_PEER: readonly string[] = ['SOURCE_FORK', 'UNSUPPORTED', 'NETWORK_WRONG'];
const RETRIED: readonly string[] = ['SOURCE_UNREACHABLE', 'PROTOCOL'];

export class Peers<A extends { readonly url: string }> {
  private readonly addresses: readonly A[];
  private readonly options: PeerOptions;
  private readonly position: () => FollowPosition;
  private which = 0;
  private preferred: A | null = null;
  private state: PeerStatus['state'] = 'stopped';
  private version = '';
  private lastRollback: PeerStatus['lastRollback'] = null;
  private connections = 0;
  private lost = 0;
  private lastError: UnspentError | null = null;
  /** Connections that failed since the last block, and those of them that we ended, because of what the node had sent. */
  private failures = 0;
  private refusals = 0;
  /** Nodes that failed with FINAL_FOR_PEER since the last event. */
  private readonly unfollowable = new Set<A>();

  constructor(addresses: readonly A[], options: PeerOptions, position: () => FollowPosition) {
    this.addresses = addresses;
    this.options = options;
    this.position = position;
  }

  /** The one whose turn it is. */
  get address(): A {
    return this.addresses[this.which];
  }

  status(): PeerStatus {
    const { state, version, lastRollback, connections, lost, lastError, refusals } = this;
    const { tip, at } = this.position();
    const lagBlocks = tip?.height === undefined ? null : Math.max(0, tip.height - (at?.height ?? -1));
    return { state, peer: this.address.url, version, tip, at, lagBlocks, lastRollback, connections, lost, lastError, refusals };
  }

  /** The others, in the order of their turns. */
  get others(): readonly A[] {
    return [...this.addresses.slice(this.which + 1), ...this.addresses.slice(0, this.which)];
  }

  /** The node to try next when the present connection ends. */
  prefer(address: A): void {
    this.preferred = address;
  }

  /** Connected, over this version of the protocol. */
  following(version: string): void {
    this.connections++;
    this.setState('following', version);
  }

  /** `talk` is one connection, from the first byte to the last; it returns when there is nothing more to come, or on abort. */
  async *followWithFailover(
    signal: AbortSignal,
    follow: boolean,
    talk: () => AsyncGenerator<Run, void, undefined>,
  ): AsyncGenerator<Run, void, undefined> {
    this.failures = 0;
    this.refusals = 0;
    try {
      while (!signal.aborted) {
        this.setState('connecting');
        try {
          for await (const run of talk()) {
            this.countEvents(run.events);
            yield run;
          }
          return;
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof UnspentError)) throw error;
          this.recordFailure(error, follow);
          if (isAdapted(error)) continue;
        }
        await this.pause(signal);
      }
    } finally {
      this.setState('stopped');
    }
  }

  private countEvents(events: readonly ChainEvent[]): void {
    if (events.length > 0) this.unfollowable.clear();
    for (const event of events) {
      if (event.kind === 'forward') {
        this.failures = 0;
        this.refusals = 0;
      } else this.lastRollback = { time: Date.now(), to: event.point };
    }
  }

  /** Throws when trying again cannot help, or was tried enough. */
  private recordFailure(error: UnspentError, follow: boolean): void {
    this.lost++;
    this.lastError = error;
    if (error.code === 'PROTOCOL') this.refusals++;
    this.setState('waiting');
    if (isAdapted(error)) return;
    this.failures++;
    const { length } = this.addresses;
    if (FINAL_FOR_PEER.includes(error.code)) {
      this.unfollowable.add(this.address);
      if (this.unfollowable.size === length) throw error;
    } else if (!RETRIED.includes(error.code) || error.meta['refused'] === true) throw error;
    if (!follow && this.failures >= (this.options.attempts ?? RECONNECT_ATTEMPTS) * length)
      throw this.refusals > 1 ? asInvalidBlock(error, this.refusals) : error;
  }

  /** The next node at once; when all were tried, a pause that doubles, with jitter so that many do not come back together. */
  private async pause(signal: AbortSignal): Promise<void> {
    const { length } = this.addresses;
    this.which = (this.preferred === null ? this.which + 1 : this.addresses.indexOf(this.preferred)) % length;
    this.preferred = null;
    if (this.failures % length !== 0) return;
    const [first, longest] = this.options.reconnectMs ?? [RECONNECT_MS_MIN, RECONNECT_MS_MAX];
    const delay = Math.min(longest, first * 2 ** Math.min(this.failures / length - 1, 30));
    await pause(delay * (0.5 + Math.random() / 2), { signal });
  }

  private setState(state: PeerStatus['state'], version = ''): void {
    this.state = state;
    this.version = version;
    this.options.onPeer?.(this.status());
  }
}

/** The source asks this node differently from now on: it is tried again at once, and that is not a failure to reach it. */
function isAdapted({ meta }: UnspentError): boolean {
  return meta['adapted'] === true;
}

/** Bytes that do not decode are a peer's fault the first time. If they come again and again, they are what the chain has, and this version cannot read them. */
function asInvalidBlock(error: UnspentError, times: number): UnspentError {
  const { cause } = error;
  if (!isUnspentError(cause, 'BLOCK_INVALID')) return error;
  return new UnspentError('BLOCK_INVALID', `${error.message}; so it came ${times} times`, error.meta, cause);
}
