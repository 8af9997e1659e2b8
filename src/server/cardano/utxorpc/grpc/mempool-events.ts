/**
 * What becomes of transactions: each time the chain or the mempool moves, they
 * are looked at again, and what is new about them is told.
 */
import { submit as messages } from '@utxorpc/spec/lib/index.mjs';
import type { ResolvedContent } from '../../../../query/cardano/transactions.ts';
import type { Query } from '../../../../query/query.ts';
import { toHex } from '../../../../util/bytes.ts';
import { Latch } from '../../../../util/latch.ts';
import type { UtxoRpcBackend } from './backend.ts';
import { masked } from './field-mask.ts';
import { type MessageInit, newMessage } from './message-init.ts';
import { pendingAt, pendingMessage, STAGE } from './pending-tx.ts';
import { holds } from './predicate.ts';
import { matchesTx } from './tx-pattern.ts';

/** The stage of each transaction whenever it is another: in the mempool, in a block. Ends when all are in blocks. */
export async function* stageEvents(
  backend: UtxoRpcBackend,
  ids: readonly Uint8Array[],
  signal: AbortSignal,
): AsyncGenerator<messages.WaitForTxResponse, void, void> {
  const told = new Map<string, number>();
  for await (const stages of looks(backend, signal, (query) => stagesAt(backend, query, ids))) {
    for (const [i, stage] of stages.entries()) {
      if (stage === null || told.get(toHex(ids[i])) === stage) continue;
      told.set(toHex(ids[i]), stage);
      yield newMessage(messages.WaitForTxResponse, { ref: ids[i], stage });
    }
    if (stages.every((stage) => stage === STAGE.confirmed)) return;
  }
}

/** Null: it is not known. */
function stagesAt({ context }: UtxoRpcBackend, query: Query, ids: readonly Uint8Array[]): (number | null)[] {
  const rows = query.txRows(ids);
  const pending = context.mempool?.overlayAt?.(query).txs;
  return ids.map((id, i) => (rows[i] !== null ? STAGE.confirmed : pending?.has(toHex(id)) === true ? STAGE.mempool : null));
}

/** Transactions that match, when they come into the mempool and when they go from it into a block; first, those that are there. Throws UNSUPPORTED. */
export async function* mempoolEvents(
  backend: UtxoRpcBackend,
  { predicate, fieldMask }: messages.WatchMempoolRequest,
  signal: AbortSignal,
): AsyncGenerator<messages.WatchMempoolResponse, void, void> {
  const isWanted = (tx: ResolvedContent): boolean =>
    predicate === undefined || holds(predicate, (pattern) => matchesTx(pattern, tx, backend.traits));
  /** Those in the mempool by the hex of their ids; null: not wanted. */
  let known = new Map<string, ResolvedContent | null>();
  const look = (query: Query): MessageInit<messages.TxInMempool>[] => {
    const pending = pendingAt(backend.context, query);
    const now = new Map<string, ResolvedContent | null>();
    const came: ResolvedContent[] = [];
    for (const { id, hexId } of pending.all()) {
      const found = known.has(hexId) ? null : pending.byId(id);
      const wanted = found !== null && isWanted(found) ? found : null;
      if (wanted !== null) came.push(wanted);
      now.set(hexId, known.get(hexId) ?? wanted);
    }
    const gone = [...known].flatMap(([hexId, tx]) => (tx === null || now.has(hexId) ? [] : [tx]));
    known = now;
    const rows = query.txRows(gone.map(({ id }) => id));
    const landed = gone.filter((_, i) => rows[i] !== null);
    return [...landed.map((tx) => pendingMessage(tx, STAGE.confirmed)), ...came.map((tx) => pendingMessage(tx, STAGE.mempool))];
  };
  for await (const events of looks(backend, signal, look))
    for (const tx of events) yield masked(newMessage(messages.WatchMempoolResponse, { tx }), fieldMask);
}

/** What a look at the newest block gives, now and whenever the chain or the mempool has moved. */
async function* looks<T>(backend: UtxoRpcBackend, signal: AbortSignal, look: (query: Query) => T): AsyncGenerator<T, void, void> {
  const { reads, mempool } = backend.context;
  const moved = new Latch();
  const wake = (): void => moved.set();
  const stops = [reads.onMove(wake), mempool?.onChange?.(wake)];
  signal.addEventListener('abort', wake);
  try {
    for (; !signal.aborted; await moved.wait()) {
      moved.take();
      yield await backend.stepAtTip(signal, look);
    }
  } finally {
    for (const stop of stops) stop?.();
    signal.removeEventListener('abort', wake);
  }
}
