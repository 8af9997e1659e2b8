/** Opens the database of wallets of the Bitcoin family, with the keys room: what commands, REST and the library begin with. */
import { openWalletStore } from '../../open.ts';
import { loadKeys } from '../load-keys.ts';
import { WalletContext, type WalletContextParts } from './wallet-context.ts';

/** `url`: of the database. Whoever opens it closes its store. Throws as `openWalletStore`, UNSUPPORTED where packages are missing. */
export async function openWalletContext(url: string, parts: Omit<WalletContextParts, 'store' | 'keys'>): Promise<WalletContext> {
  const [keys, store] = [await loadKeys(), await openWalletStore(url)];
  return new WalletContext({ ...parts, keys, store });
}

/** What the settings say of wallets. */
export function walletSettings(settings: {
  readonly gapLimit: number;
  readonly feeMax: number;
  readonly feeRateMax: number;
  readonly eventsMax: number;
}): Pick<WalletContextParts, 'gapLimit' | 'feeBounds' | 'eventsMax' | 'now'> {
  const { gapLimit, feeMax, feeRateMax, eventsMax } = settings;
  return { gapLimit, eventsMax, feeBounds: { feeMax: BigInt(feeMax), feeRateMax: 1000 * feeRateMax }, now: Date.now };
}
