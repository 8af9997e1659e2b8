/**
 * The service `Sync`: the tip, blocks, and what happens to the chain. Blocks come
 * from the history of transactions (`utxo.history`).
 */
import type { ServiceImpl } from '@connectrpc/connect';
import { sync as messages, type syncConnect } from '@utxorpc/spec/lib/index.mjs';
import { type ChainStep, followChain } from '../../../../events/follow-chain.ts';
import type { ChainRow } from '../../../../projections/chain.ts';
import type { Query } from '../../../../query/query.ts';
import { UnspentError } from '../../../../util/errors.ts';
import { UTXORPC_BLOCKS_MAX } from '../../../../util/limits.ts';
import type { Task } from '../../../http/work/task.ts';
import { holdMessage, type UtxoRpcBackend } from './backend.ts';
import { blockMessage } from './block-message.ts';
import { blockOf, startOf } from './block-ref.ts';
import { masked } from './field-mask.ts';
import { type MessageInit, newMessage } from './message-init.ts';

type BlockMessage = MessageInit<messages.AnyChainBlock>;

export function syncService(backend: UtxoRpcBackend): Partial<ServiceImpl<typeof syncConnect.SyncService>> {
  return {
    readTip(_request, context) {
      return backend.read(context, (query) => {
        const tip = backend.tip(query);
        if (tip === null) throw new UnspentError('NOT_FOUND', 'the store has no block yet');
        return newMessage(messages.ReadTipResponse, { tip, timestamp: tip.timestamp });
      });
    },

    fetchBlock({ ref, fieldMask }, context) {
      if (ref.length > UTXORPC_BLOCKS_MAX) throw tooMany(ref.length, 'ref');
      return backend.read(context, async (query, task) => {
        const block = await blockMessages(
          backend,
          query,
          task,
          ref.map((each) => blockOf(query, each)),
        );
        return masked(newMessage(messages.FetchBlockResponse, { block }), fieldMask);
      });
    },

    dumpHistory({ startToken, maxItems, fieldMask }, context) {
      if (maxItems > UTXORPC_BLOCKS_MAX) throw tooMany(maxItems, 'max_items');
      return backend.read(context, async (query, task) => {
        const first = startToken === undefined ? query.blockAfter(null) : blockOf(query, startToken);
        const rows: ChainRow[] = [];
        let next = first;
        for (; next !== null && rows.length < (maxItems || UTXORPC_BLOCKS_MAX); next = query.blockAfter(next)) rows.push(next);
        const block = await blockMessages(backend, query, task, rows);
        const nextToken = next === null ? undefined : backend.point(next);
        return masked(newMessage(messages.DumpHistoryResponse, { block, nextToken }), fieldMask);
      });
    },

    followTip: (request, { signal }) => backend.stream(tipEvents(backend, request, signal), signal),
  };
}

/** From the point that both have on; the first event says which that is. */
async function* tipEvents(
  backend: UtxoRpcBackend,
  { intersect, fieldMask }: messages.FollowTipRequest,
  signal: AbortSignal,
): AsyncGenerator<messages.FollowTipResponse, void, void> {
  const actionOf = ({ kind, row, query }: ChainStep): MessageInit<messages.FollowTipResponse>['action'] => {
    if (kind === 'begun') return { case: 'reset', value: row === null ? {} : backend.point(row) };
    const { block } = blockMessage(backend, query, row);
    return kind === 'applied' ? { case: 'apply', value: block } : { case: 'undo', value: block };
  };
  for await (const step of followChain(backend.context.reads, (query) => startOf(query, intersect), signal)) {
    const action = await backend.step(signal, () => actionOf(step));
    yield masked(newMessage(messages.FollowTipResponse, { action }), fieldMask);
  }
}

/** In slices, a block each. */
function blockMessages(
  backend: UtxoRpcBackend,
  query: Query,
  task: Task,
  rows: readonly ChainRow[],
): BlockMessage[] | Promise<BlockMessage[]> {
  const blocks: BlockMessage[] = [];
  return task.inSlices(
    rows,
    (row) => {
      const { block, rawBytes } = blockMessage(backend, query, row);
      holdMessage(task, rawBytes);
      return blocks.push(block) > 0;
    },
    () => blocks,
  );
}

function tooMany(count: number, field: string): UnspentError {
  return new UnspentError('LIMIT', `${field} asks for ${count} blocks, more than ${UTXORPC_BLOCKS_MAX}`, {
    field,
    limit: UTXORPC_BLOCKS_MAX,
  });
}
