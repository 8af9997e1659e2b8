/**
 * The service `Submit`: transactions on their way to the chain, handed to the
 * node, evaluated, waited for and watched.
 */
import type { ServiceImpl } from '@connectrpc/connect';
import { submit as messages, type submitConnect } from '@utxorpc/spec/lib/index.mjs';
import { TXID_BYTES } from '../../../../ledgers/outpoint.ts';
import { UnspentError } from '../../../../util/errors.ts';
import { holdMessage, type UtxoRpcBackend } from './backend.ts';
import { evaluationMessage } from './evaluation-message.ts';
import { mempoolEvents, stageEvents } from './mempool-events.ts';
import { type MessageInit, newMessage } from './message-init.ts';
import { pendingAt, pendingMessage, STAGE } from './pending-tx.ts';
import { checkCount, hashOf } from './query-service.ts';

export function submitService(backend: UtxoRpcBackend): Partial<ServiceImpl<typeof submitConnect.SubmitService>> {
  return {
    async submitTx({ tx }, { signal }) {
      const ref: Uint8Array[] = [];
      // One after the other: a later one may spend what an earlier one makes.
      for (const each of tx) {
        checkWanted(signal);
        ref.push(await backend.context.submit(rawTx(each)));
      }
      return newMessage(messages.SubmitTxResponse, { ref });
    },

    async evalTx({ tx }, { signal }) {
      const report = [];
      for (const each of tx) {
        checkWanted(signal);
        report.push({ chain: { case: 'cardano' as const, value: await evaluationMessage(backend, rawTx(each), signal) } });
      }
      return newMessage(messages.EvalTxResponse, { report });
    },

    readMempool(_request, context) {
      return backend.read(context, (query, task) => {
        const pending = pendingAt(backend.context, query);
        const items: MessageInit<messages.TxInMempool>[] = [];
        const take = ({ id }: { readonly id: Uint8Array }): boolean => {
          const tx = pending.byId(id);
          if (tx === null) return true;
          holdMessage(task, tx.raw.length);
          return items.push(pendingMessage(tx, STAGE.mempool)) > 0;
        };
        return task.inSlices(pending.all(), take, () => newMessage(messages.ReadMempoolResponse, { items }));
      });
    },

    waitForTx({ ref }, { signal }) {
      checkCount(ref.length, 'ref');
      const ids = ref.map((each) => hashOf(each, TXID_BYTES, 'ref'));
      return backend.stream(stageEvents(backend, ids, signal), signal);
    },

    watchMempool: (request, { signal }) => backend.stream(mempoolEvents(backend, request, signal), signal),
  };
}

/** Throws CLOSED when the client of a call that takes many steps is gone. */
function checkWanted({ aborted }: AbortSignal): void {
  if (aborted) throw new UnspentError('CLOSED', 'whoever asked is gone');
}

/** Throws USAGE. */
function rawTx({ type }: messages.AnyChainTx): Uint8Array {
  if (type.case === 'raw' && type.value.length > 0) return type.value;
  throw new UnspentError('USAGE', 'a transaction is its CBOR, in raw', { field: 'tx' });
}
