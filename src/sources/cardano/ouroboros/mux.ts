/**
 * The multiplexer: several mini-protocols over one byte stream, in segments of
 * an 8-byte head and a payload. One `Channel` per protocol and role gives and
 * takes whole messages.
 *
 * Reading is pulled: what nobody takes stays here, and past a bound the stream
 * is paused, so that a slow reader slows the peer and memory stays flat.
 * Whatever goes wrong ends the connection once, and everybody waiting hears it.
 */
import type { Duplex } from 'node:stream';
import { readU16, readU32 } from '../../../util/bytes.ts';
import { assert, UnspentError } from '../../../util/errors.ts';
import { EGRESS_BYTES_MAX, INGRESS_BYTES_MAX, SDU_REST_MS } from '../../../util/limits.ts';
import { Channel } from './channel.ts';
import { Egress } from './egress.ts';
import { type Role, violation } from './protocol.ts';

const HEAD_BYTES = 8;
const RESPONDER_BIT = 0x8000;
/** How long a goodbye may take before the stream is cut. */
const GOODBYE_MS = 1000;

export interface MuxOptions {
  /** Who is at the other end, for messages. */
  readonly peer?: string;
  /** Every time limit is multiplied by it; tests do not wait a minute. */
  readonly timeScale?: number;
  readonly ingressBytesMax?: number;
}

export class Mux {
  readonly peer: string;
  readonly timeScale: number;
  /** Resolves when the stream is closed and nothing of ours is attached to it any more. */
  readonly closed: Promise<void>;
  private readonly stream: Duplex;
  private readonly ingressBytesMax: number;
  /** By the protocol field of the segments they receive. */
  private readonly channels = new Map<number, Channel>();
  private readonly egress: Egress;
  private readonly head = new Uint8Array(HEAD_BYTES);
  private headBytes = 0;
  private payloadLeft = 0;
  private target: Channel | null = null;
  private segments = 0;
  private segmentTimer: NodeJS.Timeout | null = null;
  private paused = false;
  private waitingForDrain: (() => void)[] = [];
  private error: UnspentError | null = null;
  private settleClosed: () => void = () => {};
  bytesIn = 0;

  constructor(stream: Duplex, options: MuxOptions = {}) {
    this.stream = stream;
    this.peer = options.peer ?? 'the peer';
    this.timeScale = options.timeScale ?? 1;
    this.ingressBytesMax = options.ingressBytesMax ?? INGRESS_BYTES_MAX;
    this.egress = new Egress(stream);
    this.closed = new Promise((resolve) => {
      this.settleClosed = resolve;
    });
    stream.on('data', this.onData);
    stream.on('end', this.onEnd);
    stream.on('error', this.onError);
    stream.on('close', this.onClose);
    stream.on('drain', this.onDrain);
  }

  /** Meta of an ending that is not ours. */
  private get closedByPeer(): { readonly peer: string; readonly closedByPeer: true } {
    return { peer: this.peer, closedByPeer: true };
  }

  /** Why the connection has ended; null while it lives. */
  get failure(): UnspentError | null {
    return this.error;
  }

  /** The stream of one mini-protocol, in which we have the given role. Before it is opened its segments are a violation. */
  channel(protocol: number, role: Role): Channel {
    const receives = role === 'initiator' ? protocol | RESPONDER_BIT : protocol;
    assert(!this.channels.has(receives), `protocol ${protocol} is opened once`);
    const channel = new Channel(this, role === 'initiator' ? protocol : protocol | RESPONDER_BIT);
    this.channels.set(receives, channel);
    return channel;
  }

  /** Sends what is queued, says goodbye, and resolves when the stream is closed. */
  async close(): Promise<void> {
    if (this.error === null) {
      this.egress.flush();
      this.end(new UnspentError('CLOSED', `the connection to ${this.peer} was closed`));
      this.stream.end();
      const cut = setTimeout(() => this.stream.destroy(), GOODBYE_MS);
      this.stream.once('finish', () => this.stream.destroy());
      await this.closed;
      clearTimeout(cut);
    }
    return this.closed;
  }

  /** Cuts the connection; every pending and later call gets the error. */
  fail(error: UnspentError): void {
    if (this.error !== null) return;
    this.end(error);
    this.stream.destroy();
  }

  /** @internal */
  send(channel: Channel, message: Uint8Array): void {
    if (this.error !== null) throw this.error;
    this.egress.push(channel.sends, message);
  }

  /** @internal */
  drained(): Promise<void> | undefined {
    if (this.error !== null) return Promise.reject(this.error);
    if (this.egress.bytes <= EGRESS_BYTES_MAX) return undefined;
    this.egress.flush();
    return new Promise((resolve, reject) => {
      this.waitingForDrain.push(() => (this.error === null ? resolve() : reject(this.error)));
    });
  }

