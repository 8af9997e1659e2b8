/** `wallet select`: coins for a payment are chosen and leased, by the rules of the family. */
import type { Command } from 'commander';
import { bitcoin } from '../../families/bitcoin.ts';
import { cardano } from '../../families/cardano.ts';
import type { Family } from '../../families/family.ts';
import { familyOfNetwork } from '../../families/networks.ts';
import { assert } from '../../util/errors.ts';
import type { FamilyWallets } from '../../wallet/family-wallets.ts';
import type { WalletInfo } from '../../wallet/records.ts';
import { payOptions } from '../bitcoin/wallet/pay.ts';
import { selectBitcoin } from '../bitcoin/wallet/select.ts';
import { cardanoSelectOptions, selectCardano } from '../cardano/wallet/select.ts';
import { action, type Context } from '../context.ts';
import { withWallet } from './open-wallets.ts';

type Select = (context: Context, wallets: FamilyWallets, wallet: WalletInfo) => Promise<void>;

const SELECTS: ReadonlyMap<Family, Select> = new Map([
  [bitcoin as Family, selectBitcoin],
  [cardano as Family, selectCardano],
]);

export function registerSelect(wallet: Command): void {
  const command = wallet.command('select').description('choose coins for a payment, and lease them');
  cardanoSelectOptions(payOptions(command))
    .addHelpText(
      'after',
      '\nOn Cardano a payment is ADDRESS=LOVELACE, with +QUANTITY:POLICY.NAME for each asset, and there is no fee rate.',
    )
    .action(action(select));
}

function select(context: Context, name: string): Promise<void> {
  return withWallet(context, name, (wallets, wallet) => {
    const chosen = SELECTS.get(familyOfNetwork(wallets.network.name));
    assert(chosen !== undefined, 'every family chooses coins');
    return chosen(context, wallets, wallet);
  });
}
