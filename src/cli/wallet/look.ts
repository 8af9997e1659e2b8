/** `wallet list|address|balance|utxos|history`: what a wallet has and what happened to it. */
import type { Command } from 'commander';
import { toHex } from '../../util/bytes.ts';
import { addressJson, balanceJson, coinJson, txJson, walletJson } from '../../wallet/documents.ts';
import { holdingsOf } from '../../wallet/holdings.ts';
import { action, type Context } from '../context.ts';
import { count, counted, table } from '../format.ts';
import type { CommandOptions } from '../options.ts';
import { withWallet, withWallets } from './open-wallets.ts';
import { rowLimit, txId } from './operands.ts';
import { assetText, coinTable, coinText, historyTable, holdingsText } from './wallet-text.ts';

const COINS = 1000;
const HISTORY_ROWS = 50;

interface LookFlags extends CommandOptions {
  readonly account?: string;
  readonly change?: boolean;
  readonly minConfs?: string;
}

export function registerLook(wallet: Command): void {
  const about = (name: string, description: string): Command =>
    wallet.command(name).description(description).argument('<name>', 'of the wallet');
  wallet.command('list').description('all wallets of the database').action(action(list));
  about('address', 'an address to be paid at: a new one each time, or the first that is watched (Cardano)')
    .option('--account <name>', 'of that account (default: the first)')
    .option('--change', 'one for change')
    .action(action(address));
  about('balance', 'what it has, and what of it may be spent now').action(action(balance));
  about('utxos', 'its unspent outputs, with who has leased them, the smallest first')
    .option('--min-confs <n>', 'at least so many confirmations')
    .option('--limit <n>', `rows at most (default: ${COINS})`)
    .action(action(utxos));
  about('history', 'its transactions, newest first, with what replaced them')
    .option('--limit <n>', `rows at most (default: ${HISTORY_ROWS})`)
    .option('--after <txid>', 'go on behind this one')
    .action(action(history));
}

function list(context: Context): Promise<void> {
  const { output } = context;
  return withWallets(context, async (wallets) => {
    const { store, notation } = wallets;
    const list = await store.listWallets();
    if (output.json) return output.document({ wallets: list.map((each) => walletJson(notation, each)) });
    const rows: string[][] = [];
    for (const wallet of list) {
      const { name, syncedTo } = wallet;
      const total = holdingsText(wallets, await holdingsOf(wallets, wallet));
      rows.push([name, total, syncedTo === null ? 'no block yet' : count(syncedTo.height)]);
    }
    output.line(rows.length === 0 ? 'no wallets' : table(['NAME', 'TOTAL', 'HEIGHT'], rows, [1, 2]));
  });
}

function address(context: Context, name: string): Promise<void> {
  const { output } = context;
  const { account, change }: LookFlags = context.options;
  return withWallet(context, name, async (wallets, wallet) => {
    const found = await wallets.addressOf(wallet, { account, change });
    if (output.json) output.document(addressJson(wallets.notation, found));
    else output.line(wallets.notation.formatAddress(found.script) ?? toHex(found.script));
  });
}

function balance(context: Context, name: string): Promise<void> {
  const { output } = context;
  return withWallet(context, name, async (wallets, wallet) => {
    const { notation } = wallets;
    const { balance: sums, assets } = await holdingsOf(wallets, wallet);
    if (output.json) return output.document({ wallet: name, ...walletJson(notation, wallet), ...balanceJson(sums, assets) });
    const text = (amount: bigint): string => coinText(amount, notation);
    output.pairs([
      ['total', text(sums.total)],
      ['spendable', text(sums.spendable)],
      ['confirmed', text(sums.confirmed)],
      ['pending', `${text(sums.trustedPending)} of its own, ${text(sums.untrustedPending)} of others`],
      ['immature', text(sums.immature)],
      ['leased', text(sums.locked)],
      ...(assets ?? []).map((asset, i): [string, string] => [i === 0 ? 'assets' : '', assetText(asset)]),
      ['at', wallet.syncedTo === null ? 'no block yet' : `height ${count(wallet.syncedTo.height)}`],
    ]);
  });
}

function utxos(context: Context, name: string): Promise<void> {
  const { output } = context;
  const { minConfs, limit }: LookFlags = context.options;
  return withWallet(context, name, async ({ store, notation, now }, wallet) => {
    const filter = { now: now(), minConfs: minConfs === undefined ? undefined : Number(minConfs) };
    const coins = await store.listCoins(wallet.id, filter, { limit: rowLimit(limit, COINS) });
    if (output.json) return output.document({ wallet: name, coins: coins.map((coin) => coinJson(notation, wallet, coin)) });
    if (coins.length > 0) output.line(coinTable(notation, wallet, coins));
    output.line(counted(coins.length, 'coin'));
  });
}

function history(context: Context, name: string): Promise<void> {
  const { output } = context;
  const { limit, after }: LookFlags = context.options;
  return withWallet(context, name, async ({ store, notation }, wallet) => {
    const page = { limit: rowLimit(limit, HISTORY_ROWS), after: after === undefined ? undefined : txId(notation, after) };
    const details = await store.history(wallet.id, page);
    const rows = await Promise.all(
      details.map(async (detail) => ({ detail, replacedBy: await store.replacementChain(wallet.id, detail.tx.id) })),
    );
    if (output.json) {
      return output.document({ wallet: name, history: rows.map(({ detail, replacedBy }) => txJson(notation, wallet, detail, replacedBy)) });
    }
    output.line(rows.length === 0 ? 'nothing yet' : historyTable(notation, wallet, rows));
  });
}
