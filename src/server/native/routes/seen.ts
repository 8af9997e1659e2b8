/**
 * Datums and scripts by their hash, with where on the chain each was seen first.
 */
import Type from 'typebox';
import type { Seen } from '../../../query/seen.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { App } from '../../http/typed.ts';
import type { NativeAnswers } from '../answer.ts';
import { hexBytes } from '../keys.ts';
import { described } from '../openapi.ts';
import { NowQuery, PATH, ref } from '../schemas.ts';

export function registerSeen(app: App, answers: NativeAnswers): void {
  const datumSchema = {
    ...described('Datums and scripts', 'A datum by its hash', { json: ref('Datum') }),
    params: Type.Object({ hash: PATH.datum }),
    querystring: NowQuery,
  };
  app.get('/datums/:hash', { schema: datumSchema }, (request, reply) => {
    const hash = hexBytes(request.params.hash);
    answers.give(request, reply, ({ query, renderer }) => {
      const seen = known(query.datum(hash), 'datum', request.params.hash);
      return JSON.stringify(renderer.seen(hash, seen));
    });
  });

  const scriptSchema = {
    ...described('Datums and scripts', 'A script by its hash', { json: ref('Script') }),
    params: Type.Object({ hash: PATH.script }),
    querystring: NowQuery,
  };
  app.get('/scripts/:hash', { schema: scriptSchema }, (request, reply) => {
    const hash = hexBytes(request.params.hash);
    answers.give(request, reply, ({ query, renderer }) => {
      const seen = known(query.script(hash), 'script', request.params.hash);
      return JSON.stringify(renderer.seen(hash, seen));
    });
  });
}

function known(seen: Seen | null, kind: string, hash: string): Seen {
  if (seen === null) throw new UnspentError('NOT_FOUND', `no ${kind} with the hash ${hash} was seen`);
  return seen;
}
