/**
 * What one block did: its transactions, the outputs it created and those it
 * spent, as they stood right after it. For as long as the store can undo that
 * block; PRUNED below.
 */
import Type from 'typebox';
import { pointAt } from '../../../query/place.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { EncodedRow } from '../../http/rows.ts';
import { makeRows } from '../../http/slices.ts';
import type { App } from '../../http/typed.ts';
import type { NativeAnswers } from '../answer.ts';
import { encoderOf } from '../encode.ts';
import { parseBlock } from '../keys.ts';
import { described } from '../openapi.ts';
import { NowQuery, PATH, ref } from '../schemas.ts';

const closed = { additionalProperties: false } as const;

const Changes = Type.Object(
  {
    transactions: Type.Array(
      Type.Object(
        {
          tx_hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
          valid: Type.Boolean({ description: 'False: a script failed, and its collateral was taken.' }),
        },
        closed,
      ),
      { description: "In the block's order." },
    ),
    created: Type.Array(ref('Utxo'), { description: 'An output that the block itself spends is in both lists.' }),
    spent: Type.Array(ref('Utxo')),
  },
  closed,
);

export function registerChanges(app: App, answers: NativeAnswers): void {
  const { dialect } = answers.context.network;
  const schema = {
    ...described('Blocks', 'What a block did', {
      json: Changes,
      description: 'Outputs created and spent, as they stood right after the block.',
    }),
    params: Type.Object({ block: PATH.block }),
    querystring: NowQuery,
  };
  app.get('/blocks/:block/changes', { schema }, (request, reply) => {
    const place = parseBlock(request.params.block, dialect);
    answers.give(request, reply, (read) => {
      const point = pointAt(read.query, place, dialect);
      const row = point === null ? null : read.query.blockByHash(point.hash);
      if (row === null) throw new UnspentError('NOT_FOUND', 'there is no block before the first one');
      const { txs, created, spent } = read.query.changes(row);
      const transactions = JSON.stringify(txs.map(({ id, valid }) => ({ tx_hash: dialect.formatId(id), valid })));
      const join = (rows: readonly EncodedRow[]): string =>
        `{"transactions":${transactions},"created":[${rows.slice(0, created.length).join()}],"spent":[${rows.slice(created.length).join()}]}`;
      const rows = makeRows(read.task, [...created, ...spent], encoderOf(read));
      return rows instanceof Promise ? rows.then(join) : join(rows);
    });
  });
}
