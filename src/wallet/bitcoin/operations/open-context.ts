/** Opens the database of wallets of the Bitcoin family, with the keys room: what commands, REST and the library begin with. */
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import type { WalletFamily, WalletSettings } from '../../family-wallets.ts';
import { openWalletStore } from '../../open.ts';
import { BitcoinWallets } from '../bitcoin-wallets.ts';
import { loadKeys } from '../load-keys.ts';
import type { WalletContextParts } from './wallet-context.ts';

/** `url`: of the database. Whoever opens it closes its store. Throws as `openWalletStore`, UNSUPPORTED where packages are missing. */
export async function openWalletContext(url: string, parts: Omit<WalletContextParts, 'store' | 'keys'>): Promise<BitcoinWallets> {
  const [keys, store] = [await loadKeys(), await openWalletStore(url)];
  return new BitcoinWallets({ ...parts, keys, store });
}

/** The same with what the settings say. */
export const openBitcoinWallets: WalletFamily<BitcoinNetwork>['open'] = (url, network, settings) =>
  openWalletContext(url, { network, ...walletSettings(settings) });

/** What the settings say of wallets. */
export function walletSettings(settings: WalletSettings): Pick<WalletContextParts, 'gapLimit' | 'feeBounds' | 'eventsMax' | 'now'> {
  const { gapLimit, feeMax, feeRateMax, eventsMax } = settings;
  return { gapLimit, eventsMax, feeBounds: { feeMax: BigInt(feeMax), feeRateMax: 1000 * feeRateMax }, now: Date.now };
}
