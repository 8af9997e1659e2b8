/** The wallet store on PostgreSQL: the stories of wallets, and what only a database has to show. */
import { after, describe, it } from 'node:test';
import { openWalletStore } from '../../src/wallet/open.ts';
import { executeIn } from '../support/sql/execute.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';
import { runWalletScenarios } from './scenarios.ts';
import { runCachedCoins } from './sql/cached-coins.ts';
import { runConstraints } from './sql/constraints.ts';
import { runContention } from './sql/contention.ts';
import { runPostgresCrashes } from './sql/crashes.ts';
import { emptyDatabase } from './sql/empty.ts';
import { runFailures, runRealFailures } from './sql/failures.ts';
import { runFeeders } from './sql/feeders.ts';
import { runLostCommits } from './sql/lost-commits.ts';
import { runOpening } from './sql/opening.ts';
import { runPlans } from './sql/plans.ts';
import { makeWalletSchema } from './sql/wallet-files.ts';

if (withoutPostgres) {
  describe('wallets: PostgreSQL', () => it('tells the stories of wallets', { skip: withoutPostgres }, () => {}));
} else {
  const server = await PostgresServer.start(makeWalletSchema);
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

  runOpening(server);
  runConstraints(server);
  runFailures(server);
  runRealFailures(server, async (broken) => {
    await executeIn(broken, `ALTER DATABASE ${new URL(broken).pathname.slice(1)} SET default_transaction_read_only = on`);
    await server.endConnections(broken);
  });
  runPostgresCrashes(server, 16);
  runCachedCoins(server);
  runContention(server, 16, { singles: 5, selections: 2, coinsEach: 2 });
  runFeeders(server, 60);
  runLostCommits(server);
  runPlans(server);
}
