/**
 * What one block did: its transactions, the outputs it created and those it
 * spent, as they stood right after it. For as long as the store can undo that
 * block; PRUNED below.
 */
import Type from 'typebox';
import { pointAt } from '../../../query/place.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { Encoded } from '../../http/rows.ts';
import type { Serving } from '../../http/serving.ts';
import { makeRows } from '../../http/slices.ts';
import type { App } from '../../http/typed.ts';
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

export function registerChanges(app: App, { answers, context }: Serving): void {
  const { dialect } = context.network;
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
    answers.give(request, reply, (look) => {
      const point = pointAt(look.query, place, dialect);
      const row = point === null ? null : look.query.blockByHash(point.hash);
      if (row === null) throw new UnspentError('NOT_FOUND', 'there is no block before the first one');
      const { txs, created, spent } = look.query.changes(row);
      const transactions = JSON.stringify(txs.map(({ id, valid }) => ({ tx_hash: dialect.formatId(id), valid })));
      const join = (rows: readonly Encoded[]): string =>
        `{"transactions":${transactions},"created":[${rows.slice(0, created.length).join()}],"spent":[${rows.slice(created.length).join()}]}`;
      const rows = makeRows(look.task, [...created, ...spent], encoderOf(look));
      return rows instanceof Promise ? rows.then(join) : join(rows);
    });
  });
}
