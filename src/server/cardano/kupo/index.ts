/**
 * The HTTP API of Kupo, which Lucid, Blaze, cardano-client-lib and others speak:
 * under `/kupo` and `/kupo/v1`, and at the root of the port `kupo.port`. Failures
 * are problem documents with the `hint` that clients of Kupo read. Not in the
 * OpenAPI document, because it is not ours: docs/reference/kupo.md says what is
 * answered.
 */
import type { FastifyInstance } from 'fastify';
import { hideRoutes } from '../../http/hide-routes.ts';
import { answerErrorsIn, PROBLEM_TYPE, type ProblemForm } from '../../http/problem.ts';
import { rootListener } from '../../http/root-port.ts';
import type { ServerState } from '../../http/server-state.ts';
import type { WireShape } from '../../shapes.ts';
import { KupoAnswers } from './answer.ts';
import { registerHealth } from './health.ts';
import { registerLookups } from './lookups.ts';
import { registerMatches } from './matches.ts';
import { registerMetadata } from './metadata.ts';

const BASE = '/kupo';

const WITH_HINT: ProblemForm = {
  type: PROBLEM_TYPE,
  document: (problem) => ({ ...problem, hint: `${problem.detail}. ${problem.advice}` }),
};

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
        answerErrorsIn(api, state.trouble, WITH_HINT);
        registerMatches(api, answers);
        registerLookups(api, answers);
        registerMetadata(api, answers);
        registerHealth(api, answers);
      },
      { prefix },
    );
  }
}
