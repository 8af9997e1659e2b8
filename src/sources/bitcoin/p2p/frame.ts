/**
 * The frames of the P2P protocol: four bytes of the network, a command, a length
 * and a checksum, then the payload. The reader takes bytes as they come, refuses
 * a length before it makes room for it, and passes over what nobody here reads.
 */
import { hash as digest } from 'node:crypto';
import { BITCOIN_NETWORKS } from '../../../ledgers/bitcoin/index.ts';
import { readU32, readU32LE, toHex, writeU32, writeU32LE } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { P2P_MESSAGE_BYTES_MAX } from '../../../util/limits.ts';

const HEAD_BYTES = 24;
const COMMAND_AT = 4;
const COMMAND_BYTES = 12;
const LENGTH_AT = 16;
const CHECKSUM_AT = 20;

export interface Frame {
  readonly command: string;
  readonly payload: Uint8Array;
}

/** Bytes that the payload of a command may have; null: it is not read at all. */
export type PayloadLimit = (command: string) => number | null;

export function violation(what: string, meta: Record<string, unknown> = {}, cause?: unknown): UnspentError {
  return new UnspentError('PROTOCOL', `the peer broke the protocol: ${what}`, meta, cause);
}

export function encodeFrame(magic: number, { command, payload }: Frame): Uint8Array {
  const frame = new Uint8Array(HEAD_BYTES + payload.length);
  writeU32(frame, 0, magic);
  for (let i = 0; i < command.length; i++) frame[COMMAND_AT + i] = command.charCodeAt(i);
  writeU32LE(frame, LENGTH_AT, payload.length);
  frame.set(checksum(payload), CHECKSUM_AT);
  frame.set(payload, HEAD_BYTES);
  return frame;
}

/** The library's hash, which beats ours from some kilobytes on: blocks are larger than that. */
function checksum(payload: Uint8Array): Uint8Array {
  return digest('sha256', digest('sha256', payload, 'buffer'), 'buffer').subarray(0, 4);
}

export class FrameReader {
  private readonly magic: number;
  private readonly limit: PayloadLimit;
  private readonly head = new Uint8Array(HEAD_BYTES);
  private headFilled = 0;
  /** Null: the payload is passed over. */
  private payload: Uint8Array | null = null;
  private payloadLeft = 0;
  private frames = 0;

  constructor(magic: number, limit: PayloadLimit) {
    this.magic = magic;
    this.limit = limit;
  }

  /** The frames that these bytes complete. Throws PROTOCOL, or NETWORK_WRONG when the first one is another network's. */
  *read(chunk: Uint8Array): Generator<Frame, void, undefined> {
    let at = 0;
    while (at < chunk.length) {
      at += this.headFilled < HEAD_BYTES ? this.readHead(chunk, at) : this.readPayload(chunk, at);
      if (this.headFilled < HEAD_BYTES || this.payloadLeft > 0) continue;
      const { payload } = this;
      if (payload !== null) yield this.checked(payload);
      this.headFilled = 0;
      this.payload = null;
      this.frames++;
    }
  }

  private readHead(chunk: Uint8Array, at: number): number {
    const taken = Math.min(HEAD_BYTES - this.headFilled, chunk.length - at);
    this.head.set(chunk.subarray(at, at + taken), this.headFilled);
    this.headFilled += taken;
    // Looked at as soon as it is here: a peer of another network may never send the rest.
    if (this.headFilled >= COMMAND_AT && readU32(this.head, 0) !== this.magic) throw this.wrongMagic();
    if (this.headFilled === HEAD_BYTES) this.beginPayload();
    return taken;
  }

  private beginPayload(): void {
    const { command } = this;
    const length = readU32LE(this.head, LENGTH_AT);
    const limit = this.limit(command);
    const longest = limit ?? P2P_MESSAGE_BYTES_MAX;
    if (length > longest) throw violation(`'${command}' of ${length} bytes; ${longest} are the most there can be`, { command, length });
    this.payload = limit === null ? null : new Uint8Array(length);
    this.payloadLeft = length;
  }

  private readPayload(chunk: Uint8Array, at: number): number {
    const taken = Math.min(this.payloadLeft, chunk.length - at);
    this.payload?.set(chunk.subarray(at, at + taken), this.payload.length - this.payloadLeft);
    this.payloadLeft -= taken;
    return taken;
  }

  private checked(payload: Uint8Array): Frame {
    const { command } = this;
    const made = checksum(payload);
    for (let i = 0; i < 4; i++)
      if (made[i] !== this.head[CHECKSUM_AT + i]) throw violation(`'${command}' with a wrong checksum`, { command });
    return { command, payload };
  }

  /** Printable characters, then zeros. */
  private get command(): string {
    let text = '';
    for (let i = COMMAND_AT; i < COMMAND_AT + COMMAND_BYTES; i++) {
      const byte = this.head[i];
      if (byte === 0) {
        if (this.head.subarray(i, COMMAND_AT + COMMAND_BYTES).some((rest) => rest !== 0))
          throw violation('a command with something behind its end');
        break;
      }
      if (byte < 0x20 || byte > 0x7e) throw violation('a command that is not text');
      text += String.fromCharCode(byte);
    }
    return text;
  }

  private wrongMagic(): UnspentError {
    const found = readU32(this.head, 0);
    const others = BITCOIN_NETWORKS.filter(({ magic }) => magic === found).map(({ name }) => name);
    const text = toHex(this.head, 0, COMMAND_AT);
    if (this.frames > 0 || others.length === 0) return violation(`a message that begins with ${text}`, { magic: text });
    return new UnspentError('NETWORK_WRONG', `the peer is of another network: ${others.join(' or ')}`, { magic: text });
  }
}
