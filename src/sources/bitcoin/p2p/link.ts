/**
 * One connection between two nodes, whichever side opened it: messages out,
 * messages in, and one reason for its end. Neither side is trusted with more
 * memory than the limits say.
 */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { UnspentError } from '../../../util/errors.ts';
import { EGRESS_BYTES_MAX } from '../../../util/limits.ts';
import { encodeFrame, FrameReader } from './frame.ts';
import { decodeMessage, encodeMessage, type Message, PROTOCOL_VERSION, payloadLimit, type Version } from './messages.ts';

/** Before it, nodes do not understand what is said here (BIP37's flag in `version`). */
export const PROTOCOL_VERSION_MIN = 70001;

export class Link {
  /** Who is at the other end, for messages. */
  readonly peer: string;
  private readonly socket: Socket;
  private readonly magic: number;
  private failure: UnspentError | null = null;

  constructor(socket: Socket, magic: number, peer: string) {
    socket.setNoDelay(true);
    // Readers of the socket get the error; without a listener here an error after the last read would end the
    // process.
    socket.on('error', () => {});
    this.socket = socket;
    this.magic = magic;
    this.peer = peer;
  }

  send(message: Message): void {
    if (!this.socket.destroyed) this.socket.write(encodeFrame(this.magic, encodeMessage(message)));
  }

  /** Waits until what was sent is on its way, or the connection has ended. */
  async drained(): Promise<void> {
    const { socket } = this;
    while (socket.writableLength > EGRESS_BYTES_MAX && !socket.destroyed) {
      await new Promise<void>((resolve) => {
        const go = (): void => {
          socket.off('drain', go);
          socket.off('close', go);
          resolve();
        };
        socket.on('drain', go);
        socket.on('close', go);
      });
    }
  }

  /** What the peer sends, until the end, which is always an error: it hung up, or broke the protocol, or `fail` was called. */
  async *messages(): AsyncGenerator<Message, never, undefined> {
    const frames = new FrameReader(this.magic, payloadLimit);
    try {
      for await (const chunk of this.socket) {
        for (const frame of frames.read(chunk as Uint8Array)) yield decodeMessage(frame);
      }
    } catch (error) {
      if (this.failure !== null || error instanceof UnspentError) throw this.failure ?? this.named(error as Error);
      const why = error instanceof Error ? error.message : String(error);
      throw new UnspentError('SOURCE_UNREACHABLE', `${this.peer}: the connection broke (${why})`, { peer: this.peer }, error);
    }
    throw this.failure ?? new UnspentError('SOURCE_UNREACHABLE', `${this.peer} closed the connection`, { peer: this.peer });
  }

  /** Ends it for this reason, which is what its reader gets to see. */
  fail(error: UnspentError): void {
    this.failure ??= error;
    this.socket.destroy();
  }

  /** The same failure with the peer's name in front, where it is the peer's and does not say so; a mistake of ours stays what it is. */
  named(error: Error): Error {
    const { peer } = this;
    if (!(error instanceof UnspentError) || error.meta['peer'] !== undefined) return error;
    return new UnspentError(error.code, `${peer}: ${error.message}`, { ...error.meta, peer }, error.cause);
  }
}

/** What we say of ourselves. */
export function ownVersion(services: bigint, startHeight: number): Version {
  return {
    kind: 'version',
    version: PROTOCOL_VERSION,
    services,
    time: Math.floor(Date.now() / 1000),
    nonce: new Uint8Array(randomBytes(8)),
    userAgent: '/unspent/',
    startHeight,
    relay: true,
  };
}
