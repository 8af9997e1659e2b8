/** `wallet select` of the Bitcoin family: coins for a payment, by a fee rate. */
import { selectPayment } from '../../../wallet/bitcoin/operations/payment.ts';
import { selectionJson } from '../../../wallet/bitcoin/operations/wallet-json.ts';
import type { FamilyWallets } from '../../../wallet/family-wallets.ts';
import type { WalletInfo } from '../../../wallet/records.ts';
import type { Context } from '../../context.ts';
import { bitcoinWallets } from './open-bitcoin-wallets.ts';
import { paymentRequest } from './payment-operands.ts';
import { selectionText } from './selection-text.ts';

export async function selectBitcoin({ options, output }: Context, opened: FamilyWallets, wallet: WalletInfo): Promise<void> {
  const wallets = bitcoinWallets(opened);
  const chosen = await selectPayment(wallets, wallet, paymentRequest(wallets.network, options));
  if (output.json) output.document(selectionJson(wallets, chosen));
  else output.line(selectionText(chosen, wallets.notation));
}
