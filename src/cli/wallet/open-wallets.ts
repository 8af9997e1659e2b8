/**
 * What every `wallet` command starts with: the database of the wallets, opened as
 * the family of the network does it. Most commands need no store, so they work
 * while another process follows the chain.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { readIdentity } from '../../engine/directory.ts';
import type { Network, NetworkParameters } from '../../families/family.ts';
import { openNetwork } from '../../families/networks.ts';
import { UnspentError } from '../../util/errors.ts';
import { walletDatabaseFile, walletDatabaseUrl } from '../../wallet/database-url.ts';
import { type FamilyWallets, needFeature, type WalletFeature } from '../../wallet/family-wallets.ts';
import { checkFedNetwork } from '../../wallet/fed-network.ts';
import { readServerFacts } from '../../wallet/feed/server-facts.ts';
import { openWalletStore } from '../../wallet/open.ts';
import type { WalletInfo } from '../../wallet/records.ts';
import { withShownIds } from '../../wallet/shown-ids.ts';
import type { Context } from '../context.ts';
import { walletServer } from './wallet-server.ts';

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
  const { name, family, parameters } = await walletNetwork(context, url);
  if (needs !== undefined) needFeature(family.wallets, needs);
  const file = walletDatabaseFile(url);
  if (file !== null && !create && !existsSync(file)) {
    throw new UnspentError('WALLETS_MISSING', `there is no wallet database ${file}`, { file });
  }
  if (file !== null && create) mkdirSync(dirname(file), { recursive: true });
  const wallets = await family.wallets.open(url, parameters, config.wallet);
  try {
    await checkFedNetwork(wallets.store, name);
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

/**
 * The one that is set, else that of the store beside, with the parameters that it remembers, else that of the blocks which
 * the database has, else that of the server on another machine. Throws USAGE where none says.
 */
async function walletNetwork(context: Context, url: string): Promise<Network> {
  const { network, data } = context.settings.config;
  if (network !== '') return openNetwork(network, null);
  const identity = readIdentity(data);
  if (identity !== null) return openNetwork(identity.network, null, identity['parameters'] as NetworkParameters | undefined);
  const fed = await fedNetwork(url);
  if (fed !== undefined) return openNetwork(fed, null);
  const server = await walletServer(context);
  if (server !== null) return openNetwork((await readServerFacts(server, context.stop)).network, null);
  throw new UnspentError('USAGE', `there is no store in ${data} that says which network it is; pass --network NAME or --data DIR`);
}

/** Undefined: the database has no blocks yet, or is not there. */
async function fedNetwork(url: string): Promise<string | undefined> {
  const file = walletDatabaseFile(url);
  if (file !== null && !existsSync(file)) return undefined;
  const store = await openWalletStore(url);
  try {
    return (await store.feeds())[0];
  } finally {
    await store.close();
  }
}
