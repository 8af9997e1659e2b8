/**
 * Transactions in no block: those that the followed node holds, and could follow
 * the newest block of the store. They change without a block, so the answers are
 * never kept by a cache.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { TXID_BYTES } from '../../../ledgers/outpoint.ts';
import { PendingTransactions } from '../../../query/cardano/pending-transactions.ts';
import { hexOf } from '../../../query/dialect.ts';
import type { PendingTx } from '../../../query/pending/pending-tx.ts';
import type { Query } from '../../../query/query.ts';
import { hexParameter } from '../../http/parameters.ts';
import { type BlockfrostAnswers, notFound, notKept } from './answer.ts';
import { parseHolder } from './holder.ts';
import { OutputWriter } from './output-json.ts';
import { cutPage, readPage } from './page.ts';
import { contentJson, type NamedInput, namedInputs, outputJson, redeemerJson } from './tx-json.ts';

export function registerMempool(app: FastifyInstance, answers: BlockfrostAnswers): void {
  const give = (reply: FastifyReply, produce: (txs: PendingTransactions, query: Query) => object): FastifyReply => {
    const { mempool, reads } = answers.context;
    if (mempool?.overlayAt === undefined) throw notKept('no mempool is kept here');
    const lease = reads.lease();
    try {
      const { query } = lease;
      return answers.send(reply, produce(new PendingTransactions(query, mempool.overlayAt(query)), query));
    } finally {
      lease.release();
    }
  };

  app.get('/mempool', (request, reply) => {
    const page = readPage(request);
    return give(reply, (txs) => cutPage(txs.all(), page).map(hashOf));
  });
  app.get('/mempool/addresses/:address', (request, reply) => {
    const page = readPage(request);
    const { kind, key } = parseHolder((request.params as { readonly address: string }).address, answers.network).pattern;
    return give(reply, (txs) => cutPage(txs.ofOwner(kind, key), page).map(hashOf));
  });
  app.get('/mempool/:hash', (request, reply) => {
    const hash = (request.params as { readonly hash: string }).hash.toLowerCase();
    const txId = hexParameter(hash, 'transaction id', TXID_BYTES);
    return give(reply, (txs, query) => {
      const tx = txs.byId(txId);
      if (tx === null) throw notFound(`no transaction ${hash} is in the mempool`);
      const writer = new OutputWriter(query, answers.dialect, answers.isYaci);
      return {
        tx: contentJson(tx, answers),
        inputs: namedInputs(tx).map((named) => inputJson(named, writer)),
        outputs: tx.outputs.map((utxo) => outputJson(utxo, writer)),
        redeemers: tx.redeemers.map(redeemerJson),
      };
    });
  });
}

/** Of an input that is not known there is only its name. */
function inputJson({ input, collateral, reference }: NamedInput, writer: OutputWriter): object {
  const { txId, index, utxo } = input;
  const address = utxo === null ? {} : { address: writer.stored(utxo).address };
  return { ...address, tx_hash: hexOf(txId), output_index: index, collateral, reference };
}

function hashOf({ id }: PendingTx): object {
  return { tx_hash: hexOf(id) };
}
