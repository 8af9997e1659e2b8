/**
 * Messages over the two kinds of connection: lines of a socket, plain or TLS,
 * and frames of a WebSocket. Nobody behind this needs to know which it is.
 */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { ELECTRUM_MESSAGE_BYTES_MAX } from '../../../util/limits.ts';

export interface Wire {
  /** Bytes that were handed over and not yet taken by the system. */
  readonly pendingBytes: number;
  /** `sent` is called when it is gone, or will never be. */
  send(text: string, sent: () => void): void;
  pause(): void;
  resume(): void;
  /** Ends it when all that was sent is gone. */
  end(): void;
  destroy(): void;
}

/** Who is told of what comes. */
export interface Receiver {
  take(text: string): void;
  /** A message longer than any may be; nothing of it is kept. */
  tooLong(): void;
  closed(): void;
}

const NEWLINE = 0x0a;

/** Cuts a stream into lines, however the stream was cut on its way. */
export class Lines {
  private parts: Uint8Array[] = [];
  private bytes = 0;

  /** False: a line is longer than it may be. Lines before it are given. */
  push(chunk: Uint8Array, give: (line: string) => void, bytesMax = ELECTRUM_MESSAGE_BYTES_MAX): boolean {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      if (!this.keep(chunk.subarray(start, end), bytesMax)) return false;
      const line = Buffer.concat(this.parts, this.bytes).toString('utf8');
      this.parts = [];
      this.bytes = 0;
      give(line);
      start = end + 1;
    }
    return start === chunk.length || this.keep(chunk.subarray(start), bytesMax);
  }

  private keep(part: Uint8Array, bytesMax: number): boolean {
    this.bytes += part.length;
    this.parts.push(part);
    return this.bytes <= bytesMax;
  }
}

export function socketWire(socket: Socket, open: (wire: Wire) => Receiver): void {
  const receiver = open({
    get pendingBytes() {
      return socket.writableLength;
    },
    send: (text, sent) => void socket.write(`${text}\n`, sent),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => socket.destroySoon(),
    destroy: () => void socket.destroy(),
  });
  const lines = new Lines();
  socket.setNoDelay(true);
  socket.on('data', (chunk: Uint8Array) => {
    if (!lines.push(chunk, (line) => receiver.take(line))) receiver.tooLong();
  });
  // A reset or a failed handshake: `close` follows.
  socket.on('error', () => undefined);
  socket.on('close', () => receiver.closed());
}

export function webSocketWire(socket: WebSocket, open: (wire: Wire) => Receiver): void {
  const receiver = open({
    get pendingBytes() {
      return socket.bufferedAmount;
    },
    send: (text, sent) => socket.send(text, sent),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    end: () => socket.close(),
    destroy: () => socket.terminate(),
  });
  socket.on('message', (data) => receiver.take(data.toString()));
  // Among them a frame longer than it may be, which ends the connection by itself.
  socket.on('error', () => undefined);
  socket.on('close', () => receiver.closed());
}
