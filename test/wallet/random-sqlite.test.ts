/** W83 on SQLite: random lives beside the model. `test/campaign/wallet-random.campaign.ts` is its long form. */
import { after } from 'node:test';
import { runRandomWallets } from './random.ts';
import { liveInThread } from './sql/random-thread.ts';
import { WalletFiles } from './sql/wallet-files.ts';

const files = new WalletFiles();
after(() => files[Symbol.dispose]());

runRandomWallets('SQLite', async (lives) => liveInThread(await files.freshUrl(), lives), {
  events: 100_000,
  length: 80,
  compareEvery: 40,
  parts: 4,
});
