/**
 * Follows a node as other nodes do: headers over chain-sync, bodies over
 * block-fetch, both far ahead of need and bounded, and a sign of life now and
 * then. A block comes out only when header, body and link agree.
 */
import { FETCH_BYTES_MAX, HEADERS_AHEAD_MAX, KEEP_ALIVE_MS } from '../../../util/limits.ts';
import { pause } from '../../../util/pause.ts';
import { readAnnouncedHeader } from './announced-header.ts';
import { BlockFetcher } from './block-fetcher.ts';
import { ChainClient } from './chain-client.ts';
import { CHAIN_SYNC_N2N } from './chain-sync.ts';
import { ChainSyncClient, ROOM_MIN } from './chain-sync-client.ts';
import { KEEP_ALIVE, type KeepAliveMessage, type KeepAliveState } from './keep-alive.ts';
import type { Mux } from './mux.ts';
import { type NegotiatedVersion, proposeVersions } from './negotiate.ts';
import { type PeerDepths, usualDepths } from './pipeline-depth.ts';
import type { WirePoint } from './point.ts';
import { violation } from './protocol.ts';
import { Session } from './session.ts';

export interface N2nOptions {
  readonly magic: number;
  readonly byronEpochSlots: number;
  /** Bytes of blocks asked for and not taken yet. */
  readonly fetchBytesMax?: number;
  readonly keepAliveMs?: number;
  /** What this peer is known to take; left out: what the reference takes. */
  readonly depths?: PeerDepths;
}

export class N2nClient extends ChainClient {
  /** Milliseconds a keep-alive took to come back; null before the first. */
  roundTripMs: number | null = null;
  protected readonly sync: ChainSyncClient;
  private readonly fetcher: BlockFetcher;
  private readonly keepAlive: Session<KeepAliveMessage, KeepAliveState>;
  private readonly keepAliveMs: number;

  /** Shakes hands; the stream must be fresh. */
  static async over(mux: Mux, options: N2nOptions): Promise<N2nClient> {
    return new N2nClient(mux, await proposeVersions(mux, 'n2n', options.magic), options);
  }

  private constructor(mux: Mux, agreement: NegotiatedVersion, options: N2nOptions) {
    super(mux, agreement, options.byronEpochSlots);
    const { chainSync, blockFetch } = options.depths ?? usualDepths('n2n');
    this.sync = new ChainSyncClient(mux, CHAIN_SYNC_N2N, chainSync);
    this.fetcher = new BlockFetcher(mux, this.outbox, blockFetch, options.fetchBytesMax ?? FETCH_BYTES_MAX);
    this.keepAlive = new Session(mux, KEEP_ALIVE, 'initiator');
    this.keepAliveMs = options.keepAliveMs ?? KEEP_ALIVE_MS;
  }

  forward(content: Uint8Array): number {
    const announced = readAnnouncedHeader(content, this.byronEpochSlots);
    this.link(announced.header);
    this.fetcher.announce(announced);
    return announced.header.height;
  }

  backward(point: WirePoint): void {
    if (!this.fetcher.back(point)) this.outbox.back(point);
    this.rewind(point);
  }

  room(): number {
    const room = HEADERS_AHEAD_MAX - this.fetcher.waiting - this.outbox.length;
    // While we wait for a rollback, chain-sync must be able to bring it: ask for headers even if there is no room.
    return Math.max(room, this.fetcher.awaitingRollback ? ROOM_MIN : 0);
  }

  settled(): void {
    this.fetcher.plan();
    this.tellReader();
  }

  protected loops(): Promise<never>[] {
    return [this.sync.run(this), this.fetcher.run(() => this.announceSettled()), this.stayAlive()];
  }

  protected isSettled(): boolean {
    return this.fetcher.waiting === 0;
  }

  protected used(): void {
    this.fetcher.plan();
    this.fetcher.wake();
    this.sync.wake();
  }

  private announceSettled(): void {
    this.sync.wake();
    this.tellReader();
  }

  private async stayAlive(): Promise<never> {
    const left = new AbortController();
    this.mux.closed.then(() => left.abort());
    for (let cookie = 0; ; cookie = (cookie + 1) & 0xffff) {
      const started = performance.now();
      this.keepAlive.send({ kind: 'keepAlive', cookie });
      const answer = await this.keepAlive.receive();
      if (answer.kind !== 'response' || answer.cookie !== cookie) throw violation('a keep-alive answered with another cookie');
      this.roundTripMs = performance.now() - started;
      await pause(this.keepAliveMs, { signal: left.signal, ref: false });
      if (this.mux.failure !== null) throw this.mux.failure;
    }
  }
}
