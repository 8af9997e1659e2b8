/**
 * The messages that are spoken here, to bytes and back. Counts are checked
 * against the protocol's limits and the bytes that are there; what does not
 * decode is the peer's mistake (PROTOCOL). What nobody here reads is passed over
 * as its command alone, because nodes keep adding to the protocol.
 */
import { Cursor, compactBytes } from '../../../ledgers/bitcoin/cursor.ts';
import { HEADER_BYTES } from '../../../ledgers/bitcoin/index.ts';
import { concatBytes, utf8, writeU32LE } from '../../../util/bytes.ts';
import { isUnspentError } from '../../../util/errors.ts';
import { BLOCK_BYTES_MAX, P2P_HEADERS_MAX, P2P_INVENTORY_MAX, P2P_MESSAGE_BYTES_MAX } from '../../../util/limits.ts';
import { type Frame, violation } from './frame.ts';

/** What a node offers (bits of `services`). */
export const SERVICE = { network: 1n, bloom: 4n, witness: 8n } as const;

/** Kinds of things in an inventory. The high bit asks for witnesses; Litecoin has one more, for its extension. */
export const ITEM = {
  tx: 1,
  block: 2,
  witnessTx: 0x4000_0001,
  witnessBlock: 0x4000_0002,
  mwebTx: 0x6000_0001,
  mwebBlock: 0x6000_0002,
} as const;

export interface Item {
  readonly type: number;
  readonly hash: Uint8Array;
}

export interface Version {
  readonly kind: 'version';
  readonly version: number;
  readonly services: bigint;
  readonly time: number;
  /** Eight bytes. */
  readonly nonce: Uint8Array;
  readonly userAgent: string;
  readonly startHeight: number;
  /** Whether transactions are to be announced. */
  readonly relay: boolean;
}

/** Messages that are nothing but their command. */
const PLAIN = ['verack', 'sendheaders', 'mempool', 'wtxidrelay', 'sendaddrv2'] as const;

export type Message =
  | Version
  | { readonly kind: (typeof PLAIN)[number] }
  | { readonly kind: 'ping' | 'pong'; readonly nonce: Uint8Array }
  | { readonly kind: 'getheaders' | 'getblocks'; readonly locator: readonly Uint8Array[]; readonly stop: Uint8Array }
  | { readonly kind: 'headers'; readonly headers: readonly Uint8Array[] }
  | { readonly kind: 'inv' | 'getdata' | 'notfound'; readonly items: readonly Item[] }
  | { readonly kind: 'block' | 'tx'; readonly raw: Uint8Array }
  | { readonly kind: 'reject'; readonly message: string; readonly code: number; readonly reason: string; readonly hash: Uint8Array | null };

const HASH_BYTES = 32;
const NONCE_BYTES = 8;
/** Services, an IPv6 address and a port: nobody reads them, so ours are zeros. */
const ADDRESS_BYTES = 26;
const ITEM_BYTES = 4 + HASH_BYTES;
const LOCATOR_MAX = 101;
/** What is kept of a text; the rest of a longer one is cut off, because btcd's reasons for a refusal have no bound. */
const TEXT_BYTES_MAX = 256;
export const PROTOCOL_VERSION = 70016;

/** Commands that are read; all others are passed over. */
const READ: ReadonlySet<string> = new Set<Message['kind']>([
  ...PLAIN,
  'version',
  'ping',
  'pong',
  'getheaders',
  'getblocks',
  'headers',
  'inv',
  'getdata',
  'notfound',
  'block',
  'tx',
  'reject',
]);

/**
 * Bytes that the payload of a command may have; null: it is not read. Besides
 * blocks there is one limit for all, Core's: a node may add fields to any
 * message, and what is longer than we need must not cost us the connection.
 */
export function payloadLimit(command: string): number | null {
  if (!READ.has(command)) return null;
  return command === 'block' ? BLOCK_BYTES_MAX : P2P_MESSAGE_BYTES_MAX;
}

/** Throws PROTOCOL. */
export function decodeMessage({ command, payload }: Frame): Message {
  try {
    return read(command as Message['kind'], payload);
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    throw violation(`'${command}' does not decode: ${error.message}`, { command }, error);
  }
}

