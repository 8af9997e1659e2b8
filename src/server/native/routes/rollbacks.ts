/**
 * What rollbacks took away, and what became of it: each transaction of the
 * blocks that were undone, as it stood, beside where it is now. It changes
 * without a new block, so it is never kept by a cache.
 */
import Type from 'typebox';
import type { Dialect } from '../../../query/dialect.ts';
import type { Query } from '../../../query/query.ts';
import { Renderer } from '../../../query/render.ts';
import type { ServerContext } from '../../context.ts';
import type { App } from '../../http/typed.ts';
import type { NativeAnswers } from '../answer.ts';
import { describedStatus } from '../openapi.ts';
import { type LoggedRollback, RollbackLog, type UndoneTx } from '../rollback-log.ts';
import { ref } from '../schemas.ts';

export function registerRollbacks(app: App, answers: NativeAnswers): void {
  const { context } = answers;
  const log = new RollbackLog(context, answers.state.log);
  app.addHook('onClose', async () => log.close());
  const schema = describedStatus(
    'What rollbacks took away',
    Type.Array(ref('RollbackReport')),
    'The last ones that servers of this store have seen, newest first: the blocks that were undone, their transactions as they stood, and where each is now.',
  );
  app.get('/rollbacks', { schema }, (_request, reply) => {
    const lease = context.reads.lease();
    try {
      answers.name(reply);
      const reports = log.rollbacks.map((rollback) => reportOf(rollback, lease.query, context));
      reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(JSON.stringify(reports));
    } finally {
      lease.release();
    }
  });
}

function reportOf({ time, to, undone, blocks, txs, isPartial }: LoggedRollback, query: Query, { network }: ServerContext): object {
  const { dialect } = network;
  const renderer = new Renderer(query, dialect);
  const rows = query.txRows(txs.map(({ id }) => id));
  return {
    time,
    to,
    undone,
    blocks: blocks.map((row) => renderer.block(row)),
    transactions: txs.map((tx, i) => {
      const row = rows[i];
      const after = row === null ? afterwards(query, tx, dialect) : { state: 'in_block', ...placeOf(renderer.tx(tx.id, row)) };
      return {
        tx_hash: dialect.formatId(tx.id),
        valid: tx.valid,
        block: tx.block.height,
        block_hash: dialect.formatId(tx.block.hash),
        output_count: tx.outputCount,
        [dialect.currency.field]: tx.value.toString(),
        outputs: tx.outputs,
        after,
      };
    }),
    partial: isPartial,
  };
}

function placeOf({ block, block_hash }: { readonly block: number; readonly block_hash?: string }): object {
  return { block, ...(block_hash === undefined ? {} : { block_hash }) };
}

/** In no block: another took what it spends, or it may still come back. */
function afterwards(query: Query, { spent }: UndoneTx, { formatId }: Dialect): object {
  for (const { txId, index } of spent) {
    const utxo = query.outpoint(txId, index);
    if (utxo === null) return { state: 'lost', because: 'what it spends is not there any more' };
    if (utxo.spent?.txId != null)
      return { state: 'lost', because: 'another transaction spends the same output', instead: formatId(utxo.spent.txId) };
  }
  return { state: 'waiting' };
}
