/** The wallet store on SQLite: the stories of wallets, and what only a database has to show. */
import { writeFileSync } from 'node:fs';
import { after } from 'node:test';
import { openWalletStore } from '../../src/wallet/open.ts';
import { fileOf } from '../support/sql/sqlite-files.ts';
import { runWalletScenarios } from './scenarios.ts';
import { runCachedCoins } from './sql/cached-coins.ts';
import { runConstraints } from './sql/constraints.ts';
import { runContention } from './sql/contention.ts';
import { runSqliteCrashes } from './sql/crashes.ts';
import { emptyDatabase } from './sql/empty.ts';
import { runFailures, runRealFailures } from './sql/failures.ts';
import { runFeeders } from './sql/feeders.ts';
import { runOpening, runWrongAddresses } from './sql/opening.ts';
import { runPlans } from './sql/plans.ts';
import { WalletFiles } from './sql/wallet-files.ts';

const files = new WalletFiles();
const url = await files.freshUrl();
const store = await openWalletStore(url, { isDurable: false });
after(async () => {
  await store.close();
  files[Symbol.dispose]();
});

runWalletScenarios('SQLite', async () => {
  await emptyDatabase(url);
  return { store, rows: () => store.rows(), close: async () => {} };
});

runOpening(files);
runWrongAddresses();
runConstraints(files);
runFailures(files);
runRealFailures(files, async (url) => writeFileSync(fileOf(url), new Uint8Array(40_960).fill(1)));
runSqliteCrashes(files);
runCachedCoins(files);
runContention(files, 16, { singles: 5, selections: 2, coinsEach: 2 });
runFeeders(files, 60);
runPlans(files);