function read(kind: Message['kind'], payload: Uint8Array): Message {
  const c = new Cursor(payload);
  switch (kind) {
    case 'version':
      return readVersion(c);
    case 'ping':
    case 'pong':
      return { kind, nonce: bytes(c, NONCE_BYTES) };
    case 'getheaders':
    case 'getblocks': {
      c.take(4);
      const locator = list(c, HASH_BYTES, LOCATOR_MAX, () => bytes(c, HASH_BYTES));
      return { kind, locator, stop: bytes(c, HASH_BYTES) };
    }
    case 'headers':
      return { kind, headers: list(c, HEADER_BYTES + 1, P2P_HEADERS_MAX, () => readHeader(c)) };
    case 'inv':
    case 'getdata':
    case 'notfound':
      return { kind, items: list(c, ITEM_BYTES, P2P_INVENTORY_MAX, () => ({ type: c.u32(), hash: bytes(c, HASH_BYTES) })) };
    case 'block':
    case 'tx':
      return { kind, raw: payload };
    case 'reject': {
      const [message, code, reason] = [text(c), c.u8(), text(c)];
      return { kind, message, code, reason, hash: c.left >= HASH_BYTES ? bytes(c, HASH_BYTES) : null };
    }
    default:
      return { kind };
  }
}

function readVersion(c: Cursor): Version {
  const version = c.u32() | 0;
  const services = u64(c);
  const time = Number(u64(c));
  c.take(2 * ADDRESS_BYTES);
  const nonce = bytes(c, NONCE_BYTES);
  const userAgent = text(c);
  const startHeight = c.u32() | 0;
  return { kind: 'version', version, services, time, nonce, userAgent, startHeight, relay: c.left === 0 || c.u8() !== 0 };
}

/** A header among others has a number of transactions behind it, which is none. */
function readHeader(c: Cursor): Uint8Array {
  const header = bytes(c, HEADER_BYTES);
  c.compact();
  return header;
}

function list<T>(c: Cursor, bytesEach: number, most: number, readOne: () => T): T[] {
  const count = c.count(bytesEach, 'things');
  if (count > most) c.fail(`${count} things; ${most} are the most there can be`);
  return Array.from({ length: count }, readOne);
}

function bytes(c: Cursor, length: number): Uint8Array {
  const at = c.take(length);
  return c.bytes.subarray(at, at + length);
}

function u64(c: Cursor): bigint {
  c.u64();
  return (BigInt(c.hi) << 32n) | BigInt(c.lo);
}

/** What a peer says of itself is shown to people, so only what can be printed is kept, and no more than people read. */
function text(c: Cursor): string {
  const kept = c.run().subarray(0, TEXT_BYTES_MAX);
  return Array.from(kept, (byte) => (byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : '?')).join('');
}

export function encodeMessage(message: Message): Frame {
  return { command: message.kind, payload: payloadOf(message) };
}

function payloadOf(message: Message): Uint8Array {
  switch (message.kind) {
    case 'version':
      return writeVersion(message);
    case 'ping':
    case 'pong':
      return message.nonce;
    case 'getheaders':
    case 'getblocks':
      return concatBytes(u32(PROTOCOL_VERSION), compactBytes(message.locator.length), ...message.locator, message.stop);
    case 'headers':
      return concatBytes(compactBytes(message.headers.length), ...message.headers.flatMap((header) => [header, Uint8Array.of(0)]));
    case 'inv':
    case 'getdata':
    case 'notfound':
      return concatBytes(compactBytes(message.items.length), ...message.items.flatMap(({ type, hash }) => [u32(type), hash]));
    case 'block':
    case 'tx':
      return message.raw;
    case 'reject':
      return concatBytes(run(message.message), Uint8Array.of(message.code), run(message.reason), message.hash ?? new Uint8Array(0));
    default:
      return new Uint8Array(0);
  }
}

function writeVersion({ version, services, time, nonce, userAgent, startHeight, relay }: Version): Uint8Array {
  const numbers = new DataView(new ArrayBuffer(20));
  numbers.setInt32(0, version, true);
  numbers.setBigUint64(4, services, true);
  numbers.setBigUint64(12, BigInt(time), true);
  const addresses = new Uint8Array(2 * ADDRESS_BYTES);
  return concatBytes(new Uint8Array(numbers.buffer), addresses, nonce, run(userAgent), u32(startHeight), Uint8Array.of(relay ? 1 : 0));
}

function run(text: string): Uint8Array {
  const encoded = utf8(text.slice(0, TEXT_BYTES_MAX)).subarray(0, TEXT_BYTES_MAX);
  return concatBytes(compactBytes(encoded.length), encoded);
}

function u32(value: number): Uint8Array {
  const four = new Uint8Array(4);
  writeU32LE(four, 0, value);
  return four;
}
