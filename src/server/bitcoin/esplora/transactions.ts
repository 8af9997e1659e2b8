/**
 * Routes about one transaction: what it is, where it is, the proof that it is
 * there, and who spent its outputs. Unconfirmed ones are answered for as well.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { decodeTx, describeTx, formatId, readExtra } from '../../../ledgers/bitcoin/index.ts';
import { MerkleTree } from '../../../ledgers/bitcoin/merkle.ts';
import type { ChainRow } from '../../../projections/chain.ts';
import type { Query } from '../../../query/query.ts';
import { equalBytes, toHex } from '../../../util/bytes.ts';
import { assert } from '../../../util/errors.ts';
import type { EsploraAnswers, EsploraRead } from './answer.ts';
import { merkleBlock } from './merkle.ts';
import { hashOf, notFound, outputIndexOf } from './parse.ts';
import { outspendJson, SpenderIds } from './spends.ts';
import { blockAt, confirmedTxs, mempoolTx, txStatus } from './txs.ts';

const JSON_OF_BOTH = { type: 'json', mempool: true } as const;
const JSON_OF_CHAIN = { type: 'json', mempool: false } as const;

type Params = Readonly<Record<string, string>>;

export function registerTransactions(app: FastifyInstance, answers: EsploraAnswers): void {
  registerProofs(app, answers);
  registerSpends(app, answers);

  app.get('/tx/:txid', (request, reply) => {
    const id = idIn(request);
    answers.give(request, reply, JSON_OF_BOTH, (read) => {
      const unconfirmed = read.mempool.get(id);
      if (unconfirmed !== undefined) return mempoolTx(read, unconfirmed);
      const tx = read.query.history().tx(id);
      if (tx === null) throw notFound('Transaction not found');
      const made = confirmedTxs(read, [tx]);
      return made instanceof Promise ? made.then(([text]) => text) : made[0];
    });
  });
  app.get('/tx/:txid/status', (request, reply) => {
    const id = idIn(request);
    // What nobody knows is not confirmed: servers of this API do not tell the two apart.
    answers.give(request, reply, JSON_OF_CHAIN, ({ query }) => JSON.stringify(txStatus(query, id)));
  });
  app.get('/tx/:txid/hex', (request, reply) => {
    const id = idIn(request);
    answers.give(request, reply, { type: 'text', mempool: true }, (read) => toHex(rawTx(read, id)));
  });
  app.get('/tx/:txid/raw', (request, reply) => {
    const id = idIn(request);
    answers.give(request, reply, { type: 'bytes', mempool: true }, (read) => rawTx(read, id));
  });
}

function registerProofs(app: FastifyInstance, answers: EsploraAnswers): void {
  app.get('/tx/:txid/merkle-proof', (request, reply) => {
    const id = idIn(request);
    answers.give(request, reply, JSON_OF_CHAIN, ({ query }) => {
      const { row, position, ids } = placeOf(query, id);
      return JSON.stringify({ block_height: row.height, merkle: new MerkleTree(ids).branch(position).map(formatId), pos: position });
    });
  });
  app.get('/tx/:txid/merkleblock-proof', (request, reply) => {
    const id = idIn(request);
    answers.give(request, reply, { type: 'text', mempool: false }, ({ query }) => {
      const { row, position, ids } = placeOf(query, id);
      return toHex(merkleBlock(readExtra(row.extra).header, ids, position));
    });
  });
}

function registerSpends(app: FastifyInstance, answers: EsploraAnswers): void {
  app.get('/tx/:txid/outspend/:vout', (request, reply) => {
    const id = idIn(request);
    const index = outputIndexOf((request.params as Params)['vout']);
    answers.give(request, reply, JSON_OF_BOTH, ({ query, mempool }) => outspendJson(query, id, index, mempool.spender(id, index)));
  });
  app.get('/tx/:txid/outspends', (request, reply) => {
    const id = idIn(request);
    answers.give(request, reply, JSON_OF_BOTH, (read) => {
      const { outputs } = describeTx(decodeTx(rawTx(read, id), read.network.mweb));
      // The mempool as it is now: a long list is written while it changes.
      const spenders = outputs.map(({ index }) => read.mempool.spender(id, index));
      const ids = new SpenderIds();
      return answers.rows(request, spenders.entries(), ([index, spender]) => outspendJson(read.query, id, index, spender, ids));
    });
  });
}

function idIn(request: FastifyRequest): Uint8Array {
  return hashOf((request.params as Params)['txid']);
}

function rawTx({ query, mempool }: EsploraRead, id: Uint8Array): Uint8Array {
  const raw = mempool.get(id)?.raw ?? query.history().tx(id)?.raw;
  if (raw === undefined) throw notFound('Transaction not found');
  return raw;
}

/** Where a confirmed transaction stands, with all that stand in its block. */
function placeOf(query: Query, id: Uint8Array): { row: ChainRow; position: number; ids: readonly Uint8Array[] } {
  const history = query.history();
  const [place] = query.txRows([id]);
  if (place === null) throw notFound('Transaction not found or is unconfirmed');
  const ids = history.ids(place.height);
  assert(place.txIndex < ids.length && equalBytes(ids[place.txIndex], id), 'a transaction stands where its row says');
  return { row: blockAt(query, place.height), position: place.txIndex, ids };
}
