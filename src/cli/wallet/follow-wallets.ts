/** The wallets beside a store, fed for as long as `start` runs. `wallet sync` feeds them up to the newest block. */
import { existsSync } from 'node:fs';
import { isGiven } from '../../config/schema.ts';
import { feedWallets } from '../../server/wallets/feed-wallets.ts';
import type { OpenStore } from '../../store/store.ts';
import { isUnspentError } from '../../util/errors.ts';
import { WALLET_POLL_MS } from '../../util/limits.ts';
import { pause } from '../../util/pause.ts';
import { walletDatabaseFile, walletDatabaseUrl } from '../../wallet/database-url.ts';
import type { Context } from '../context.ts';
import { withWallets } from './open-wallets.ts';

/** Until the signal comes. Waits for the database where there is none yet. What goes wrong is said, and ends nothing else. */
export async function followWallets(context: Context, store: OpenStore, signal: AbortSignal): Promise<void> {
  const { config } = context.settings;
  const file = walletDatabaseFile(walletDatabaseUrl(config.wallet.database, store.data));
  if (!isGiven(config, 'wallet.database'))
    while (file !== null && !existsSync(file) && !signal.aborted) await pause(WALLET_POLL_MS, { signal });
  if (signal.aborted) return;
  try {
    await withWallets(context, (wallets) => feedWallets(wallets, store, { signal }), { create: true });
  } catch (error) {
    if (!isUnspentError(error)) throw error;
    context.log.error('wallet', 'stopped', `the wallets are not followed any more: ${error.message}`, { code: error.code });
  }
}
