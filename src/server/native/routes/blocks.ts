/**
 * Blocks of the chain: the newest, and any by hash, height or slot. In CBOR a
 * block is what it did: the outputs it created and those it spent.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Point } from '../../../ledgers/ledger.ts';
import { pointAt } from '../../../query/place.ts';
import { encodeBlockDelta } from '../../../query/record-delta.ts';
import { compactDelta } from '../../../query/recorder.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { EncodedRow } from '../../http/rows.ts';
import type { App } from '../../http/typed.ts';
import type { NativeAnswers, ReadContext } from '../answer.ts';
import { parseBlock } from '../keys.ts';
import { described } from '../openapi.ts';
import { BlockQuery, PATH, ref } from '../schemas.ts';

const DESCRIPTION =
  'In CBOR a block is a record of the outputs it created and spent: their names, or (`delta=self-contained`) all of them, as long as the store knows that.';

export function registerBlocks(app: App, answers: NativeAnswers): void {
  const { dialect } = answers.context.network;
  const give = (
    request: FastifyRequest,
    reply: FastifyReply,
    delta: BlockQuery['delta'],
    find: (read: ReadContext) => Point | null,
  ): void => {
    answers.giveRows(request, reply, (read) => {
      const point = find(read);
      if (point === null) throw new UnspentError('NOT_FOUND', 'there is no block before the first one');
      return encodeBlock(read, point.hash, delta);
    });
  };

  const latest = described('Blocks', 'The newest block', { rows: ref('Block'), description: DESCRIPTION });
  app.get('/blocks/latest', { schema: { ...latest, querystring: BlockQuery } }, (request, reply) => {
    give(request, reply, request.query.delta, ({ query }) => query.head);
  });

  const schema = {
    ...described('Blocks', 'A block by hash, height or slot', { rows: ref('Block'), description: DESCRIPTION }),
    params: Type.Object({ block: PATH.block }),
    querystring: BlockQuery,
  };
  app.get('/blocks/:block', { schema }, (request, reply) => {
    const place = parseBlock(request.params.block, dialect);
    give(request, reply, request.query.delta, ({ query }) => pointAt(query, place, dialect));
  });
}

function encodeBlock({ query, renderer, recorder, dialect, form }: ReadContext, hash: Uint8Array, delta: BlockQuery['delta']): EncodedRow {
  const row = query.blockByHash(hash);
  if (row === null) throw new UnspentError('STORE_DAMAGED', `block ${dialect.formatId(hash)} is named and has no row`);
  if (form === 'json') {
    if (delta !== undefined) throw new UnspentError('USAGE', 'delta is of the CBOR form (format=cbor)', { field: 'delta' });
    return JSON.stringify(renderer.block(row));
  }
  return encodeBlockDelta(delta === 'self-contained' ? recorder.delta(row, query.changes(row)) : compactDelta(row, query.names(row)));
}
