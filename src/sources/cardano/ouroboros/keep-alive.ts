/**
 * Keep-alive (8): a cookie there and back, so that both sides know the other
 * lives and how far away it is.
 *
 * CDDL: ouroboros-network specs/keep-alive.cddl.
 */
import { CborWriter } from '../../../util/cbor-write.ts';
import { MESSAGE_BYTES_MAX } from '../../../util/limits.ts';
import { ENDED, has, type Protocol, readMessage } from './protocol.ts';

export type KeepAliveMessage =
  | { readonly kind: 'keepAlive'; readonly cookie: number }
  | { readonly kind: 'response'; readonly cookie: number }
  | { readonly kind: 'done' };

export type KeepAliveState = 'client' | 'server' | 'done';

const NAME = 'keep-alive';
const COOKIE_MAX = 0xffff;

export const KEEP_ALIVE: Protocol<KeepAliveMessage, KeepAliveState> = {
  name: NAME,
  number: 8,
  initial: 'client',
  pipelined: null,
  states: {
    client: { agency: 'initiator', sends: { keepAlive: 'server', done: 'done' }, bytesMax: MESSAGE_BYTES_MAX, timeoutMs: 97_000 },
    server: { agency: 'responder', sends: { response: 'client' }, bytesMax: MESSAGE_BYTES_MAX, timeoutMs: 60_000 },
    done: ENDED,
  },
  encode: encodeKeepAlive,
  decode: decodeKeepAlive,
};

export function encodeKeepAlive(message: KeepAliveMessage): Uint8Array {
  if (message.kind === 'done') return Uint8Array.of(0x81, 2);
  return new CborWriter(8)
    .array(2)
    .uint(message.kind === 'keepAlive' ? 0 : 1)
    .uint(message.cookie)
    .take();
}

export function decodeKeepAlive(bytes: Uint8Array): KeepAliveMessage {
  return readMessage<KeepAliveMessage>(NAME, bytes, (c, key, fields) => {
    if (key === 2 && has(fields, 0)) return { kind: 'done' };
    if (key > 1 || !has(fields, 1)) return undefined;
    const at = c.at;
    const cookie = c.uint();
    if (cookie > COOKIE_MAX) c.fail('a cookie above 65535', at);
    return { kind: key === 0 ? 'keepAlive' : 'response', cookie };
  });
}
