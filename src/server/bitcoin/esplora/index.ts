/**
 * The Esplora HTTP API: what wallets and libraries of the Bitcoin family speak.
 * Its base URL is this server's `/api`; our own API stays at `/api/v1`. Errors
 * that are part of that API are plain text; all others are problem documents,
 * as everywhere on this server. Not in the OpenAPI document, because it is not
 * ours: docs/reference/esplora.md says what is answered.
 */
import type { FastifyError, FastifyInstance } from 'fastify';
import { needBitcoin } from '../../../families/bitcoin.ts';
import type { ErrorCode } from '../../../util/errors.ts';
import { isUnspentError } from '../../../util/errors.ts';
import { hideRoutes } from '../../http/hide-routes.ts';
import type { ServerState } from '../../http/server-state.ts';
import type { WireShape } from '../../shapes.ts';
import { mempoolOf } from '../mempool.ts';
import { EsploraAnswers } from './answer.ts';
import { registerBlocks } from './blocks.ts';
import { registerMempool } from './mempool.ts';
import { registerScripts } from './scripts.ts';
import { registerSubmit } from './submit.ts';
import { registerTransactions } from './transactions.ts';

const BASE = '/api';

/** Failures that clients of this API know how to read. */
const PLAIN: ReadonlySet<ErrorCode> = new Set(['USAGE', 'NOT_FOUND', 'TX_REFUSED']);

export const esplora: WireShape = { name: 'esplora', routes: registerEsplora };

function registerEsplora(app: FastifyInstance, state: ServerState): void {
  const mempool = mempoolOf(state.context);
  // A store without an unspent set has nothing that this API could answer with.
  if (mempool === null) return;
  const { parameters } = needBitcoin(state.context.network, 'Esplora');
  const answers = new EsploraAnswers(state, parameters, mempool);
  app.register(
    async (api) => {
      hideRoutes(api);
      takeAnyBody(api);
      answerPlainly(api);
      registerScripts(api, answers);
      registerTransactions(api, answers);
      registerBlocks(api, answers);
      registerMempool(api, answers);
      registerSubmit(api, answers);
    },
    { prefix: BASE },
  );
}

/** Clients post hex as plain text, as a form, or as nothing in particular. */
function takeAnyBody(api: FastifyInstance): void {
  api.removeAllContentTypeParsers();
  api.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
}

function answerPlainly(api: FastifyInstance): void {
  api.setErrorHandler((error: FastifyError, _request, reply) => {
    const words = error.statusCode === 413 ? 'Request body too large' : null;
    // Thrown on, it is answered like any other.
    if (words === null && !(isUnspentError(error) && PLAIN.has(error.code))) throw error;
    reply.removeHeader('etag');
    const status = isUnspentError(error) ? error.status : 413;
    return reply
      .code(status)
      .header('cache-control', 'no-store')
      .header('content-type', 'text/plain; charset=utf-8')
      .send(words ?? error.message);
  });
}
