/** The wallets beside a store, fed for as long as `start` runs. `wallet sync` feeds them up to the newest block. */
import { existsSync } from 'node:fs';
import { isGiven } from '../../config/schema.ts';
import { feedWallets } from '../../server/wallets/feed-wallets.ts';
import { keepFed } from '../../server/wallets/keep-fed.ts';
import { WALLETS_NOT_FED } from '../../server/wallets/not-fed.ts';
import type { OpenStore } from '../../store/store.ts';
import type { WalletsReport } from '../../store/wallets-report.ts';
import { WALLET_POLL_MS } from '../../util/limits.ts';
import { pause } from '../../util/pause.ts';
import { walletDatabaseFile, walletDatabaseUrl } from '../../wallet/database-url.ts';
import type { Context } from '../context.ts';
import { withWallets } from './open-wallets.ts';

/** Until the signal comes. Waits for the database where there is none yet. What goes wrong is said, ends nothing else, and is tried again. */
export async function followWallets(context: Context, store: OpenStore, signal: AbortSignal): Promise<void> {
  const { config } = context.settings;
  const file = walletDatabaseFile(walletDatabaseUrl(config.wallet.database, store.data));
  if (!isGiven(config, 'wallet.database'))
    while (file !== null && !existsSync(file) && !signal.aborted) await pause(WALLET_POLL_MS, { signal });
  if (signal.aborted) return;
  const told = (state: WalletsReport['state'], { message }: Error): void => {
    const { failures, ...rest } = store.consumers.wallets ?? WALLETS_NOT_FED;
    store.consumers.wallets = { ...rest, state, failures: failures + (state === 'failed' ? 1 : 0), lastError: message };
  };
  const feed = async (): Promise<void> => {
    try {
      await withWallets(context, (wallets) => feedWallets(wallets, store, { signal }), { create: true });
    } catch (error) {
      told('failed', error as Error);
      throw error;
    }
  };
  await keepFed(feed, {
    signal,
    onFailure: (error, again) => {
      const { code, message } = error;
      if (again) return context.log.error('wallet', 'failed', `the wallets are not fed, and that is tried again: ${message}`, { code });
      told('stopped', error);
      context.log.error('wallet', 'stopped', `the wallets are not followed any more: ${message}`, { code });
    },
  });
}
