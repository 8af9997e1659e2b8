/**
 * The HTTP API of Blockfrost, which Lucid, Blaze, Mesh, blockfrost-js and
 * cardano-client-lib speak: under `/blockfrost` and `/blockfrost/api/v0`, and at
 * the root of the port `blockfrost.port`. `/blockfrost/api/v1` is the same as
 * clients of Yaci expect it. Failures have the body that clients of Blockfrost
 * read. What Blockfrost has and we have not is UNSUPPORTED, never 404, which
 * clients take for "there is none". Not in the OpenAPI document, because it is
 * not ours: docs/reference/blockfrost.md says what is answered.
 */
import type { FastifyInstance } from 'fastify';
import { VERSION } from '../../../util/version.ts';
import { MEDIA_TYPES } from '../../http/conditional.ts';
import { hideRoutes } from '../../http/hide-routes.ts';
import { answerErrorsIn, type ProblemForm, REFERENCE_PATH, routeText } from '../../http/problem.ts';
import { rootListener } from '../../http/root-port.ts';
import type { ServerState } from '../../http/server-state.ts';
import { unhealthyBecause } from '../../metrics/health.ts';
import type { WireShape } from '../../shapes.ts';
import { evaluationOf } from '../evaluation/tx-evaluation.ts';
import { registerAccounts } from './accounts.ts';
import { registerAddresses } from './addresses.ts';
import { BlockfrostAnswers, notKept } from './answer.ts';
import { registerAssets } from './assets.ts';
import { registerBlocks } from './blocks.ts';
import { registerEvaluate } from './evaluate.ts';
import { registerMempool } from './mempool.ts';
import { registerNetwork } from './network.ts';
import { registerOutputs } from './outputs.ts';
import { registerParameters } from './parameters.ts';
import { registerScripts } from './scripts.ts';
import { registerSubmit } from './submit.ts';
import { registerTxs } from './txs.ts';

const { STATUS_CODES } = process.getBuiltinModule('node:http');

const BASE = '/blockfrost';

const MOUNTS: readonly { readonly prefix: string; readonly isYaci: boolean }[] = [
  { prefix: BASE, isYaci: false },
  { prefix: `${BASE}/api/v0`, isYaci: false },
  { prefix: `${BASE}/api/v1`, isYaci: true },
];

const ERROR_BODY: ProblemForm = {
  type: MEDIA_TYPES.json,
  document: ({ status, detail, advice, code }) => ({
    status_code: status,
    error: STATUS_CODES[status] ?? 'Error',
    message: `${detail}. ${advice}`,
    code,
  }),
};

export const blockfrost: WireShape = {
  name: 'blockfrost',
  routes: registerBlockfrost,
  listener: rootListener({ prefix: BASE, setting: 'blockfrost.port', port: ({ blockfrost: { port } }) => port }),
};

function registerBlockfrost(app: FastifyInstance, state: ServerState): void {
  const evaluation = evaluationOf(app, state.context);
  for (const { prefix, isYaci } of MOUNTS) {
    const answers = new BlockfrostAnswers(state, isYaci);
    app.register(
      async (api) => {
        hideRoutes(api);
        answerErrorsIn(api, state.trouble, ERROR_BODY);
        api.setNotFoundHandler((request) => {
          throw notKept(`this server does not answer ${routeText(request)} of the Blockfrost API`);
        });
        registerServer(api, answers);
        for (const register of [
          registerAccounts,
          registerAddresses,
          registerAssets,
          registerBlocks,
          registerMempool,
          registerNetwork,
          registerOutputs,
          registerParameters,
          registerScripts,
          registerSubmit,
          registerTxs,
        ])
          register(api, answers);
        registerEvaluate(api, answers, evaluation);
      },
      { prefix },
    );
  }
}

/** What the server says of itself. */
function registerServer(api: FastifyInstance, answers: BlockfrostAnswers): void {
  api.get('/', (_request, reply) => answers.send(reply, { url: REFERENCE_PATH, version: `unspent ${VERSION}` }));
  api.get('/health', (_request, reply) => {
    const { state, context } = answers;
    return answers.send(reply, { is_healthy: unhealthyBecause(state.damage, context.live.status) === null });
  });
  api.get('/health/clock', (_request, reply) => answers.send(reply, { server_time: Date.now() }));
}
