/** The wallet store in memory tells the stories of wallets. */
import { MemoryWalletStore } from '../../src/wallet/memory/index.ts';
import { runWalletScenarios } from './scenarios.ts';
import type { OpenedWalletStore } from './support/world.ts';

async function openMemory(): Promise<OpenedWalletStore> {
  const store = new MemoryWalletStore();
  return { store, rows: () => store.rows(), close: () => store.close() };
}

runWalletScenarios('in memory', openMemory);
