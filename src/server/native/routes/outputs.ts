/**
 * Outputs by their own name: one, a batch of them, all of a transaction. Spent
 * ones too, as long as the store remembers them, with who spent them.
 */
import Type from 'typebox';
import type { Utxo } from '../../../query/utxo.ts';
import { UnspentError } from '../../../util/errors.ts';
import { HTTP_BODY_BYTES_MAX, HTTP_OUTPOINT_BYTES_MAX } from '../../../util/limits.ts';
import { type EncodedRow, joinRows } from '../../http/rows.ts';
import { makeRows } from '../../http/slices.ts';
import { TurnLookups } from '../../http/turn-lookups.ts';
import type { App } from '../../http/typed.ts';
import type { NativeAnswers } from '../answer.ts';
import { encoderOf, NOTHING } from '../encode.ts';
import { outpointOf } from '../keys.ts';
import { described, ONLY_READS } from '../openapi.ts';
import { outpointsBody, PATH, RowQuery, ref } from '../schemas.ts';

export function registerOutputs(app: App, answers: NativeAnswers): void {
  const { context } = answers;
  const { dialect } = context.network;
  // Of a published copy, a read is run again when its rows have come: it must be over when it returns.
  const lookups = context.copy === undefined ? new TurnLookups() : null;
  const oneSchema = {
    ...described('Outputs', 'An output, unspent or spent', { rows: ref('Utxo') }),
    params: Type.Object({ tx: PATH.tx, index: PATH.index }),
    querystring: RowQuery,
  };
  app.get('/utxos/:tx/:index', { schema: oneSchema }, (request, reply) => {
    const { tx, index } = request.params;
    const txId = dialect.parseId(tx);
    answers.giveRows(request, reply, (read) => {
      const give = (found: Utxo | null): EncodedRow => {
        if (found === null) throw notFound(`no output ${tx}#${index} (it never was, or was spent and forgotten)`);
        return encoderOf(read)(found);
      };
      const isPlain = lookups !== null && read.view === read.query;
      return isPlain ? lookups.outpoint(read.query, read.task, txId, index, give) : give(read.view.outpoint(txId, index));
    });
  });

  const batchSchema = {
    ...described('Outputs', 'Many outputs at once', {
      rows: Type.Array(Type.Union([ref('Utxo'), Type.Null()])),
      description: 'In the order asked for; null stands for one that is not known.',
    }),
    ...ONLY_READS,
    body: outpointsBody(context.config.server.rowsMax),
    querystring: RowQuery,
  };
  const bodyLimit = Math.max(HTTP_BODY_BYTES_MAX, HTTP_OUTPOINT_BYTES_MAX * context.config.server.rowsMax);
  app.post('/utxos', { schema: batchSchema, bodyLimit }, (request, reply) => {
    const outpoints = request.body.map((text) => outpointOf(text, dialect));
    answers.giveRows(request, reply, (read) => {
      const encode = encoderOf(read);
      const made = makeRows(read.task, outpoints, ({ txId, index }) => {
        const found = read.view.outpoint(txId, index);
        return found === null ? NOTHING[read.form] : encode(found);
      });
      return made instanceof Promise ? made.then((rows) => joinRows(rows, read.form)) : joinRows(made, read.form);
    });
  });

  const txSchema = {
    ...described('Outputs', 'The outputs of a transaction', {
      rows: Type.Array(ref('Utxo')),
      description: 'Those the store still knows, spent ones with who spent them.',
    }),
    params: Type.Object({ tx: PATH.tx }),
    querystring: RowQuery,
  };
  app.get('/txs/:tx/utxos', { schema: txSchema }, (request, reply) => {
    const { tx } = request.params;
    const txId = dialect.parseId(tx);
    answers.giveRows(request, reply, (read) => {
      const { row, outputs } = read.view.tx(txId);
      // Genesis outputs have an id, but no transaction made them.
      if (row === null && outputs.length === 0) throw notFound(`no transaction ${tx}`);
      const made = makeRows(read.task, outputs, encoderOf(read));
      return made instanceof Promise ? made.then((rows) => joinRows(rows, read.form)) : joinRows(made, read.form);
    });
  });
}

function notFound(what: string): UnspentError {
  return new UnspentError('NOT_FOUND', what);
}
