/**
 * Local-tx-submission and local-tx-monitor, the server's halves: transactions
 * into the chain's next block, and a look at those that wait. A chain without a
 * mempool refuses every transaction and shows an empty one.
 */

import { Gate } from '../../../sources/cardano/ouroboros/gate.ts';
import type { TxMonitorMessage, TxMonitorState } from '../../../sources/cardano/ouroboros/local-tx-monitor.ts';
import type { TxSubmissionMessage, TxSubmissionState } from '../../../sources/cardano/ouroboros/local-tx-submission.ts';
import type { Session } from '../../../sources/cardano/ouroboros/session.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import type { PendingTx, ServedChain, Verdict } from './chain.ts';

const CONWAY_INDEX = 6;
/** CDDL of the ledger's failures: in Conway, a refusal of the mempool that is told in words. */
const MEMPOOL_FAILURE = 7;

export async function serveTxSubmission(session: Session<TxSubmissionMessage, TxSubmissionState>, chain: ServedChain): Promise<void> {
  for (;;) {
    const message = session.tryReceive() ?? (await session.receive());
    if (message.kind !== 'submit') return;
    const { eraIndex, tx } = message.tx;
    const verdict = judge(chain, eraIndex, tx);
    if (verdict.accepted) session.send({ kind: 'accept' });
    else session.send({ kind: 'reject', reason: encodeReason(verdict.reason) });
  }
}

function judge({ mempool }: ServedChain, eraIndex: number, tx: Uint8Array): Verdict {
  if (mempool === undefined) return { accepted: false, reason: 'this chain takes no transactions: it is only read' };
  if (eraIndex !== CONWAY_INDEX) return { accepted: false, reason: `a transaction of era ${eraIndex}; this chain is in Conway (6)` };
  return mempool.submit(tx);
}

/** `[[era, [failures]]]`, as a node answers for a transaction of the current era. */
export function encodeReason(text: string): Uint8Array {
  return new CborWriter().array(1).array(2).uint(CONWAY_INDEX).array(1).array(2).uint(MEMPOOL_FAILURE).text(text).take();
}

interface Look {
  readonly slot: number;
  readonly txs: readonly PendingTx[];
  /** Transactions the client was given of these. */
  given: number;
}

export async function serveTxMonitor(session: Session<TxMonitorMessage, TxMonitorState>, chain: ServedChain): Promise<void> {
  const changed = new Gate();
  const stopListening = chain.onChange(() => changed.open());
  const { mux } = session.channel;
  void mux.closed.then(() => changed.open());
  let look: Look | null = null;
  try {
    for (;;) {
      const message = session.tryReceive() ?? (await session.receive());
      if (message.kind === 'done') return;
      if (message.kind === 'release') look = null;
      else if (message.kind === 'acquire') {
        // Once acquired, acquiring again means: when there is something new.
        const before = look;
        for (look = lookAt(chain); before !== null && isSame(look, before); look = lookAt(chain)) {
          await changed.wait();
          if (mux.failure !== null) throw mux.failure;
        }
        session.send({ kind: 'acquired', slot: look.slot });
      } else if (look !== null) session.send(tell(message, look, chain));
    }
  } finally {
    stopListening();
  }
}

/** A mempool is for the slot behind the newest block's (consensus: `ForgeInUnknownSlot`). */
function lookAt({ tip, mempool }: ServedChain): Look {
  return { slot: (tip.point?.slot ?? -1) + 1, txs: mempool?.pending() ?? [], given: 0 };
}

function isSame(a: Look, b: Look): boolean {
  return a.slot === b.slot && a.txs.length === b.txs.length && a.txs.every(({ id }, i) => equalBytes(id, b.txs[i].id));
}

function tell(message: TxMonitorMessage, look: Look, { mempool }: ServedChain): TxMonitorMessage {
  const sizeBytes = look.txs.reduce((sum, { tx }) => sum + tx.length, 0);
  const capacityBytes = mempool?.sizes().capacityBytes ?? 0;
  if (message.kind === 'nextTx') {
    const next = look.txs[look.given++];
    return { kind: 'replyNextTx', tx: next === undefined ? null : { eraIndex: CONWAY_INDEX, tx: next.tx } };
  }
  if (message.kind === 'hasTx') return { kind: 'replyHasTx', has: look.txs.some(({ id }) => equalBytes(id, message.id.id)) };
  if (message.kind === 'getSizes') return { kind: 'replyGetSizes', sizes: { capacityBytes, sizeBytes, txs: look.txs.length } };
  const measures = [{ name: 'transaction_bytes', used: sizeBytes, capacity: capacityBytes }];
  return { kind: 'replyGetMeasures', txs: look.txs.length, measures };
}
