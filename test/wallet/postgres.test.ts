/** The wallet store on PostgreSQL tells the stories of wallets, and lives random lives beside the model. */
import { after, describe, it } from 'node:test';
import { openWalletStore } from '../../src/wallet/open.ts';
import { runRandomWallets } from './random.ts';
import { runWalletScenarios } from './scenarios.ts';
import { emptyDatabase } from './sql/execute.ts';
import { PostgresServer, withoutPostgres } from './sql/postgres-server.ts';
import { liveInThread } from './sql/random-thread.ts';

if (withoutPostgres) {
  describe('wallets: PostgreSQL', () => it('tells the stories of wallets', { skip: withoutPostgres }, () => {}));
} else {
  const server = await PostgresServer.start();
  const url = await server.freshUrl();
  const store = await openWalletStore(url);
  after(async () => {
    await store.close();
    await server.stop();
  });

  runWalletScenarios('PostgreSQL', async () => {
    await emptyDatabase(url);
    return { store, rows: () => store.rows(), close: async () => {} };
  });

  runRandomWallets('PostgreSQL', async (lives) => liveInThread(await server.freshUrl(), lives), { events: 4000, compareEvery: 20 });
}
