/**
 * A connection that follows a peer, node-to-node or node-to-client: find the
 * intersection, then take batches of verified events. It reads ahead on its
 * own, and stops when the reader does not keep up.
 */
import type { Point } from '../../../ledgers/ledger.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { assert, UnspentError } from '../../../util/errors.ts';
import type { ChainSyncClient, ChainSyncHandler, Intersection } from './chain-sync-client.ts';
import { Gate } from './gate.ts';
import type { Mux } from './mux.ts';
import type { NegotiatedVersion } from './negotiate.ts';
import { type Batch, Outbox } from './outbox.ts';
import type { WirePoint, WireTip } from './point.ts';
import { violation } from './protocol.ts';

export abstract class ChainClient implements ChainSyncHandler {
  readonly mux: Mux;
  readonly agreement: NegotiatedVersion;
  protected readonly outbox = new Outbox();
  protected readonly byronEpochSlots: number;
  protected abstract readonly sync: ChainSyncClient;
  private readonly ready = new Gate();
  /** The block the next one must follow; null: the origin. */
  private last: WirePoint = null;
  private hasBegun = false;
  private hasToldTip = false;
  /** A mistake of ours inside the reading ahead. */
  private crash: unknown;

  constructor(mux: Mux, agreement: NegotiatedVersion, byronEpochSlots: number) {
    this.mux = mux;
    this.agreement = agreement;
    this.byronEpochSlots = byronEpochSlots;
    mux.closed.then(() => this.wake());
  }

  /** The peer's newest block, as far as it has told. */
  get tip(): WireTip {
    return this.sync.tip;
  }

  /** Points best first, null for the origin. What follows continues after the one found; null: none was. */
  async findIntersect(points: readonly WirePoint[]): Promise<Intersection | null> {
    assert(!this.hasBegun, 'the intersection comes before the first block');
    const found = await this.sync.findIntersect(points);
    if (found !== null) this.last = found.point;
    return found;
  }

  /** The events at hand, at least one, or the news that there are none. Throws what ended the connection, after all before it. */
  async next(): Promise<Batch> {
    if (!this.hasBegun) {
      this.hasBegun = true;
      for (const loop of this.loops()) loop.catch((error) => this.stop(error));
    }
    for (;;) {
      const atTip = this.sync.isAwaiting && this.isSettled();
      if (this.outbox.length > 0 || (atTip && !this.hasToldTip)) {
        this.hasToldTip = atTip;
        const events = this.outbox.take();
        this.used();
        return { events, tip: this.sync.tip, atTip };
      }
      if (this.crash !== undefined) throw this.crash;
      if (this.mux.failure !== null) throw this.mux.failure;
      await this.ready.wait();
    }
  }

  async close(): Promise<void> {
    await this.mux.close();
  }

  abstract forward(content: Uint8Array): number;
  abstract backward(point: WirePoint): void;
  abstract room(): number;
  abstract settled(): void;

  /** What runs until the connection ends. */
  protected abstract loops(): Promise<never>[];
  /** Whether every announced block was put out. */
  protected abstract isSettled(): boolean;
  /** The reader took everything. */
  protected abstract used(): void;

  protected tellReader(): void {
    this.ready.open();
  }

  /** A new block or header must follow the one before it. */
  protected link(next: Point & { readonly prevHash: Uint8Array | null }): void {
    const { prevHash, slot } = next;
    if (this.last !== null && (prevHash === null || !equalBytes(prevHash, this.last.hash))) {
      throw violation(`a block at slot ${slot} that does not follow the one at slot ${this.last.slot}`, { slot });
    }
    this.last = next;
    this.hasToldTip = false;
  }

  protected rewind(point: WirePoint): void {
    this.last = point;
    this.hasToldTip = false;
  }

  private stop(error: unknown): void {
    if (error instanceof UnspentError) this.mux.fail(error);
    else {
      this.crash = error;
      this.mux.fail(new UnspentError('CLOSED', `the connection to ${this.mux.peer} was given up`));
    }
    this.wake();
  }

  private wake(): void {
    this.used();
    this.ready.open();
  }
}
