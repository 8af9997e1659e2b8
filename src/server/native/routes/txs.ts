/**
 * The records of transactions that a store keeps (`txs.store`): how they are
 * doing, one of them, and those that are due and may not go. The first and the
 * last change without a new block, so they are never kept by a cache.
 */
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { isTxsDatabase } from '../../../projections/txs-switch.ts';
import { findRecord, recordDocument, TXS_READ_COLUMNS } from '../../../txstore/chain/document.ts';
import type { BlockedTx, TxsReport } from '../../../txstore/chain/report.ts';
import { UnspentError } from '../../../util/errors.ts';
import { TXS_BLOCKED_SHOWN_MAX } from '../../../util/limits.ts';
import type { App } from '../../http/typed.ts';
import type { NativeAnswers } from '../answer.ts';
import { described, describedStatus } from '../openapi.ts';
import { RecordDatabase } from '../record-database.ts';
import { NowQuery, PATH } from '../schemas.ts';
import { BlockedTxs, TxRecordShape, TxsStatus } from '../schemas-txs.ts';

export function registerTxRecords(app: App, answers: NativeAnswers): void {
  const { dialect } = answers.context.network;
  const statusSchema = describedStatus(
    'How the records of transactions are doing',
    TxsStatus,
    'Retention, size, how far pruning is, what it counts.',
  );
  app.get('/txs/status', { schema: statusSchema }, (_request, reply) => {
    answers.name(reply);
    sendNow(reply, txsDocument(reportOf(answers)));
  });

  const blockedSchema = {
    ...describedStatus(
      'Records that are due and may not go',
      BlockedTxs,
      'Since when, because of which spender, and why; due longest first.',
    ),
    querystring: Type.Object(
      { limit: Type.Optional(Type.Integer({ minimum: 1, maximum: TXS_BLOCKED_SHOWN_MAX, description: 'Records at most.' })) },
      { additionalProperties: false },
    ),
  };
  app.get('/txs/blocked', { schema: blockedSchema }, (request, reply) => {
    const blocked = reportOf(answers).blocked.slice(0, request.query.limit ?? TXS_BLOCKED_SHOWN_MAX);
    answers.name(reply);
    sendNow(reply, blocked.map(blockedDocument));
  });

  const recordSchema = {
    ...described('Transactions', 'The record of a transaction', {
      json: TxRecordShape,
      description: 'One whose record was deleted is answered with PRUNED, one that nobody has seen with NOT_FOUND.',
    }),
    params: Type.Object({ tx: PATH.tx }),
    querystring: NowQuery,
  };
  const database = isTxsDatabase(answers.context.config.txs.store) ? new RecordDatabase(answers.context) : null;
  if (database !== null) app.addHook('onClose', () => database.close());
  app.get('/txs/:tx', { schema: recordSchema }, async (request, reply) => {
    const txId = dialect.parseId(request.params.tx);
    if (database !== null) {
      answers.name(reply);
      const record = await database.find(txId);
      // It changes without a new block: the database may be behind the store.
      return sendNow(reply, recordDocument(record, dialect.formatId));
    }
    answers.give(request, reply, ({ query }) => {
      const record = findRecord(query.rowsOf(TXS_READ_COLUMNS), txId, dialect.formatId);
      return JSON.stringify(recordDocument(record, dialect.formatId));
    });
    return reply;
  });
}

/** Never kept by a cache. */
function sendNow(reply: FastifyReply, document: unknown): FastifyReply {
  return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(JSON.stringify(document));
}

function reportOf({ context }: NativeAnswers): TxsReport {
  const { records } = context.live.status;
  if (records === null) throw new UnspentError('NOT_YET', 'the store has not said yet how its records are doing');
  return records;
}

export function txsDocument({ gauges, counters, lastPass, blocked, ...report }: TxsReport): object {
  return {
    retention: report.retention,
    window: report.window,
    state: report.state,
    place: report.place,
    height: report.height,
    feed_failure: report.feedFailure,
    consumers: report.consumers,
    records: gauges['utxo_records'],
    bytes: gauges['utxo_bytes'],
    due: gauges['prune_backlog'],
    lag_blocks: gauges['prune_lag_blocks'],
    completed: report.completed,
    pruned_height: report.prunedHeight,
    oldest_blocked_age: gauges['prune_oldest_blocked_age_blocks'],
    blocked: blocked.slice(0, 10).map(blockedDocument),
    last_pass: lastPass,
    counters,
  };
}

function blockedDocument({ txId, since, reason, child }: BlockedTx): object {
  return { tx_id: txId, since, reason, child };
}
