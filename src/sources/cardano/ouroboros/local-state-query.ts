/**
 * Local-state-query (7): questions to a node's ledger at a point it has
 * acquired. Queries and results are carried encoded; `queries.ts` knows their
 * shapes.
 *
 * CDDL: ouroboros-network specs/local-state-query.cddl.
 */
import { CborWriter } from '../../../util/cbor-write.ts';
import { LOCAL_MESSAGE_BYTES_MAX } from '../../../util/limits.ts';
import { readPoint, type WirePoint, writePoint } from './point.ts';
import { ENDED, has, type Protocol, rawItem, readMessage } from './protocol.ts';

export type AcquireTarget =
  | { readonly at: 'point'; readonly point: WirePoint }
  | { readonly at: 'volatileTip' }
  | { readonly at: 'immutableTip' };

export type AcquireFailure = 'pointTooOld' | 'pointNotOnChain';

export type StateQueryMessage =
  | { readonly kind: 'acquire'; readonly target: AcquireTarget }
  | { readonly kind: 'acquired' }
  | { readonly kind: 'failure'; readonly reason: AcquireFailure }
  | { readonly kind: 'query'; readonly query: Uint8Array }
  | { readonly kind: 'result'; readonly result: Uint8Array }
  | { readonly kind: 'release' }
  | { readonly kind: 'reAcquire'; readonly target: AcquireTarget }
  | { readonly kind: 'done' };

export type StateQueryState = 'idle' | 'acquiring' | 'acquired' | 'querying' | 'done';

const NAME = 'local-state-query';
const client = { agency: 'initiator', bytesMax: LOCAL_MESSAGE_BYTES_MAX, timeoutMs: null } as const;
const server = { agency: 'responder', bytesMax: LOCAL_MESSAGE_BYTES_MAX, timeoutMs: null } as const;

export const LOCAL_STATE_QUERY: Protocol<StateQueryMessage, StateQueryState> = {
  name: NAME,
  number: 7,
  initial: 'idle',
  pipelined: null,
  states: {
    idle: { ...client, sends: { acquire: 'acquiring', done: 'done' } },
    acquiring: { ...server, sends: { acquired: 'acquired', failure: 'idle' } },
    acquired: { ...client, sends: { query: 'querying', reAcquire: 'acquiring', release: 'idle' } },
    querying: { ...server, sends: { result: 'acquired' } },
    done: ENDED,
  },
  encode: encodeStateQuery,
  decode: decodeStateQuery,
};

const FAILURES: readonly AcquireFailure[] = ['pointTooOld', 'pointNotOnChain'];
/** Keys of acquire and re-acquire, by target. */
const KEYS = {
  acquire: { point: 0, volatileTip: 8, immutableTip: 10 },
  reAcquire: { point: 6, volatileTip: 9, immutableTip: 11 },
} as const;

export function encodeStateQuery(message: StateQueryMessage): Uint8Array {
  switch (message.kind) {
    case 'acquire':
    case 'reAcquire': {
      const { target } = message;
      const key = KEYS[message.kind][target.at];
      if (target.at !== 'point') return Uint8Array.of(0x81, key);
      return writePoint(new CborWriter(64).array(2).uint(key), target.point).take();
    }
    case 'acquired':
      return Uint8Array.of(0x81, 1);
    case 'failure':
      return Uint8Array.of(0x82, 2, FAILURES.indexOf(message.reason));
    case 'query':
      return new CborWriter(message.query.length + 8).array(2).uint(3).raw(message.query).take();
    case 'result':
      return new CborWriter(message.result.length + 8).array(2).uint(4).raw(message.result).take();
    case 'release':
      return Uint8Array.of(0x81, 5);
    case 'done':
      return Uint8Array.of(0x81, 7);
  }
}

export function decodeStateQuery(bytes: Uint8Array): StateQueryMessage {
  return readMessage<StateQueryMessage>(NAME, bytes, (c, key, fields) => {
    if (key === 3 && has(fields, 1)) return { kind: 'query', query: rawItem(c) };
    if (key === 4 && has(fields, 1)) return { kind: 'result', result: rawItem(c) };
    if ((key === 0 || key === 6) && has(fields, 1)) {
      return { kind: key === 0 ? 'acquire' : 'reAcquire', target: { at: 'point', point: readPoint(c) } };
    }
    if (key === 2 && has(fields, 1)) {
      const at = c.at;
      const reason = FAILURES[c.uint()];
      return reason === undefined ? c.fail('unknown reason of failure', at) : { kind: 'failure', reason };
    }
    return has(fields, 0) ? BARE[key] : undefined;
  });
}

const BARE: Readonly<Record<number, StateQueryMessage>> = {
  1: { kind: 'acquired' },
  5: { kind: 'release' },
  7: { kind: 'done' },
  8: { kind: 'acquire', target: { at: 'volatileTip' } },
  9: { kind: 'reAcquire', target: { at: 'volatileTip' } },
  10: { kind: 'acquire', target: { at: 'immutableTip' } },
  11: { kind: 'reAcquire', target: { at: 'immutableTip' } },
};
