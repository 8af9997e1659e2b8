/**
 * The HTTP API that clients of the MPFS protocol speak, under `/mpfs`, and that
 * of its first version under `/mpfs/v0`. Only stores that keep cages have it.
 * Failures are problem documents, as everywhere on this server;
 * docs/reference/mpfs.md says what is answered.
 */
import type { FastifyInstance } from 'fastify';
import { CAGE } from '../../../projections/cardano/cage/rows.ts';
import type { ServerState } from '../../http/server-state.ts';
import type { Typebox } from '../../http/typed.ts';
import type { WireShape } from '../../shapes.ts';
import { MpfsAnswers } from './answer.ts';
import { registerFactRoutes } from './facts.ts';
import { registerNodeRoutes } from './node-routes.ts';
import { registerOutputs } from './outputs.ts';
import { registerSubmit } from './submit.ts';
import { registerTokens } from './tokens.ts';
import { registerV0 } from './v0.ts';

const BASE = '/mpfs';

export const mpfs: WireShape = { name: 'mpfs', routes: registerMpfs };

function registerMpfs(app: FastifyInstance, state: ServerState): void {
  if (!state.context.projections.includes(CAGE)) return;
  const answers = new MpfsAnswers(state);
  app.register(
    async (api) => {
      const typed = api.withTypeProvider<Typebox>();
      registerTokens(typed, answers);
      registerOutputs(typed, answers);
      registerFactRoutes(typed, answers);
      registerNodeRoutes(typed, answers);
      registerSubmit(typed, answers);
    },
    { prefix: BASE },
  );
  app.register(async (api) => registerV0(api.withTypeProvider<Typebox>(), answers), { prefix: `${BASE}/v0` });
}
