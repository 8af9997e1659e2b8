/**
 * The client's half of chain-sync, for headers and whole blocks alike: finds
 * the intersection, keeps requests on their way (many while far behind, one at
 * the tip) and hands every answer on in order.
 */
import { CHAIN_SYNC_AHEAD_MAX, CHAIN_SYNC_AHEAD_MIN } from '../../../util/limits.ts';
import type { ChainSync, ChainSyncMessage, ChainSyncState } from './chain-sync.ts';
import { Gate } from './gate.ts';
import type { Mux } from './mux.ts';
import type { PipelineDepth } from './pipeline-depth.ts';
import { samePoint, type WirePoint, type WireTip } from './point.ts';
import { violation } from './protocol.ts';
import { Session } from './session.ts';

/** Answers there must be room for before more are asked for, unless fewer are to come. */
export const ROOM_MIN = CHAIN_SYNC_AHEAD_MAX - CHAIN_SYNC_AHEAD_MIN;

/** The part still on its way when more are asked for: two thirds. */
const LOW_MARK = CHAIN_SYNC_AHEAD_MIN / CHAIN_SYNC_AHEAD_MAX;

export interface ChainSyncHandler {
  /** A wrapped header or block; returns its height. */
  forward(content: Uint8Array): number;
  backward(point: WirePoint): void;
  /** How many more answers can be kept. */
  room(): number;
  /** No further answer is at hand; those so far can be used. */
  settled(): void;
}

export interface Intersection {
  readonly point: WirePoint;
  readonly tip: WireTip;
}

export class ChainSyncClient {
  tip: WireTip = { point: null, height: 0 };
  /** The server has said that we have all it has. */
  isAwaiting = false;
  private readonly session: Session<ChainSyncMessage, ChainSyncState>;
  private readonly roomy = new Gate();
  private readonly depth: PipelineDepth;
  /** Of the last block; -1: the origin; null: of an intersection, which does not say. */
  private height: number | null = -1;
  /** The first answer after an intersection goes back to that very point: a confirmation. */
  private confirming: { readonly point: WirePoint } | null = null;

  constructor(mux: Mux, protocol: ChainSync, depth: PipelineDepth) {
    this.session = new Session(mux, protocol, 'initiator');
    this.depth = depth;
    depth.begin();
  }

  /** Points best first, null for the origin; the answer is the first the server knows, or null. */
  async findIntersect(points: readonly WirePoint[]): Promise<Intersection | null> {
    this.session.send({ kind: 'findIntersect', points });
    const answer = await this.session.receive();
    if (answer.kind === 'intersectNotFound') {
      this.tip = answer.tip;
      return null;
    }
    if (answer.kind !== 'intersectFound') throw violation(`'${answer.kind}' instead of an intersection`);
    if (!points.some((point) => samePoint(point, answer.point))) throw violation('an intersection that was not among our points');
    this.tip = answer.tip;
    this.confirming = { point: answer.point };
    this.height = answer.point === null ? -1 : samePoint(answer.point, answer.tip.point) ? answer.tip.height : null;
    return { point: answer.point, tip: answer.tip };
  }

  /** Follows until the connection ends; never returns otherwise. */
  async run(handler: ChainSyncHandler): Promise<never> {
    for (;;) {
      this.ask(handler.room());
      if (this.session.outstanding === 0) {
        await this.roomy.wait();
        if (this.session.channel.mux.failure !== null) throw this.session.channel.mux.failure;
        continue;
      }
      for (
        let message: ChainSyncMessage | undefined = this.session.tryReceive() ?? (await this.session.receive());
        message !== undefined;
        message = this.session.outstanding > 0 ? this.session.tryReceive() : undefined
      ) {
        this.take(message, handler);
      }
      handler.settled();
    }
  }

  /** There is room again. */
  wake(): void {
    this.roomy.open();
  }

  /** Fill to the top, refill when drained to the lower mark; near the tip no more than there are blocks to come. */
  private ask(room: number): void {
    const { outstanding } = this.session;
    const wanted = Math.min(this.depth.max, this.toCome());
    if (outstanding > wanted * LOW_MARK) return;
    // A little room is let grow: a write for every single request costs more than the request.
    if (outstanding + room < wanted && room < ROOM_MIN) return;
    const most = Math.min(wanted, outstanding + room);
    for (let i = outstanding; i < most; i++) {
      this.session.send({ kind: 'requestNext' });
      this.depth.asked();
    }
  }

  /** Answers that are due by what the server told. Until the first block has told our height: the confirmation, and that block. */
  private toCome(): number {
    return this.height === null ? 2 : Math.max(1, this.tip.height - this.height);
  }

  private take(message: ChainSyncMessage, handler: ChainSyncHandler): void {
    const { confirming } = this;
    if (message.kind === 'awaitReply') {
      this.isAwaiting = true;
      return;
    }
    this.isAwaiting = false;
    this.confirming = null;
    this.depth.answered();
    if (message.kind === 'rollForward') {
      this.tip = message.tip;
      this.height = handler.forward(message.content);
    } else if (message.kind === 'rollBackward') {
      this.tip = message.tip;
      if (confirming === null || !samePoint(confirming.point, message.point)) handler.backward(message.point);
    }
  }
}