  /** @internal A reader took something: reading goes on if no channel holds too much any more. */
  caughtUp(): void {
    if (!this.paused || this.error !== null) return;
    for (const channel of this.channels.values()) if (channel.ingress.unread > this.ingressBytesMax / 2) return;
    this.paused = false;
    this.stream.resume();
  }

  private end(error: UnspentError): void {
    this.error = error;
    if (this.segmentTimer !== null) clearTimeout(this.segmentTimer);
    this.segmentTimer = null;
    this.egress.stop();
    // Nothing reads any more: let what still comes fall through, so that the end is seen.
    this.stream.resume();
    for (const channel of this.channels.values()) channel.ended(error);
    this.wakeSenders();
  }

  private wakeSenders(): void {
    const waiting = this.waitingForDrain;
    this.waitingForDrain = [];
    for (const wake of waiting) wake();
  }

  private readonly onData = (chunk: Uint8Array): void => {
    if (this.error !== null) return;
    this.bytesIn += chunk.length;
    try {
      // A plain view: a Buffer's `slice` does not copy, and nobody further in expects that.
      this.split(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length));
    } catch (error) {
      if (!(error instanceof UnspentError)) throw error;
      this.fail(error);
      return;
    }
    if (this.payloadLeft > 0 || this.headBytes > 0) this.watchSegment();
  };

  private split(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length && this.error === null) {
      if (this.payloadLeft > 0) {
        const end = Math.min(chunk.length, at + this.payloadLeft);
        this.payloadLeft -= end - at;
        this.deliver(chunk.subarray(at, end));
        at = end;
      } else if (this.headBytes === 0 && chunk.length - at >= HEAD_BYTES) {
        this.begin(chunk, at);
        at += HEAD_BYTES;
      } else {
        this.head[this.headBytes++] = chunk[at++];
        if (this.headBytes === HEAD_BYTES) {
          this.headBytes = 0;
          this.begin(this.head, 0);
        }
      }
    }
  }

  private begin(head: Uint8Array, at: number): void {
    const protocol = readU16(head, at + 4);
    const length = readU16(head, at + 6);
    const target = this.channels.get(protocol);
    if (target === undefined) {
      const who = (protocol & RESPONDER_BIT) === 0 ? 'initiator' : 'responder';
      throw violation(`a segment of the ${who} of protocol ${protocol & ~RESPONDER_BIT}, which is not running here`, { protocol });
    }
    if (length === 0) throw violation('an empty segment', { protocol, clock: readU32(head, at) });
    this.segments++;
    this.target = target;
    this.payloadLeft = length;
  }

  private deliver(piece: Uint8Array): void {
    const target = this.target as Channel;
    target.arrived(piece);
    if (this.paused || target.ingress.unread <= this.ingressBytesMax) return;
    this.paused = true;
    this.stream.pause();
  }

  /** One timer for many segments: it looks whether the one that was open is still the same, and no byte of it has come. */
  private watchSegment(): void {
    if (this.segmentTimer !== null) return;
    const { segments } = this;
    this.segmentTimer = setTimeout(() => {
      const { bytesIn } = this;
      // After a turn in which bytes that waited in the system were read.
      setImmediate(() => {
        this.segmentTimer = null;
        if (this.error !== null || (this.payloadLeft === 0 && this.headBytes === 0)) return;
        if (this.segments !== segments || this.paused || this.bytesIn !== bytesIn) this.watchSegment();
        else this.fail(new UnspentError('SOURCE_UNREACHABLE', `${this.peer} stopped in the middle of a segment`, { peer: this.peer }));
      });
    }, SDU_REST_MS * this.timeScale);
    this.segmentTimer.unref();
  }

  private readonly onDrain = (): void => {
    if (this.error !== null) return;
    this.egress.flush();
    if (this.egress.bytes <= EGRESS_BYTES_MAX) this.wakeSenders();
  };

  private readonly onEnd = (): void => {
    const cut = this.payloadLeft > 0 || this.headBytes > 0 ? ' in the middle of a segment' : '';
    this.fail(new UnspentError('SOURCE_UNREACHABLE', `${this.peer} closed the connection${cut}`, this.closedByPeer));
  };

  private readonly onError = (cause: Error): void => {
    this.fail(new UnspentError('SOURCE_UNREACHABLE', `the connection to ${this.peer} broke: ${cause.message}`, this.closedByPeer, cause));
  };

  private readonly onClose = (): void => {
    this.fail(new UnspentError('SOURCE_UNREACHABLE', `the connection to ${this.peer} was cut`, this.closedByPeer));
    const { stream } = this;
    stream.off('data', this.onData);
    stream.off('end', this.onEnd);
    stream.off('error', this.onError);
    stream.off('close', this.onClose);
    stream.off('drain', this.onDrain);
    this.settleClosed();
  };
}
