/**
 * `unspent/wallet`: wallets in SQLite or PostgreSQL over an open store (Bitcoin
 * family): watch the scripts of a descriptor, choose coins and lease them, make
 * payments as PSBTs, bump fees, follow what becomes of them through blocks and
 * forks.
 */
import './util/node-version.ts';

export {
  type NewSecretWallet,
  type NewSecretWalletJson,
  openWallets,
  type WalletAddressOptions,
  type WalletBroadcastOptions,
  type WalletBumpOptions,
  type WalletCoinsOptions,
  type WalletHistoryOptions,
  type WalletLeaseOptions,
  type WalletPageOptions,
  Wallets,
  type WalletsOptions,
} from './library/bitcoin/wallets.ts';
export type { NewDescriptorAccount, NewWatchOnlyWallet } from './wallet/bitcoin/operations/create-wallet.ts';
export type { CoinChoiceText, FeeText, PaymentText } from './wallet/bitcoin/operations/payment-text.ts';
export type {
  WalletAccountJson,
  WalletInputJson,
  WalletPaymentJson,
  WalletSelectionJson,
} from './wallet/bitcoin/operations/wallet-json.ts';
export type {
  WalletAddressJson,
  WalletAssetJson,
  WalletBalanceJson,
  WalletBlockJson,
  WalletCoinJson,
  WalletJson,
  WalletLeaseJson,
  WalletTxInputJson,
  WalletTxJson,
  WalletTxOutputJson,
} from './wallet/documents.ts';
export type { ImportedLabelsJson } from './wallet/labels.ts';
export type { TxStatus } from './wallet/records.ts';
export type { SelectionOrder } from './wallet/selection/bitcoin/coin.ts';
