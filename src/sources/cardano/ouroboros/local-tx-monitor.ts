/**
 * Local-tx-monitor (9): a look into a node's mempool. Acquiring takes a
 * snapshot; acquiring again waits until the mempool has changed.
 *
 * CDDL: ouroboros-network specs/local-tx-monitor.cddl. It leaves `txId` open: a
 * node has `[era index, 32 bytes]` there (`82 07 82 06 58 20 ...` in Conway),
 * since consensus encodes the id of many eras with `encodeNS` (HardFork/Combinator/
 * Serialisation/Common.hs) and an era's own as its hash; golden `GenTxId_*`.
 * gouroboros 0.206 sends the bare hash, which a node cannot decode either.
 */
import type { Cursor } from '../../../util/cbor.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { LOCAL_MESSAGE_BYTES_MAX } from '../../../util/limits.ts';
import { readTx, readTxId, type WrappedTx, type WrappedTxId, writeTx, writeTxId } from './envelope.ts';
import { ENDED, has, type Protocol, readBool, readMessage, readText } from './protocol.ts';

export interface MempoolSizes {
  readonly capacityBytes: number;
  readonly sizeBytes: number;
  readonly txs: number;
}

export interface MempoolMeasure {
  readonly name: string;
  readonly used: number;
  readonly capacity: number;
}

export type TxMonitorMessage =
  | { readonly kind: 'acquire' }
  | { readonly kind: 'acquired'; readonly slot: number }
  | { readonly kind: 'release' }
  | { readonly kind: 'nextTx' }
  | { readonly kind: 'replyNextTx'; readonly tx: WrappedTx | null }
  | { readonly kind: 'hasTx'; readonly id: WrappedTxId }
  | { readonly kind: 'replyHasTx'; readonly has: boolean }
  | { readonly kind: 'getSizes' }
  | { readonly kind: 'replyGetSizes'; readonly sizes: MempoolSizes }
  | { readonly kind: 'getMeasures' }
  | { readonly kind: 'replyGetMeasures'; readonly txs: number; readonly measures: readonly MempoolMeasure[] }
  | { readonly kind: 'done' };

export type TxMonitorState = 'idle' | 'acquiring' | 'acquired' | 'busyNext' | 'busyHas' | 'busySizes' | 'busyMeasures' | 'done';

const NAME = 'local-tx-monitor';
const server = { agency: 'responder', bytesMax: LOCAL_MESSAGE_BYTES_MAX, timeoutMs: null } as const;
const client = { agency: 'initiator', bytesMax: LOCAL_MESSAGE_BYTES_MAX, timeoutMs: null } as const;

export const LOCAL_TX_MONITOR: Protocol<TxMonitorMessage, TxMonitorState> = {
  name: NAME,
  number: 9,
  initial: 'idle',
  pipelined: null,
  states: {
    idle: { ...client, sends: { acquire: 'acquiring', done: 'done' } },
    acquiring: { ...server, sends: { acquired: 'acquired' } },
    acquired: {
      ...client,
      sends: {
        acquire: 'acquiring',
        nextTx: 'busyNext',
        hasTx: 'busyHas',
        getSizes: 'busySizes',
        getMeasures: 'busyMeasures',
        release: 'idle',
      },
    },
    busyNext: { ...server, sends: { replyNextTx: 'acquired' } },
    busyHas: { ...server, sends: { replyHasTx: 'acquired' } },
    busySizes: { ...server, sends: { replyGetSizes: 'acquired' } },
    busyMeasures: { ...server, sends: { replyGetMeasures: 'acquired' } },
    done: ENDED,
  },
  encode: encodeTxMonitor,
  decode: decodeTxMonitor,
};

const BARE: Readonly<Partial<Record<TxMonitorMessage['kind'], number>>> = {
  done: 0,
  acquire: 1,
  release: 3,
  nextTx: 5,
  getSizes: 9,
  getMeasures: 11,
};

export function encodeTxMonitor(message: TxMonitorMessage): Uint8Array {
  const w = new CborWriter();
  switch (message.kind) {
    case 'acquired':
      return w.array(2).uint(2).uint(message.slot).take();
    case 'replyNextTx':
      return message.tx === null ? w.array(1).uint(6).take() : writeTx(w.array(2).uint(6), message.tx).take();
    case 'hasTx':
      return writeTxId(w.array(2).uint(7), message.id).take();
    case 'replyHasTx':
      return w.array(2).uint(8).bool(message.has).take();
    case 'replyGetSizes': {
      const { capacityBytes, sizeBytes, txs } = message.sizes;
      return w.array(2).uint(10).array(3).uint(capacityBytes).uint(sizeBytes).uint(txs).take();
    }
    case 'replyGetMeasures': {
      w.array(3).uint(12).uint(message.txs).map(message.measures.length);
      for (const { name, used, capacity } of message.measures) w.text(name).array(2).uint(used).uint(capacity);
      return w.take();
    }
    default:
      return Uint8Array.of(0x81, BARE[message.kind]!);
  }
}

export function decodeTxMonitor(bytes: Uint8Array): TxMonitorMessage {
  return readMessage<TxMonitorMessage>(NAME, bytes, (c, key, fields) => {
    const bare = fields <= 0 ? BARE_KINDS[key] : undefined;
    if (bare !== undefined) return bare;
    if (key === 2 && has(fields, 1)) return { kind: 'acquired', slot: c.uint() };
    if (key === 6 && fields === 0) return { kind: 'replyNextTx', tx: null };
    if (key === 6 && fields < 0) return { kind: 'replyNextTx', tx: c.bytes[c.at] === 0xff ? null : readTx(c) };
    if (key === 6 && fields === 1) return { kind: 'replyNextTx', tx: readTx(c) };
    if (key === 7 && has(fields, 1)) return { kind: 'hasTx', id: readTxId(c) };
    if (key === 8 && has(fields, 1)) return { kind: 'replyHasTx', has: readBool(c) };
    if (key === 10 && has(fields, 1)) return { kind: 'replyGetSizes', sizes: readSizes(c) };
    if (key === 12 && has(fields, 2)) return { kind: 'replyGetMeasures', txs: c.uint(), measures: readMeasures(c) };
    return undefined;
  });
}

const BARE_KINDS: Readonly<Record<number, TxMonitorMessage>> = {
  0: { kind: 'done' },
  1: { kind: 'acquire' },
  3: { kind: 'release' },
  5: { kind: 'nextTx' },
  9: { kind: 'getSizes' },
  11: { kind: 'getMeasures' },
};

function readSizes(c: Cursor): MempoolSizes {
  const count = c.tuple(3, 'mempool sizes');
  const sizes = { capacityBytes: c.uint(), sizeBytes: c.uint(), txs: c.uint() };
  c.close(count);
  return sizes;
}

function readMeasures(c: Cursor): MempoolMeasure[] {
  const measures: MempoolMeasure[] = [];
  for (let i = 0, count = c.map(); c.more(count, i); i++) {
    const name = readText(c);
    const pair = c.tuple(2, 'mempool measure');
    measures.push({ name, used: c.uint(), capacity: c.uint() });
    c.close(pair);
  }
  return measures;
}
