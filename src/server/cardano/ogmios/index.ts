/**
 * The API of Ogmios, as far as a store and the node behind it can answer:
 * JSON-RPC 2.0 by `POST` and over WebSocket, under `/ogmios` and at the root of
 * the port `ogmios.port`, and `/health`. Not in the OpenAPI document, because it
 * is not ours: docs/reference/ogmios.md says what is answered.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EVALUATION_BODY_BYTES_MAX } from '../../../util/limits.ts';
import { hideRoutes } from '../../http/hide-routes.ts';
import { rootListener } from '../../http/root-port.ts';
import type { ServerState } from '../../http/server-state.ts';
import type { WireShape } from '../../shapes.ts';
import { evaluationOf } from '../evaluation/tx-evaluation.ts';
import { healthOf } from './health.ts';
import { jsonText } from './json-text.ts';
import { OgmiosMethods } from './methods.ts';
import { answerTo } from './rpc.ts';
import { serveWebSockets } from './web-sockets.ts';

const BASE = '/ogmios';
const JSON_TYPE = 'application/json;charset=utf-8';

export const ogmios: WireShape = {
  name: 'ogmios',
  routes: registerOgmios,
  listener: rootListener({ prefix: BASE, setting: 'ogmios.port', port: ({ ogmios: { port } }) => port }),
};

function registerOgmios(app: FastifyInstance, state: ServerState): void {
  const { methods } = new OgmiosMethods(state.context, evaluationOf(app, state.context));
  app.register(
    async (api) => {
      hideRoutes(api);
      // What is no JSON has an answer of its own in JSON-RPC.
      api.removeAllContentTypeParsers();
      api.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
      const answer = async ({ body, task }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
        const { isError, text } = await answerTo(String(body ?? ''), methods, state, task);
        return reply
          .code(isError ? 400 : 200)
          .header('cache-control', 'no-store')
          .header('content-type', JSON_TYPE)
          .send(text);
      };
      // With and without a slash at its end.
      api.post('/', { bodyLimit: EVALUATION_BODY_BYTES_MAX }, answer);
      api.get('/health', { config: { always: true } }, (_request, reply) => {
        reply
          .header('cache-control', 'no-store')
          .header('content-type', JSON_TYPE)
          .send(jsonText(healthOf(state.context)));
      });
    },
    { prefix: BASE },
  );
  serveWebSockets(app, BASE, EVALUATION_BODY_BYTES_MAX, state);
}
