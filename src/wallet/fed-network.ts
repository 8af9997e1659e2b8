/**
 * A wallet database has the blocks of one chain, by their heights: wallets of
 * another network in it would be told of blocks that are not theirs.
 */
import { UnspentError } from '../util/errors.ts';
import type { WalletStore } from './store.ts';

/** Throws NETWORK_WRONG. */
export async function checkFedNetwork(store: Pick<WalletStore, 'feeds'>, network: string): Promise<void> {
  const feeds = await store.feeds();
  if (feeds.length === 0 || feeds.includes(network)) return;
  const message = `the wallet database is fed with ${feeds.join(' and ')}, and this is ${network}: keep its wallets in another database (wallet.database)`;
  throw new UnspentError('NETWORK_WRONG', message, { network });
}
