/** Wallets over HTTP, under `/api/v1/wallets`: what `unspent wallet` does, with a token of their own. */
import type { FastifyInstance } from 'fastify';
import type { ServerState } from '../../http/server-state.ts';
import type { Typebox } from '../../http/typed.ts';
import { API } from '../../native/openapi.ts';
import type { WireShape } from '../../shapes.ts';
import { registerWalletLists } from './lists.ts';
import { registerWalletPayments } from './payments.ts';
import { registerWalletReads } from './reads.ts';
import { WalletAccess } from './wallet-access.ts';

export const wallets: WireShape = { name: 'wallets', routes: registerWallets };

function registerWallets(app: FastifyInstance, state: ServerState): void {
  const access = new WalletAccess(state.context);
  app.addHook('onClose', () => access.close());
  app.register(
    async (api) => {
      // The token of the server is not asked for here: that of the wallets is, and one request has one.
      api.addHook('onRoute', (route) => {
        route.config = { ...route.config, withoutToken: true };
      });
      api.addHook('onRequest', async (request, reply) => access.check(request, reply));
      const typed = api.withTypeProvider<Typebox>();
      registerWalletReads(typed, access);
      registerWalletLists(typed, access);
      registerWalletPayments(typed, access);
    },
    { prefix: `${API}/wallets` },
  );
}
