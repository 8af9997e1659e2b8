/** Wallets over HTTP, under `/api/v1/wallets`: what `unspent wallet` does, with a token of their own. */
import type { FastifyInstance } from 'fastify';
import { bitcoin } from '../../families/bitcoin.ts';
import { cardano } from '../../families/cardano.ts';
import type { Family } from '../../families/family.ts';
import { registerWalletPayments } from '../bitcoin/wallets/payments.ts';
import { registerWalletSelections } from '../cardano/wallets/selections.ts';
import type { ServerState } from '../http/server-state.ts';
import type { App, Typebox } from '../http/typed.ts';
import { API } from '../native/openapi.ts';
import type { WireShape } from '../shapes.ts';
import { registerLacking } from './lacking.ts';
import { registerLeases } from './leases.ts';
import { registerWalletLists } from './lists.ts';
import { registerWalletReads } from './reads.ts';
import { WalletAccess } from './wallet-access.ts';

/** What wallets of one family have besides. */
const FAMILY_ROUTES: ReadonlyMap<Family, (app: App, access: WalletAccess) => void> = new Map([
  [bitcoin as Family, registerWalletPayments],
  [cardano as Family, registerWalletSelections],
]);

export const wallets: WireShape = { name: 'wallets', routes: registerWallets };

function registerWallets(app: FastifyInstance, state: ServerState): void {
  const access = new WalletAccess(state.context);
  const { family } = state.context.network;
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
      registerLeases(typed, access);
      FAMILY_ROUTES.get(family)?.(typed, access);
      registerLacking(typed, family.wallets.lacks);
    },
    { prefix: `${API}/wallets` },
  );
}
