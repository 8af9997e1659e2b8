/**
 * What came last: blocks from the newest down, and the newest transactions with
 * what they made. For pages that show a chain as it grows; what the store has
 * forgotten of older blocks ends the list.
 */
import Type from 'typebox';
import { outpointKey } from '../../../ledgers/outpoint.ts';
import type { ChainRow } from '../../../projections/chain.ts';
import type { Dialect } from '../../../query/dialect.ts';
import type { Query } from '../../../query/query.ts';
import { toHex } from '../../../util/bytes.ts';
import { isUnspentError } from '../../../util/errors.ts';
import { NEWEST_BLOCKS_MAX, NEWEST_BLOCKS_READ_MAX, NEWEST_OUTPUTS_MAX, NEWEST_TXS_MAX } from '../../../util/limits.ts';
import type { App } from '../../http/typed.ts';
import type { NativeAnswers, ReadContext } from '../answer.ts';
import { described } from '../openapi.ts';
import { NowQuery, ref } from '../schemas.ts';

const closed = { additionalProperties: false } as const;
const ROWS_DEFAULT = 20;
const BEFORE = Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Only blocks below this height.' }));

export function registerNewest(app: App, answers: NativeAnswers): void {
  const blocksSchema = {
    ...described('Blocks', 'The newest blocks', {
      json: Type.Array(ref('Block')),
      description: 'From the newest down, or from below a height; as far as the store has them.',
    }),
    querystring: Type.Object(
      {
        ...NowQuery.properties,
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: NEWEST_BLOCKS_MAX, description: `Blocks at most, ${ROWS_DEFAULT} unless said.` }),
        ),
        before: BEFORE,
      },
      closed,
    ),
  };
  app.get('/blocks', { schema: blocksSchema }, (request, reply) => {
    const { limit = ROWS_DEFAULT, before } = request.query;
    answers.give(request, reply, ({ query, renderer }) => {
      const blocks: string[] = [];
      for (const row of downFrom(query, before)) {
        if (blocks.length === limit) break;
        blocks.push(JSON.stringify(renderer.block(row)));
      }
      return `[${blocks.join()}]`;
    });
  });

  const txsSchema = {
    ...described('Transactions', 'The newest transactions', {
      json: Type.Array(ref('NewestTx')),
      description: 'From the newest down, or from below a height; as far as the store can tell what its blocks did.',
    }),
    querystring: Type.Object(
      {
        ...NowQuery.properties,
        before: BEFORE,
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: NEWEST_TXS_MAX, description: `Transactions at most, ${ROWS_DEFAULT} unless said.` }),
        ),
      },
      closed,
    ),
  };
  app.get('/txs', { schema: txsSchema }, (request, reply) => {
    const { limit = ROWS_DEFAULT, before } = request.query;
    answers.give(request, reply, (read) => JSON.stringify(newestTxs(read, limit, before)));
  });
}

/** Every block that the store has, from below a height or from the newest on. */
function* downFrom(query: Query, before: number | undefined): Generator<ChainRow, void, void> {
  const top = query.head?.height ?? -1;
  const first = before === undefined ? top : Math.min(top, before - 1);
  for (let height = first; height >= 0; height--) {
    const row = query.blockAtHeight(height);
    if (row === null) return;
    yield row;
  }
}

/** Goes down a bounded number of blocks: on a quiet chain most are empty. */
function newestTxs(read: ReadContext, limit: number, before: number | undefined): object[] {
  const found: object[] = [];
  let blocks = 0;
  for (const row of downFrom(read.query, before)) {
    if (found.length >= limit || blocks++ === NEWEST_BLOCKS_READ_MAX) break;
    if (row.txCount === 0) continue;
    const txs = txsOf(read, row, limit - found.length);
    if (txs === null) break;
    found.push(...txs);
  }
  return found;
}

/** The last of a block, last first; null: what it did was forgotten. */
function txsOf({ query, dialect, renderer }: ReadContext, row: ChainRow, limit: number): object[] | null {
  const names = namesOf(query, row);
  if (names === null) return null;
  const made = Map.groupBy(names.created, ({ txId }) => toHex(txId));
  const first = Math.max(0, names.txs.length - limit);
  return names.txs
    .slice(first)
    .map(({ id, valid }, i) => {
      const outputs = made.get(toHex(id)) ?? [];
      const { tx_hash, ...place } = renderer.tx(id, { height: row.height, txIndex: first + i, valid });
      return { tx_hash, ...place, output_count: outputs.length, ...amountOf(query, dialect, outputs) };
    })
    .reverse();
}

/** What outputs hold together; nothing where there are too many to look at, or one was forgotten. */
function amountOf(query: Query, { currency }: Dialect, outputs: readonly { readonly txId: Uint8Array; readonly index: number }[]): object {
  if (outputs.length > NEWEST_OUTPUTS_MAX) return {};
  let sum = 0n;
  for (const utxo of query.outpoints(outputs.map(({ txId, index }) => outpointKey(txId, index)))) {
    if (utxo === null) return {};
    sum += utxo.output.value;
  }
  return { [currency.field]: sum.toString() };
}

function namesOf(query: Query, row: ChainRow): ReturnType<Query['names']> | null {
  try {
    return query.names(row);
  } catch (error) {
    if (isUnspentError(error, 'PRUNED') || isUnspentError(error, 'UNSUPPORTED')) return null;
    throw error;
  }
}
