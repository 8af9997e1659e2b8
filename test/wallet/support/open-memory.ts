/** A store in memory for tests: the model that the others are compared with. */
import { MemoryWalletStore } from '../../../src/wallet/memory/index.ts';
import type { OpenedWalletStore } from './world.ts';

export async function openMemoryWallets(): Promise<OpenedWalletStore> {
  const store = new MemoryWalletStore();
  return { store, rows: () => store.rows(), close: () => store.close() };
}
