/** Wallets of the Bitcoin family, for commands that others do not have. */
import { assert } from '../../../util/errors.ts';
import { BitcoinWallets } from '../../../wallet/bitcoin/bitcoin-wallets.ts';
import type { FamilyWallets, WalletFeature } from '../../../wallet/family-wallets.ts';
import type { WalletInfo } from '../../../wallet/records.ts';
import type { Context } from '../../context.ts';
import { withWallet } from '../../wallet/open-wallets.ts';

/** The wallet of that name. Throws UNSUPPORTED for networks whose wallets cannot do what is needed. */
export function withBitcoinWallet(
  context: Context,
  needs: WalletFeature,
  name: string,
  body: (wallets: BitcoinWallets, wallet: WalletInfo) => Promise<void>,
): Promise<void> {
  return withWallet(context, name, async (wallets, wallet) => body(bitcoinWallets(wallets), wallet), { needs });
}

/** Only wallets of the Bitcoin family can do what the caller has asked for. */
export function bitcoinWallets(wallets: FamilyWallets): BitcoinWallets {
  assert(wallets instanceof BitcoinWallets, 'these are wallets of the Bitcoin family');
  return wallets;
}
