/** What wallets of the Bitcoin family do and those of Cardano do not, with the reason that whoever asks is given. */
import type { WalletFamily } from '../family-wallets.ts';

export const CARDANO_WALLETS_LACK: WalletFamily<never>['lacks'] = {
  payments:
    'wallets of Cardano make no transactions: there are no PSBTs on Cardano. Choose and lease coins here (wallet select), and make the transaction with a library of Cardano',
  bumps:
    'fees of Cardano cannot be bumped: a node keeps the first of two transactions that spend the same, and a higher fee buys no place in a block',
  broadcasts: 'wallets of Cardano hand over no transactions: submit it to a node, and the wallet hears of it from its block',
  keys: 'wallets of Cardano have no keys: they watch addresses and stake credentials, and signing is done elsewhere',
  follows:
    'wallets of Cardano are fed beside their store only, because its indexes of addresses and stake credentials say what is theirs: `unspent start` there, with the same wallet.database, feeds them',
};
