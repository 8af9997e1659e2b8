/**
 * Chain-sync: the server walks its chain with us. Between nodes (2) it sends
 * headers, to a local client (5) whole blocks; the messages are the same and
 * carry the wrapped header or block as it stands.
 *
 * CDDL: ouroboros-network specs/chain-sync.cddl; limits: ChainSync/Codec/TimeLimits.hs.
 */
import { CborWriter } from '../../../util/cbor-write.ts';
import { LOCAL_MESSAGE_BYTES_MAX, MESSAGE_BYTES_MAX } from '../../../util/limits.ts';
import { readPoint, readTip, type WirePoint, type WireTip, writePoint, writeTip } from './point.ts';
import { ENDED, has, type Protocol, rawItem, readMessage } from './protocol.ts';

export type ChainSyncMessage =
  | { readonly kind: 'requestNext' }
  | { readonly kind: 'awaitReply' }
  /** `content`: a wrapped header (N2N) or a wrapped block (N2C), encoded. */
  | { readonly kind: 'rollForward'; readonly content: Uint8Array; readonly tip: WireTip }
  | { readonly kind: 'rollBackward'; readonly point: WirePoint; readonly tip: WireTip }
  | { readonly kind: 'findIntersect'; readonly points: readonly WirePoint[] }
  | { readonly kind: 'intersectFound'; readonly point: WirePoint; readonly tip: WireTip }
  | { readonly kind: 'intersectNotFound'; readonly tip: WireTip }
  | { readonly kind: 'done' };

export type ChainSyncState = 'idle' | 'canAwait' | 'mustReply' | 'intersect' | 'done';

export type ChainSync = Protocol<ChainSyncMessage, ChainSyncState>;

interface Limits {
  readonly bytesMax: number;
  readonly idleMs: number | null;
  readonly answerMs: number | null;
  readonly mustReplyMs: readonly [number, number] | null;
}

const BETWEEN_NODES: Limits = { bytesMax: MESSAGE_BYTES_MAX, idleMs: 3_373_000, answerMs: 10_000, mustReplyMs: [601_000, 911_000] };
const LOCAL: Limits = { bytesMax: LOCAL_MESSAGE_BYTES_MAX, idleMs: null, answerMs: null, mustReplyMs: null };

export const CHAIN_SYNC_N2N: ChainSync = chainSync('chain-sync', 2, BETWEEN_NODES);
export const CHAIN_SYNC_N2C: ChainSync = chainSync('local chain-sync', 5, LOCAL);

function chainSync(name: string, number: number, { bytesMax, idleMs, answerMs, mustReplyMs }: Limits): ChainSync {
  return {
    name,
    number,
    initial: 'idle',
    pipelined: 'requestNext',
    states: {
      idle: {
        agency: 'initiator',
        sends: { requestNext: 'canAwait', findIntersect: 'intersect', done: 'done' },
        bytesMax: MESSAGE_BYTES_MAX,
        timeoutMs: idleMs,
      },
      canAwait: {
        agency: 'responder',
        sends: { awaitReply: 'mustReply', rollForward: 'idle', rollBackward: 'idle' },
        bytesMax,
        timeoutMs: answerMs,
      },
      mustReply: { agency: 'responder', sends: { rollForward: 'idle', rollBackward: 'idle' }, bytesMax, timeoutMs: mustReplyMs },
      intersect: { agency: 'responder', sends: { intersectFound: 'idle', intersectNotFound: 'idle' }, bytesMax, timeoutMs: answerMs },
      done: ENDED,
    },
    encode: encodeChainSync,
    decode: (bytes) => decodeChainSync(bytes, name),
  };
}

const REQUEST_NEXT = Uint8Array.of(0x81, 0);
const AWAIT_REPLY = Uint8Array.of(0x81, 1);
const DONE = Uint8Array.of(0x81, 7);
const MESSAGE_REQUEST_NEXT: ChainSyncMessage = { kind: 'requestNext' };

export function encodeChainSync(message: ChainSyncMessage): Uint8Array {
  switch (message.kind) {
    case 'requestNext':
      return REQUEST_NEXT;
    case 'awaitReply':
      return AWAIT_REPLY;
    case 'rollForward':
      return writeTip(new CborWriter(message.content.length + 64).array(3).uint(2).raw(message.content), message.tip).take();
    case 'rollBackward':
      return writeTip(writePoint(new CborWriter(128).array(3).uint(3), message.point), message.tip).take();
    case 'findIntersect': {
      const w = new CborWriter().array(2).uint(4).array(message.points.length);
      for (const point of message.points) writePoint(w, point);
      return w.take();
    }
    case 'intersectFound':
      return writeTip(writePoint(new CborWriter(128).array(3).uint(5), message.point), message.tip).take();
    case 'intersectNotFound':
      return writeTip(new CborWriter(64).array(2).uint(6), message.tip).take();
    case 'done':
      return DONE;
  }
}

export function decodeChainSync(bytes: Uint8Array, name = 'chain-sync'): ChainSyncMessage {
  if (bytes.length === 2 && bytes[0] === 0x81 && bytes[1] === 0) return MESSAGE_REQUEST_NEXT;
  return readMessage<ChainSyncMessage>(name, bytes, (c, key, fields) => {
    if (key === 0 && has(fields, 0)) return MESSAGE_REQUEST_NEXT;
    if (key === 1 && has(fields, 0)) return { kind: 'awaitReply' };
    if (key === 2 && has(fields, 2)) return { kind: 'rollForward', content: rawItem(c), tip: readTip(c) };
    if (key === 3 && has(fields, 2)) return { kind: 'rollBackward', point: readPoint(c), tip: readTip(c) };
    if (key === 4 && has(fields, 1)) {
      const points: WirePoint[] = [];
      for (let i = 0, count = c.array(); c.more(count, i); i++) points.push(readPoint(c));
      return { kind: 'findIntersect', points };
    }
    if (key === 5 && has(fields, 2)) return { kind: 'intersectFound', point: readPoint(c), tip: readTip(c) };
    if (key === 6 && has(fields, 1)) return { kind: 'intersectNotFound', tip: readTip(c) };
    return key === 7 && has(fields, 0) ? { kind: 'done' } : undefined;
  });
}
