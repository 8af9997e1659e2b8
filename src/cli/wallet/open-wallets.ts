/**
 * What every `wallet` command starts with: the database of the wallets, opened as
 * the family of the network does it. Most commands need no store, so they work
 * while another process follows the chain.
 */
import { existsSync } from 'node:fs';
import { readIdentity } from '../../engine/directory.ts';
import type { Network, NetworkParameters } from '../../families/family.ts';
import { openNetwork } from '../../families/networks.ts';
import { UnspentError } from '../../util/errors.ts';
import { walletDatabaseFile, walletDatabaseUrl } from '../../wallet/database-url.ts';
import { type FamilyWallets, needFeature, type WalletFeature } from '../../wallet/family-wallets.ts';
import type { WalletInfo } from '../../wallet/records.ts';
import { withShownIds } from '../../wallet/shown-ids.ts';
import type { Context } from '../context.ts';

export interface OpenWalletsOptions {
  /** Whether a database that is not there is made. Default false. */
  readonly create?: boolean | undefined;
  /** What the wallets must be able to do. */
  readonly needs?: WalletFeature | undefined;
}

/** Throws WALLETS_MISSING, UNSUPPORTED where wallets of the network cannot do what is needed. */
export async function withWallets(
  context: Context,
  body: (wallets: FamilyWallets) => Promise<void>,
  { create = false, needs }: OpenWalletsOptions = {},
): Promise<void> {
  const { config } = context.settings;
  const url = walletDatabaseUrl(config.wallet.database, config.data);
  const { family, parameters } = walletNetwork(context);
  if (needs !== undefined) needFeature(family.wallets, needs);
  const file = walletDatabaseFile(url);
  if (file !== null && !create && !existsSync(file)) {
    throw new UnspentError('WALLETS_MISSING', `there is no wallet database ${file}`, { file });
  }
  const wallets = await family.wallets.open(url, parameters, config.wallet);
  try {
    await body(wallets);
  } catch (error) {
    throw withShownIds(error, wallets.notation);
  } finally {
    await wallets.store.close();
  }
}

/** The same with the wallet of that name. Throws WALLET_UNKNOWN. */
export function withWallet(
  context: Context,
  name: string,
  body: (wallets: FamilyWallets, wallet: WalletInfo) => Promise<void>,
  options: OpenWalletsOptions = {},
): Promise<void> {
  return withWallets(context, async (wallets) => body(wallets, await wallets.store.getWallet(name)), options);
}

/** The one that is set, else that of the store, with the parameters that it remembers. Throws USAGE where neither says. */
function walletNetwork({ settings }: Context): Network {
  const { network, data } = settings.config;
  if (network !== '') return openNetwork(network, null);
  const identity = readIdentity(data);
  if (identity !== null) return openNetwork(identity.network, null, identity['parameters'] as NetworkParameters | undefined);
  throw new UnspentError('USAGE', `there is no store in ${data} that says which network it is; pass --network NAME or --data DIR`);
}
