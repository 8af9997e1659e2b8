/** `wallet ...`: wallets in a database of their own, fed by the chain. One file for each group of commands. */
import type { Command } from 'commander';
import { registerPay } from '../bitcoin/wallet/pay.ts';
import { registerSecrets } from '../bitcoin/wallet/secrets.ts';
import { registerCreate } from './create.ts';
import { registerFollow } from './follow.ts';
import { registerKeep } from './keep.ts';
import { registerLook } from './look.ts';
import { registerReserve } from './reserve.ts';
import { registerSelect } from './select.ts';

export function registerWallet(program: Command): void {
  const wallet = program
    .command('wallet')
    .description('watch coins, reserve them, pay and bump fees (Bitcoin family)')
    .helpCommand(false)
    .addHelpText(
      'after',
      `
The wallets are in the file wallets.sqlite beside the store, or where wallet.database says. Blocks come to them while
\`unspent start\` runs, or with \`unspent wallet sync\`; from a server on another machine with \`unspent wallet follow\`. Amounts are in satoshi, fee rates in sat/vB.
Wallets of Cardano watch addresses and stake addresses; they make and sign nothing.

Examples:
  $ unspent wallet create shop "wpkh([d34db33f/84'/0'/0']xpub.../<0;1>/*)"
  $ unspent wallet address shop
  $ unspent wallet send shop --pay bc1q...=150000 --fee-rate 2.5 --psbt rent.psbt
  $ unspent wallet broadcast shop rent-signed.psbt --server http://127.0.0.1:8437
  $ unspent wallet history shop
  $ unspent wallet create savings --address stake1u... --data ./mainnet`,
    );
  for (const register of [
    registerCreate,
    registerFollow,
    registerLook,
    registerSelect,
    registerPay,
    registerSecrets,
    registerReserve,
    registerKeep,
  ])
    register(wallet);
}
