/** Opening a store for a program. */
import type { OpenOptions } from '../store/options.ts';
import { openStore } from '../store/store.ts';
import { Store } from './store.ts';

/** Opens the store in a directory, or makes one there. One process at a time can have it open. */
export async function open(options: OpenOptions = {}): Promise<Store> {
  return new Store(await openStore(options));
}
