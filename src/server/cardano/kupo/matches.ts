/**
 * `/matches`: outputs by pattern, as one array, however many they are: a long one
 * is made while it is sent (`http/list-body.ts`).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { matchesOf } from '../../../query/cardano/matches.ts';
import { UnspentError } from '../../../util/errors.ts';
import { listBody } from '../../http/list-body.ts';
import type { GivenParameters } from '../../http/parameters.ts';
import { type KupoAnswers, wantsStrings } from './answer.ts';
import { MatchWriter } from './match-json.ts';
import { readMatchQuery } from './match-query.ts';

export function registerMatches(app: FastifyInstance, answers: KupoAnswers): void {
  app.get('/matches', (request, reply) => giveMatches(request, reply, answers, '*'));
  app.get('/matches/*', (request, reply) => giveMatches(request, reply, answers, patternOf(request)));
  app.delete('/matches/*', () => {
    throw new UnspentError('UNSUPPORTED', 'matches cannot be deleted: every output of the chain is kept, whatever the pattern');
  });
}

/** What stands behind the route, slashes and all. */
export function patternOf({ params }: FastifyRequest): string {
  return (params as { readonly '*': string })['*'];
}

function giveMatches(request: FastifyRequest, reply: FastifyReply, answers: KupoAnswers, pattern: string): void {
  const asked = readMatchQuery(pattern, request.query as GivenParameters);
  const format = { resolveHashes: asked.resolveHashes, stringQuantities: wantsStrings(request) };
  const { traits } = answers.context.network.ledger;
  if (traits === null) throw new UnspentError('UNSUPPORTED', 'outputs of this chain have no assets');
  answers.give(request, reply, (query) => {
    const { rows, accept } = matchesOf(query, traits, asked.requestAt(query));
    const writer = new MatchWriter(query, answers.dialect, format);
    return listBody(answers.state, request, { rows, accept, encode: (row) => writer.write(row) });
  });
}
