/**
 * Block-fetch (3): whole blocks by range, both ends included. Ranges can be
 * asked for ahead; the answers come in order.
 *
 * CDDL: ouroboros-network specs/block-fetch.cddl.
 */
import { CborWriter } from '../../../util/cbor-write.ts';
import { BLOCK_MESSAGE_BYTES_MAX, MESSAGE_BYTES_MAX } from '../../../util/limits.ts';
import { readEncoded } from './envelope.ts';
import { readPoint, type WirePoint, writePoint } from './point.ts';
import { ENDED, has, type Protocol, readMessage } from './protocol.ts';

export type BlockFetchMessage =
  | { readonly kind: 'requestRange'; readonly from: WirePoint; readonly to: WirePoint }
  | { readonly kind: 'clientDone' }
  | { readonly kind: 'startBatch' }
  | { readonly kind: 'noBlocks' }
  /** `raw`: the wrapped block `[eraTag, block]`, without the tag 24 around it. */
  | { readonly kind: 'block'; readonly raw: Uint8Array }
  | { readonly kind: 'batchDone' };

export type BlockFetchState = 'idle' | 'busy' | 'streaming' | 'done';

const NAME = 'block-fetch';
const ANSWER_MS = 60_000;

export const BLOCK_FETCH: Protocol<BlockFetchMessage, BlockFetchState> = {
  name: NAME,
  number: 3,
  initial: 'idle',
  pipelined: 'requestRange',
  states: {
    idle: { agency: 'initiator', sends: { requestRange: 'busy', clientDone: 'done' }, bytesMax: MESSAGE_BYTES_MAX, timeoutMs: null },
    busy: {
      agency: 'responder',
      sends: { startBatch: 'streaming', noBlocks: 'idle' },
      bytesMax: MESSAGE_BYTES_MAX,
      timeoutMs: ANSWER_MS,
    },
    streaming: {
      agency: 'responder',
      sends: { block: 'streaming', batchDone: 'idle' },
      bytesMax: BLOCK_MESSAGE_BYTES_MAX,
      timeoutMs: ANSWER_MS,
    },
    done: ENDED,
  },
  encode: encodeBlockFetch,
  decode: decodeBlockFetch,
};

export function encodeBlockFetch(message: BlockFetchMessage): Uint8Array {
  switch (message.kind) {
    case 'requestRange':
      return writePoint(writePoint(new CborWriter(128).array(3).uint(0), message.from), message.to).take();
    case 'clientDone':
      return Uint8Array.of(0x81, 1);
    case 'startBatch':
      return Uint8Array.of(0x81, 2);
    case 'noBlocks':
      return Uint8Array.of(0x81, 3);
    case 'block':
      return new CborWriter(message.raw.length + 16).array(2).uint(4).encoded(message.raw).take();
    case 'batchDone':
      return Uint8Array.of(0x81, 5);
  }
}

export function decodeBlockFetch(bytes: Uint8Array): BlockFetchMessage {
  return readMessage<BlockFetchMessage>(NAME, bytes, (c, key, fields) => {
    if (key === 4 && has(fields, 1)) return { kind: 'block', raw: readEncoded(c) };
    if (key === 0 && has(fields, 2)) return { kind: 'requestRange', from: readPoint(c), to: readPoint(c) };
    if (key === 1 && has(fields, 0)) return { kind: 'clientDone' };
    if (key === 2 && has(fields, 0)) return { kind: 'startBatch' };
    if (key === 3 && has(fields, 0)) return { kind: 'noBlocks' };
    return key === 5 && has(fields, 0) ? { kind: 'batchDone' } : undefined;
  });
}
