/**
 * What every `wallet` command starts with: the database of the wallets, the
 * network, the keys room and the clock. Most commands need no store, so they
 * work while another process follows the chain.
 */
import { existsSync } from 'node:fs';
import { readIdentity } from '../../../engine/directory.ts';
import { needBitcoin } from '../../../families/bitcoin.ts';
import { openNetwork } from '../../../families/networks.ts';
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { UnspentError } from '../../../util/errors.ts';
import { openWalletContext, walletSettings } from '../../../wallet/bitcoin/operations/open-context.ts';
import { withShownIds } from '../../../wallet/bitcoin/operations/shown-ids.ts';
import type { WalletContext } from '../../../wallet/bitcoin/operations/wallet-context.ts';
import { walletDatabaseFile, walletDatabaseUrl } from '../../../wallet/database-url.ts';
import type { WalletInfo } from '../../../wallet/records.ts';
import type { Context } from '../../context.ts';

export interface OpenWalletsOptions {
  /** Whether a database that is not there is made. Default false. */
  readonly create?: boolean;
}

/** Throws WALLETS_MISSING, UNSUPPORTED for networks that have no wallets. */
export async function withWallets(
  context: Context,
  body: (wallets: WalletContext) => Promise<void>,
  { create = false }: OpenWalletsOptions = {},
): Promise<void> {
  const { config } = context.settings;
  const url = walletDatabaseUrl(config.wallet.database, config.data);
  const network = walletNetwork(context);
  const file = walletDatabaseFile(url);
  if (file !== null && !create && !existsSync(file)) {
    throw new UnspentError('WALLETS_MISSING', `there is no wallet database ${file}`, { file });
  }
  const wallets = await openWalletContext(url, { network, ...walletSettings(config.wallet) });
  try {
    await body(wallets);
  } catch (error) {
    throw withShownIds(error);
  } finally {
    await wallets.store.close();
  }
}

/** The same with the wallet of that name. Throws WALLET_UNKNOWN. */
export function withWallet(
  context: Context,
  name: string,
  body: (wallets: WalletContext, wallet: WalletInfo) => Promise<void>,
): Promise<void> {
  return withWallets(context, async (wallets) => body(wallets, await wallets.store.getWallet(name)));
}

/** The one that is set, else that of the store. Throws USAGE where neither says. */
function walletNetwork({ settings }: Context): BitcoinNetwork {
  const { network, data } = settings.config;
  const name = network === '' ? readIdentity(data)?.network : network;
  if (name === undefined)
    throw new UnspentError('USAGE', `there is no store in ${data} that says which network it is; pass --network NAME or --data DIR`);
  return needBitcoin(openNetwork(name, null), 'a wallet').parameters;
}
