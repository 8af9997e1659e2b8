/**
 * A server that misbehaves in one chosen way, for the tests of whoever follows
 * it. A fault is of one connection; the one after it may be sound again, which
 * is how recovery is tested.
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ChainReader, ServedChain } from '../../src/chains/cardano/responder/chain.ts';
import type { Wiring } from '../../src/chains/cardano/responder/connection.ts';
import type { WalkedChain } from '../../src/chains/cardano/responder/serve-chain-sync.ts';
import { encodeChainSync } from '../../src/sources/cardano/ouroboros/chain-sync.ts';
import type { Message, Protocol } from '../../src/sources/cardano/ouroboros/protocol.ts';
import { concatBytes } from '../../src/util/bytes.ts';
import { CborWriter } from '../../src/util/cbor-write.ts';
import { UnspentError } from '../../src/util/errors.ts';
import { MESSAGE_BYTES_MAX } from '../../src/util/limits.ts';

/** Which of our messages: the `at`-th (from 0) of the mini-protocol with this number. */
interface Which {
  readonly protocol: number;
  readonly at: number;
}

export type Fault =
  /** Says nothing more from that message on; the connection stays open. */
  | ({ readonly kind: 'stall' } & Which)
  | ({ readonly kind: 'duplicate' } & Which)
  /** That message comes after the next one. */
  | ({ readonly kind: 'reorder' } & Which)
  | ({ readonly kind: 'garbage' } & Which)
  /** A message that is well formed and larger than the protocol allows. */
  | ({ readonly kind: 'oversized' } & Which)
  /** Chain-sync: back to a point that never was. */
  | ({ readonly kind: 'unknownRollback' } & Which)
  /** Chain-sync: the connection ends when more requests than this wait to be answered, as gouroboros does beyond 50. */
  | { readonly kind: 'shortQueue'; readonly requests: number }
  /** Means another network than it says. */
  | { readonly kind: 'wrongMagic' }
  /** The connection ends after so many bytes of ours, wherever in a message or segment that is. */
  | { readonly kind: 'cut'; readonly atByte: number }
  /** Everything comes in small pieces, with a pause before each. */
  | { readonly kind: 'slow'; readonly bytes: number; readonly everyMs: number };

/** What the n-th connection (from 0) suffers from. */
export type Faults = (connection: number) => Fault | null;

/** Wirings with those faults, for a responder. */
export function wiringWith(faults: Faults): (connection: number) => Wiring {
  return (connection) => {
    const fault = faults(connection);
    return {
      stream: (socket) => spoiltStream(socket, fault),
      protocol: (protocol) => spoilt(protocol, fault),
      chain: (chain, waiting) => spoiltChain(chain, fault, waiting),
      magic: (magic) => (fault?.kind === 'wrongMagic' ? magic + 1 : magic),
    };
  };
}

const NO_BYTES = new Uint8Array(0);

/** The protocol with its messages spoilt on the way out. */
function spoilt<M extends Message, S extends string>(protocol: Protocol<M, S>, fault: Fault | null): Protocol<M, S> {
  if (fault === null || !('protocol' in fault) || fault.protocol !== protocol.number) return protocol;
  let sent = 0;
  let late: Uint8Array = NO_BYTES;
  const encode = (message: M): Uint8Array => {
    const bytes = protocol.encode(message);
    const nth = sent++;
    if (fault.kind === 'stall') return nth >= fault.at ? NO_BYTES : bytes;
    if (nth === fault.at + 1 && late.length > 0) return concatBytes(bytes, late);
    if (nth !== fault.at) return bytes;
    if (fault.kind !== 'reorder') return spoil(bytes, fault.kind);
    late = bytes;
    return NO_BYTES;
  };
  return { ...protocol, encode };
}

function spoil(bytes: Uint8Array, kind: 'duplicate' | 'garbage' | 'oversized' | 'unknownRollback'): Uint8Array {
  switch (kind) {
    case 'duplicate':
      return concatBytes(bytes, bytes);
    case 'garbage':
      // Begins like a message, so that it is read as one.
      return Uint8Array.of(0x83, 0x02, 0xff, 0x1c, 0xfe, 0x5f, 0x00);
    case 'oversized':
      return new CborWriter(2 * MESSAGE_BYTES_MAX)
        .array(2)
        .uint(2)
        .bytes(new Uint8Array(MESSAGE_BYTES_MAX + 1))
        .take();
    case 'unknownRollback': {
      const point = { slot: 1, hash: new Uint8Array(32).fill(0xee) };
      return encodeChainSync({ kind: 'rollBackward', point, tip: { point, height: 1 } });
    }
  }
}

/** The chain, or one whose readers end the connection when more requests wait behind the one at hand than the fault allows. */
function spoiltChain(chain: ServedChain, fault: Fault | null, waiting: () => number): WalkedChain {
  if (fault?.kind !== 'shortQueue') return chain;
  const reader = (): ChainReader => {
    const sound = chain.reader();
    return {
      seek: (point) => sound.seek(point),
      next: () => {
        if (waiting() >= fault.requests) throw new UnspentError('CLOSED', `more than ${fault.requests} requests wait`);
        return sound.next();
      },
      close: () => sound.close(),
    };
  };
  return {
    reader,
    onChange: (listener) => chain.onChange(listener),
    get tip() {
      return chain.tip;
    },
  };
}

/** The socket, or one whose outgoing bytes are cut or slowed. */
function spoiltStream(socket: Socket, fault: Fault | null): Duplex {
  return fault?.kind === 'cut' || fault?.kind === 'slow' ? new SpoiltStream(socket, fault) : socket;
}

class SpoiltStream extends Duplex {
  private readonly socket: Socket;
  private readonly fault: Extract<Fault, { kind: 'cut' | 'slow' }>;
  private sent = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(socket: Socket, fault: Extract<Fault, { kind: 'cut' | 'slow' }>) {
    super();
    this.socket = socket;
    this.fault = fault;
    socket.on('data', (chunk: Uint8Array) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  override _read(): void {
    this.socket.resume();
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.fault.kind === 'slow') {
      this.trickle(chunk, this.fault.bytes, this.fault.everyMs, done);
      return;
    }
    const room = this.fault.atByte - this.sent;
    this.sent += chunk.length;
    if (chunk.length < room) {
      this.socket.write(chunk, done);
      return;
    }
    this.socket.end(chunk.subarray(0, Math.max(0, room)), () => this.destroy());
  }

  override _final(done: (error?: Error | null) => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (this.timer !== null) clearTimeout(this.timer);
    if (this.socket.writableEnded) this.socket.destroySoon();
    else this.socket.destroy();
    done(error);
  }

  private trickle(chunk: Uint8Array, bytes: number, everyMs: number, done: (error?: Error | null) => void): void {
    this.timer = setTimeout(() => {
      this.timer = null;
      const rest = chunk.subarray(bytes);
      this.socket.write(chunk.subarray(0, bytes), (error) => {
        if (error || rest.length === 0) done(error ?? null);
        else this.trickle(rest, bytes, everyMs, done);
      });
    }, everyMs);
  }
}
