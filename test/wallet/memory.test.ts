/** The wallet store in memory tells the stories of wallets, and keeps their invariants. */
import { MemoryWalletStore } from '../../src/wallet/memory/index.ts';
import { runRandomWallets } from './random.ts';
import { runWalletScenarios } from './scenarios.ts';
import { runRandomLives } from './support/random-run.ts';
import type { OpenedWalletStore } from './support/world.ts';

async function openMemory(): Promise<OpenedWalletStore> {
  const store = new MemoryWalletStore();
  return { store, rows: () => store.rows(), close: () => store.close() };
}

runWalletScenarios('in memory', openMemory);

/** The two databases live many more of these lives beside it. */
runRandomWallets('in memory', (lives) => runRandomLives({ ...lives, open: null }), { events: 10_000, compareEvery: 1 });
