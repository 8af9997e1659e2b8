/**
 * Blocks of the chain: the newest, and any by hash, height or slot. In CBOR a
 * block is what it did: the outputs it created and those it spent.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Point } from '../../ledgers/ledger.ts';
import { pointAt } from '../../query/place.ts';
import { encodeDelta } from '../../query/record-delta.ts';
import { UnspentError } from '../../util/errors.ts';
import type { Look } from '../answer.ts';
import { parseBlock } from '../keys.ts';
import { described } from '../openapi.ts';
import type { Encoded } from '../rows.ts';
import { NowRowQuery, PATH, ref } from '../schemas.ts';
import type { Serving } from '../serving.ts';
import type { App } from '../typed.ts';

const DESCRIPTION = 'In CBOR a block is a record of the outputs it created and spent, as long as the store knows them.';

export function registerBlocks(app: App, { answers, context }: Serving): void {
  const { dialect } = context.network;
  const give = (request: FastifyRequest, reply: FastifyReply, find: (look: Look) => Point | null): void => {
    answers.giveRows(request, reply, (look) => {
      const point = find(look);
      if (point === null) throw new UnspentError('NOT_FOUND', 'there is no block before the first one');
      return encodeBlock(look, point.hash);
    });
  };

  const latest = described('Blocks', 'The newest block', { rows: ref('Block'), description: DESCRIPTION });
  app.get('/blocks/latest', { schema: { ...latest, querystring: NowRowQuery } }, (request, reply) => {
    give(request, reply, ({ query }) => query.head);
  });

  const schema = {
    ...described('Blocks', 'A block by hash, height or slot', { rows: ref('Block'), description: DESCRIPTION }),
    params: Type.Object({ block: PATH.block }),
    querystring: NowRowQuery,
  };
  app.get('/blocks/:block', { schema }, (request, reply) => {
    const place = parseBlock(request.params.block, dialect);
    give(request, reply, ({ query }) => pointAt(query, place, dialect));
  });
}

function encodeBlock({ query, renderer, recorder, dialect, form }: Look, hash: Uint8Array): Encoded {
  const row = query.blockByHash(hash);
  if (row === null) throw new UnspentError('STORE_DAMAGED', `block ${dialect.formatId(hash)} is named and has no row`);
  return form === 'json' ? JSON.stringify(renderer.block(row)) : encodeDelta(recorder.delta(row, query.changes(row), true));
}
