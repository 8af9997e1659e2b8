/**
 * Where the store is, unspent outputs with their proofs, and waiting for a
 * transaction: what a client of the MPFS API asks around a token.
 */
import Type from 'typebox';
import { toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { App } from '../../http/typed.ts';
import { hexBytes } from '../../native/keys.ts';
import { described } from '../../native/openapi.ts';
import type { MpfsAnswers } from './answer.ts';
import { OUTPUT_PATH, OutputAnswer, RootAnswer, StatusAnswer } from './schemas.ts';

const WAIT_SECONDS = 30;

export function registerOutputs(app: App, answers: MpfsAnswers): void {
  const status = described('Cages', 'Where the store and its source are', { json: StatusAnswer });
  app.get('/status', { schema: status }, (request, reply) => {
    answers.give(request, reply, (read) => {
      const { head } = read.query;
      const { utxo_root } = read.snapshot();
      const tip = answers.context.live.status.sourceTip;
      return {
        tip_slot: tip?.slot ?? head?.slot ?? null,
        // What a source says of its tip has no hash; once we are there it is our own.
        tip_block_id: head !== null && (tip === null || tip.slot <= head.slot) ? toHex(head.hash) : null,
        checkpoint_slot: head?.slot ?? null,
        checkpoint_block_id: head === null ? null : toHex(head.hash),
        utxo_root,
      };
    });
  });

  const root = described('Cages', 'The root of the tree over the unspent set', { json: Type.Union([RootAnswer, Type.Null()]) });
  app.get('/utxo/root', { schema: root }, (request, reply) => {
    answers.give(request, reply, (read) => read.snapshot().utxo_root);
  });

  const output = { ...described('Cages', 'An unspent output in CBOR', { json: RootAnswer }), params: OUTPUT_PATH };
  app.get('/utxo/:tx/:index', { schema: output }, (request, reply) => {
    const { tx, index } = request.params;
    answers.give(request, reply, (read) => read.output({ txId: hexBytes(tx), index }).utxo.tx_out);
  });

  const proof = {
    ...described('Cages', 'Proof that an output is unspent, for its MPFS clients', { json: OutputAnswer }),
    params: OUTPUT_PATH,
  };
  app.get('/utxo/:tx/:index/proof', { schema: proof }, (request, reply) => {
    const { tx, index } = request.params;
    answers.give(request, reply, (read) => ({ snapshot: read.snapshot(), ...read.output({ txId: hexBytes(tx), index }) }));
  });
  registerWait(app, answers);
}

function registerWait(app: App, answers: MpfsAnswers): void {
  const schema = {
    ...described('Cages', 'Wait until a transaction is in a block', {
      json: Type.Object({ tx_id: Type.String(), slot: Type.Integer(), height: Type.Integer() }),
      description: '408 when it is in none within that time.',
    }),
    params: Type.Object({ tx: OUTPUT_PATH.properties.tx }),
    querystring: Type.Object(
      { timeout: Type.Optional(Type.Integer({ minimum: 0, maximum: 3600, description: 'Seconds. Default: 30.' })) },
      { additionalProperties: false },
    ),
  };
  app.get('/tx/:tx', { schema }, async (request, reply) => {
    const txId = hexBytes(request.params.tx);
    const found = await answers.wait(reply, request.query.timeout ?? WAIT_SECONDS, ({ query }) => {
      const output = query.outpoint(txId, 0)?.output;
      return output === undefined ? null : { tx_id: toHex(txId), slot: output.slot, height: output.height };
    });
    if (found === null) throw new UnspentError('TX_NOT_SEEN', `the transaction ${toHex(txId)} is in no block yet`, { hash: toHex(txId) });
    return reply.header('cache-control', 'no-store').header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(found));
  });
}
