/** The wallet store on SQLite tells the stories of wallets, and lives random lives beside the model. */
import { after } from 'node:test';
import { openWalletStore } from '../../src/wallet/open.ts';
import { runRandomWallets } from './random.ts';
import { runWalletScenarios } from './scenarios.ts';
import { emptyDatabase } from './sql/execute.ts';
import { liveInThread } from './sql/random-thread.ts';
import { SqliteFiles } from './sql/sqlite-store.ts';

const files = new SqliteFiles();
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

runRandomWallets('SQLite', async (lives) => liveInThread(await files.freshUrl(), lives), { events: 20_000, compareEvery: 20 });
