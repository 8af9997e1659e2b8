/**
 * The HTTP API of Kupo, which Lucid, Blaze, cardano-client-lib and others speak:
 * under `/kupo` and `/kupo/v1`, and at the root of the port `kupo.port`. Failures
 * are problem documents with the `hint` that clients of Kupo read. Not in the
 * OpenAPI document, because it is not ours: docs/reference/kupo.md says what is
 * answered.
 */
import type { FastifyInstance } from 'fastify';
import { isUnspentError } from '../../../util/errors.ts';
import { hideRoutes } from '../../http/hide-routes.ts';
import { problemOf, sendProblem } from '../../http/problem.ts';
import { rootListener } from '../../http/root-port.ts';
import type { ServerState } from '../../http/server-state.ts';
import type { WireShape } from '../../shapes.ts';
import { KupoAnswers } from './answer.ts';
import { registerHealth } from './health.ts';
import { registerLookups } from './lookups.ts';
import { registerMatches } from './matches.ts';

const BASE = '/kupo';

export const kupo: WireShape = {
  name: 'kupo',
  routes: registerKupo,
  listener: rootListener({ prefix: BASE, setting: 'kupo.port', port: ({ kupo: { port } }) => port }),
};

function registerKupo(app: FastifyInstance, state: ServerState): void {
  const answers = new KupoAnswers(state);
  for (const prefix of [BASE, `${BASE}/v1`]) {
    app.register(
      async (api) => {
        hideRoutes(api);
        answerWithHints(api);
        registerMatches(api, answers);
        registerLookups(api, answers);
        registerHealth(api, answers);
      },
      { prefix },
    );
  }
}

/** What a caller can do something about; a failure of the server is thrown on, and answered like any other. */
function answerWithHints(api: FastifyInstance): void {
  api.setErrorHandler((error, _request, reply) => {
    if (!isUnspentError(error) || error.status === 500) throw error;
    const problem = problemOf(error);
    return sendProblem(reply, { ...problem, hint: `${problem.detail}. ${problem.advice}` });
  });
}
