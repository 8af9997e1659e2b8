/**
 * Routes about what is in no block yet: the mempool as a whole, its newest
 * transactions, and the fees it suggests.
 */
import type { FastifyInstance } from 'fastify';
import { formatId } from '../../../ledgers/bitcoin/index.ts';
import type { Mempool, MempoolTx } from '../../../query/bitcoin/mempool/mempool.ts';
import type { EsploraAnswers } from './answer.ts';
import { satoshis } from './tx-json.ts';

const RECENT_TXS = 10;

/** Blocks for which a fee rate is told. */
const FEE_TARGETS = [...Array.from({ length: 25 }, (_, i) => i + 1), 144, 504, 1008];

const JSON_OF_BOTH = { type: 'json', mempool: true } as const;

export function registerMempool(app: FastifyInstance, answers: EsploraAnswers): void {
  app.get('/mempool', (request, reply) => {
    answers.give(request, reply, JSON_OF_BOTH, ({ mempool }) => backlogJson(mempool));
  });
  app.get('/mempool/txids', (request, reply) => {
    // As they are now, whatever comes and goes while they are sent.
    answers.give(request, reply, JSON_OF_BOTH, ({ mempool }) => answers.rows(request, [...mempool.all()], ({ id }) => `"${formatId(id)}"`));
  });
  app.get('/mempool/recent', (request, reply) => {
    answers.give(request, reply, JSON_OF_BOTH, ({ mempool }) => JSON.stringify(newest(mempool).map(overview)));
  });
  app.get('/fee-estimates', (request, reply) => {
    answers.give(request, reply, JSON_OF_BOTH, ({ mempool }) =>
      JSON.stringify(Object.fromEntries(FEE_TARGETS.map((blocks) => [blocks, mempool.feeRate(blocks)]))),
    );
  });
}

function backlogJson(mempool: Mempool): string {
  let [vsize, fees] = [0, 0n];
  for (const tx of mempool.all()) {
    vsize += tx.virtualSize;
    fees += tx.fee ?? 0n;
  }
  return `{"count":${mempool.size},"vsize":${vsize},"total_fee":${fees},"fee_histogram":${JSON.stringify(mempool.histogram())}}`;
}

/** They come in the order of arrival. */
function newest(mempool: Mempool): MempoolTx[] {
  return [...mempool.all()].slice(-RECENT_TXS).reverse();
}

function overview({ id, fee, virtualSize, described }: MempoolTx): object {
  const value = described.outputs.reduce((sum, output) => sum + output.value, 0n);
  return { txid: formatId(id), fee: fee === null ? null : satoshis(fee), vsize: virtualSize, value: satoshis(value) };
}
