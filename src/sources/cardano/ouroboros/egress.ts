/**
 * The outgoing half of a connection: messages of several protocols become
 * segments, one of each protocol in turn so that none starves, and leave
 * together once per turn of the event loop.
 *
 * Gathering many small messages into one buffer costs a copy and saves far more
 * in writes; while the stream is full, messages wait here and stay fair.
 */
import type { Duplex } from 'node:stream';
import { writeU16, writeU32 } from '../../../util/bytes.ts';
import { EGRESS_BYTES_MAX, SDU_BYTES_SENT_MAX } from '../../../util/limits.ts';

const HEAD_BYTES = 8;
/** Bytes of one write: several segments. */
const WRITE_BYTES = 16 * (SDU_BYTES_SENT_MAX + HEAD_BYTES);
/** Queued bytes that are not kept waiting for the end of the turn. */
const EAGER_BYTES = 65_536;

interface Line {
  readonly protocol: number;
  messages: Uint8Array[];
  next: number;
  /** Where the first message goes on. */
  at: number;
  bytes: number;
}

export class Egress {
  private readonly stream: Duplex;
  private readonly lines: Line[] = [];
  private queued = 0;
  private turn: NodeJS.Immediate | null = null;
  private stopped = false;

  constructor(stream: Duplex) {
    this.stream = stream;
  }

  /** Bytes that have not left this process. */
  get bytes(): number {
    return this.queued + this.stream.writableLength;
  }

  push(protocol: number, message: Uint8Array): void {
    let line = this.lines.find((each) => each.protocol === protocol);
    if (line === undefined) {
      line = { protocol, messages: [], next: 0, at: 0, bytes: 0 };
      this.lines.push(line);
    }
    line.messages.push(message);
    line.bytes += message.length;
    this.queued += message.length;
    if (this.queued >= EAGER_BYTES) this.flush();
    else this.turn ??= setImmediate(() => this.flush());
  }

  /** Hands segments to the stream until it is full or nothing is left. */
  flush(): void {
    if (this.turn !== null) clearImmediate(this.turn);
    this.turn = null;
    while (this.queued > 0 && !this.stopped && this.stream.writableLength < EGRESS_BYTES_MAX) {
      const out = Buffer.allocUnsafe(Math.min(WRITE_BYTES, this.segmentedBytes()));
      this.stream.write(this.fill(out));
    }
  }

  stop(): void {
    this.stopped = true;
    if (this.turn !== null) clearImmediate(this.turn);
    this.turn = null;
  }

  private segmentedBytes(): number {
    let bytes = 0;
    for (const line of this.lines) bytes += line.bytes + HEAD_BYTES * Math.ceil(line.bytes / SDU_BYTES_SENT_MAX);
    return bytes;
  }

  /** One segment of each line in turn, while there is room for a whole one. */
  private fill(out: Uint8Array): Uint8Array {
    let at = 0;
    while (this.queued > 0) {
      for (const line of this.lines) {
        const length = Math.min(line.bytes, SDU_BYTES_SENT_MAX);
        if (length === 0) continue;
        if (at + HEAD_BYTES + length > out.length) return out.subarray(0, at);
        writeU32(out, at, Math.floor(performance.now() * 1000) % 0x1_0000_0000);
        writeU16(out, at + 4, line.protocol);
        writeU16(out, at + 6, length);
        this.move(line, out, at + HEAD_BYTES, length);
        at += HEAD_BYTES + length;
      }
    }
    return out.subarray(0, at);
  }

  private move(line: Line, out: Uint8Array, to: number, length: number): void {
    for (let moved = 0; moved < length; ) {
      const message = line.messages[line.next];
      const step = Math.min(message.length - line.at, length - moved);
      out.set(line.at === 0 && step === message.length ? message : message.subarray(line.at, line.at + step), to + moved);
      moved += step;
      line.at += step;
      if (line.at === message.length) {
        line.at = 0;
        line.next++;
      }
    }
    line.bytes -= length;
    this.queued -= length;
    if (line.bytes > 0) return;
    line.messages = [];
    line.next = 0;
  }
}
