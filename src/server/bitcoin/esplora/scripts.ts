/**
 * Routes about a script, by its address or by its hash: what it received and
 * spent, its transactions (unconfirmed first, then newest first, page by page),
 * and its unspent outputs, all of them.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HistoryTx } from '../../../query/history.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { EsploraAnswers, EsploraRead } from './answer.ts';
import { hashOf, type NamedScript, notFound, scriptOf } from './parse.ts';
import { ScriptStats, type Totals } from './stats.ts';
import { confirmedTxs, mempoolTx } from './txs.ts';
import { unspentRows, utxoWriter } from './utxo.ts';

/** Transactions of a page, and unconfirmed ones in front of it. */
export const PAGE_TXS = 25;
const MEMPOOL_TXS = 50;

const JSON_OF_BOTH = { type: 'json', mempool: true } as const;
const JSON_OF_CHAIN = { type: 'json', mempool: false } as const;

type Params = Readonly<Record<string, string>>;

export function registerScripts(app: FastifyInstance, answers: EsploraAnswers): void {
  const stats = new ScriptStats();
  for (const by of ['address', 'scripthash'] as const) {
    const path = `/${by}/:script`;
    const named = (request: FastifyRequest): NamedScript => scriptOf(answers.network, by, (request.params as Params)['script']);

    app.get(path, (request, reply) => {
      const script = named(request);
      answers.give(request, reply, JSON_OF_BOTH, ({ query, mempool, task }) => {
        const unconfirmed = mempool.totals(script.key);
        const finish = (confirmed: Totals): string => statsJson(script, confirmed, unconfirmed);
        const confirmed = stats.of(query, script.key, task);
        return confirmed instanceof Promise ? confirmed.then(finish) : finish(confirmed);
      });
    });

    app.get(`${path}/txs`, (request, reply) => {
      const script = named(request);
      const { after_txid: after } = request.query as Params;
      if (after === undefined)
        answers.give(request, reply, JSON_OF_BOTH, (read) => page(read, script.key, null, unconfirmedTxs(read, script.key)));
      else answers.give(request, reply, JSON_OF_BOTH, (read) => page(read, script.key, hashOf(after), []));
    });

    app.get(`${path}/txs/chain`, (request, reply) => {
      const script = named(request);
      answers.give(request, reply, JSON_OF_CHAIN, (read) => page(read, script.key, null, []));
    });

    app.get(`${path}/txs/chain/:last`, (request, reply) => {
      const script = named(request);
      const last = hashOf((request.params as Params)['last']);
      answers.give(request, reply, JSON_OF_BOTH, (read) => page(read, script.key, last, []));
    });

    app.get(`${path}/txs/mempool`, (request, reply) => {
      const script = named(request);
      answers.give(request, reply, JSON_OF_BOTH, (read) => `[${unconfirmedTxs(read, script.key).join(',')}]`);
    });

    app.get(`${path}/utxo`, (request, reply) => {
      const script = named(request);
      answers.give(request, reply, JSON_OF_BOTH, (read) => answers.rows(request, unspentRows(read, script.key), utxoWriter(read.query)));
    });
  }
}

/** Sums are written digit by digit: what passed through a script may be more than a number holds. */
function statsJson({ by, text }: NamedScript, confirmed: Totals, unconfirmed: Totals): string {
  const part = ({ fundedCount, fundedSum, spentCount, spentSum, txs }: Totals): string =>
    `{"funded_txo_count":${fundedCount},"funded_txo_sum":${fundedSum},"spent_txo_count":${spentCount},"spent_txo_sum":${spentSum},"tx_count":${txs}}`;
  return `{"${by}":${JSON.stringify(text)},"chain_stats":${part(confirmed)},"mempool_stats":${part(unconfirmed)}}`;
}

function unconfirmedTxs(read: EsploraRead, key: Uint8Array): string[] {
  const newestFirst = [...read.mempool.byScript(key)].reverse();
  return newestFirst.slice(0, MEMPOOL_TXS).map((tx) => mempoolTx(read, tx));
}

/** Confirmed transactions behind one that was seen last, behind those that are given. */
function page(read: EsploraRead, key: Uint8Array, last: Uint8Array | null, before: readonly string[]): string | Promise<string> {
  const finish = (made: readonly string[]): string => `[${[...before, ...made].join(',')}]`;
  // Clients go on behind whatever stood last, also where nothing is confirmed.
  if (last !== null && read.mempool.get(last) !== undefined) return finish([]);
  const made = confirmedTxs(read, chainTxs(read, key, last));
  return made instanceof Promise ? made.then(finish) : finish(made);
}

function* chainTxs({ query }: EsploraRead, key: Uint8Array, last: Uint8Array | null): Generator<HistoryTx, void, void> {
  const history = query.history();
  const seen = last === null ? null : history.tx(last);
  // It was there when the client saw it, and is no longer: what follows it is not the rest.
  if (last !== null && seen === null) throw notFound('Transaction not found');
  const after = seen === null ? {} : { after: { height: seen.height, txIndex: seen.txIndex } };
  for (const { height, txIndex } of history.ofKey('address', key, { order: 'desc', limit: PAGE_TXS, ...after })) {
    const tx = history.txAt(height, txIndex);
    if (tx === null)
      throw new UnspentError('STORE_DAMAGED', `transaction ${txIndex} of block ${height} is named and is not there`, { height });
    yield tx;
  }
}
