/**
 * The service `Watch`: transactions that match, as their blocks are applied and
 * undone. They come from the history of transactions (`utxo.history`).
 */
import type { ServiceImpl } from '@connectrpc/connect';
import { watch as messages, type watchConnect } from '@utxorpc/spec/lib/index.mjs';
import { type ChainStep, followChain } from '../../../../events/follow-chain.ts';
import type { ResolvedTx } from '../../../../query/cardano/transactions.ts';
import type { UtxoRpcBackend } from './backend.ts';
import { blockTxs, headerMessage } from './block-message.ts';
import { startOf } from './block-ref.ts';
import { masked } from './field-mask.ts';
import { type MessageInit, newMessage } from './message-init.ts';
import { holds } from './predicate.ts';
import { txMessage } from './tx-message.ts';
import { matchesTx } from './tx-pattern.ts';

type Action = MessageInit<messages.WatchTxResponse>['action'];

export function watchService(backend: UtxoRpcBackend): Partial<ServiceImpl<typeof watchConnect.WatchService>> {
  return { watchTx: (request, { signal }) => backend.stream(txEvents(backend, request, signal), signal) };
}

async function* txEvents(
  backend: UtxoRpcBackend,
  { intersect, predicate, fieldMask }: messages.WatchTxRequest,
  signal: AbortSignal,
): AsyncGenerator<messages.WatchTxResponse, void, void> {
  const isWanted = (tx: ResolvedTx): boolean =>
    predicate === undefined || holds(predicate, (pattern) => matchesTx(pattern, tx, backend.traits));
  const actionsOf = ({ kind, row, query }: ChainStep): Action[] => {
    if (kind === 'begun') return [];
    const block: MessageInit<messages.AnyChainBlock> = { chain: { case: 'cardano', value: headerMessage(backend, row) } };
    const txs = blockTxs(query, row).filter(isWanted);
    return (kind === 'applied' ? txs : txs.toReversed()).map((tx) => ({
      case: kind === 'applied' ? 'apply' : 'undo',
      value: { chain: { case: 'cardano', value: txMessage(tx) }, block },
    }));
  };
  for await (const step of followChain(backend.context.reads, (query) => startOf(query, intersect), signal)) {
    for (const action of await backend.step(signal, () => actionsOf(step)))
      yield masked(newMessage(messages.WatchTxResponse, { action }), fieldMask);
  }
}
