/**
 * Local-tx-submission (6): one transaction at a time into a node's mempool.
 *
 * CDDL: ouroboros-network specs/local-tx-submission.cddl.
 */
import { CborWriter } from '../../../util/cbor-write.ts';
import { LOCAL_MESSAGE_BYTES_MAX } from '../../../util/limits.ts';
import { readTx, type WrappedTx, writeTx } from './envelope.ts';
import { ENDED, has, type Protocol, rawItem, readMessage } from './protocol.ts';

export type TxSubmissionMessage =
  | { readonly kind: 'submit'; readonly tx: WrappedTx }
  | { readonly kind: 'accept' }
  /** `reason` is the ledger's own account, encoded; its shape is the era's. */
  | { readonly kind: 'reject'; readonly reason: Uint8Array }
  | { readonly kind: 'done' };

export type TxSubmissionState = 'idle' | 'busy' | 'done';

const NAME = 'local-tx-submission';

export const LOCAL_TX_SUBMISSION: Protocol<TxSubmissionMessage, TxSubmissionState> = {
  name: NAME,
  number: 6,
  initial: 'idle',
  pipelined: null,
  states: {
    idle: { agency: 'initiator', sends: { submit: 'busy', done: 'done' }, bytesMax: LOCAL_MESSAGE_BYTES_MAX, timeoutMs: null },
    busy: { agency: 'responder', sends: { accept: 'idle', reject: 'idle' }, bytesMax: LOCAL_MESSAGE_BYTES_MAX, timeoutMs: null },
    done: ENDED,
  },
  encode: encodeTxSubmission,
  decode: decodeTxSubmission,
};

export function encodeTxSubmission(message: TxSubmissionMessage): Uint8Array {
  switch (message.kind) {
    case 'submit':
      return writeTx(new CborWriter(message.tx.tx.length + 32).array(2).uint(0), message.tx).take();
    case 'accept':
      return Uint8Array.of(0x81, 1);
    case 'reject':
      return new CborWriter(message.reason.length + 8).array(2).uint(2).raw(message.reason).take();
    case 'done':
      return Uint8Array.of(0x81, 3);
  }
}

export function decodeTxSubmission(bytes: Uint8Array): TxSubmissionMessage {
  return readMessage<TxSubmissionMessage>(NAME, bytes, (c, key, fields) => {
    if (key === 0 && has(fields, 1)) return { kind: 'submit', tx: readTx(c) };
    if (key === 1 && has(fields, 0)) return { kind: 'accept' };
    if (key === 2 && has(fields, 1)) return { kind: 'reject', reason: rawItem(c) };
    return key === 3 && has(fields, 0) ? { kind: 'done' } : undefined;
  });
}
