/**
 * Transactions, as far as a store without history knows them: that they are in a
 * block, and what of their outputs is there. Outputs that were spent and
 * forgotten are left out; inputs, bytes and metadata are not kept.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OUTPUT_FLAG } from '../../../ledgers/cardano/index.ts';
import { TXID_BYTES } from '../../../ledgers/outpoint.ts';
import { hexOf } from '../../../query/dialect.ts';
import type { Query } from '../../../query/query.ts';
import { hexParameter } from '../../http/parameters.ts';
import { type BlockfrostAnswers, notFound } from './answer.ts';
import { OutputWriter } from './output-json.ts';

type KnownTx = ReturnType<Query['tx']>;

export function registerTxs(app: FastifyInstance, answers: BlockfrostAnswers): void {
  const give = (path: string, write: (tx: KnownTx, hash: string, query: Query) => object | null): void => {
    app.get(path, (request: FastifyRequest, reply: FastifyReply) => {
      const text = (request.params as { readonly hash: string }).hash.toLowerCase();
      const txId = hexParameter(text, 'transaction id', TXID_BYTES);
      answers.give(request, reply, (query) => {
        const tx = query.tx(txId);
        // What genesis grants has an id, but no transaction made it.
        if (tx.row === null && tx.outputs.length === 0) throw notFound(`no transaction ${text} is in a block of ours`);
        return write(tx, text, query);
      });
    });
  };
  give('/txs/:hash/utxos', ({ outputs }, hash, query) => {
    const writer = new OutputWriter(query, answers.dialect, answers.isYaci);
    return {
      hash,
      outputs: outputs.map((utxo) => ({
        ...writer.stored(utxo),
        collateral: (utxo.output.flags & OUTPUT_FLAG.collateralReturn) !== 0,
        consumed_by_tx: utxo.spent?.txId ? hexOf(utxo.spent.txId) : null,
      })),
    };
  });
  // Clients wait with these until a transaction is in a block: it is, and null says that its bytes are not kept.
  give('/txs/:hash/cbor', () => ({ cbor: null }));
  give('/txs/:hash/metadata/cbor', () => null);
}
