/** The routes of the native API, except its event stream: under `/api/v1`, and health and readiness at the root too. */
import type { FastifyInstance } from 'fastify';
import { isTxsDatabase } from '../../../projections/txs-switch.ts';
import { txsEntry } from '../../../txstore/chain/entry.ts';
import type { ServerContext } from '../../context.ts';
import type { ServerState } from '../../http/server-state.ts';
import type { Typebox } from '../../http/typed.ts';
import { NativeAnswers } from '../answer.ts';
import { API } from '../openapi.ts';
import { registerAssets } from './assets.ts';
import { registerBalances } from './balances.ts';
import { registerBlocks } from './blocks.ts';
import { registerChanges } from './changes.ts';
import { registerColumnChanges } from './column-changes.ts';
import { registerHistory } from './history.ts';
import { registerLists } from './lists.ts';
import { registerMempool } from './mempool.ts';
import { registerNewest } from './newest.ts';
import { registerOutputs } from './outputs.ts';
import { registerProofs } from './proofs.ts';
import { registerRollbacks } from './rollbacks.ts';
import { registerSeen } from './seen.ts';
import { registerHealthRoutes, registerStatusRoutes } from './status.ts';
import { registerTxRecords } from './txs.ts';

function keepsRecords({ projections, config }: ServerContext): boolean {
  return projections.includes(txsEntry.name) || isTxsDatabase(config.txs.store);
}

export function registerNative(app: FastifyInstance, state: ServerState): void {
  const answers = new NativeAnswers(state);
  app.register(
    async (api) => {
      const typed = api.withTypeProvider<Typebox>();
      registerLists(typed, answers);
      registerOutputs(typed, answers);
      registerBalances(typed, answers);
      if (state.context.network.ledger.txBytes !== undefined) registerHistory(typed, answers);
      if (state.context.network.ledger.traits !== null) {
        registerSeen(typed, answers);
        registerAssets(typed, answers);
      }
      registerBlocks(typed, answers);
      registerNewest(typed, answers);
      registerRollbacks(typed, answers);
      registerMempool(typed, answers);
      registerChanges(typed, answers);
      registerColumnChanges(typed, answers);
      registerProofs(typed, answers);
      if (keepsRecords(state.context)) registerTxRecords(typed, answers);
    },
    { prefix: API },
  );
  const root = app.withTypeProvider<Typebox>();
  registerStatusRoutes(root, answers);
  registerHealthRoutes(root, answers);
}
