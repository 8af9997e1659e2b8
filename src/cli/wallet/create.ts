/**
 * `wallet create|import|sync`: wallets are made, given more accounts, and told
 * of the chain.
 */
import type { Command } from 'commander';
import { familyOfNetwork } from '../../families/networks.ts';
import { checkSameNetwork, feedWallets } from '../../server/wallets/feed-wallets.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { WALLET_LABELS_BYTES_MAX } from '../../util/limits.ts';
import { walletJson } from '../../wallet/documents.ts';
import { type FamilyWallets, needFeature } from '../../wallet/family-wallets.ts';
import { followServer } from '../../wallet/feed/follow-server.ts';
import { checkServer } from '../../wallet/feed/server-facts.ts';
import { holdingsJson, holdingsOf } from '../../wallet/holdings.ts';
import { type ImportedLabelsJson, importLabels } from '../../wallet/labels.ts';
import type { RescanResult } from '../../wallet/past/rescan.ts';
import { createWithSecret, secretOptions } from '../bitcoin/wallet/create-secret.ts';
import { bitcoinWallets } from '../bitcoin/wallet/open-bitcoin-wallets.ts';
import { action, type Context } from '../context.ts';
import { counted } from '../format.ts';
import type { CommandOptions } from '../options.ts';
import { readOperand } from '../read-operand.ts';
import { withWallet, withWallets } from './open-wallets.ts';
import { collect } from './operands.ts';
import { serverOptions, walletServer } from './wallet-server.ts';
import { holdingsText } from './wallet-text.ts';

interface CreateFlags extends CommandOptions {
  readonly newWords?: boolean;
  readonly from?: string;
  readonly secret?: string;
  readonly change?: string;
  readonly account?: string;
  readonly address?: readonly string[];
  readonly descriptor?: string;
  readonly labels?: string;
}

export function registerCreate(wallet: Command): void {
  const create = wallet
    .command('create')
    .description('a wallet, from a descriptor with public keys, from addresses, or with keys of its own');
  serverOptions(secretOptions(create), 'a server on another machine that finds its past')
    .argument('<name>', 'of the wallet')
    .argument('[descriptor]', "such as \"wpkh([fingerprint/84'/0'/0']xpub.../<0;1>/*)#checksum\": it watches, and others sign")
    .option('--change <descriptor>', 'of change, where the first has no <0;1>')
    .option('--account <name>', 'name of its account (default: default)')
    .option('--address <address>', ADDRESS_HELP, collect)
    .addHelpText('after', '\nIts past is found in the index of the store: at once, or by the process that follows the chain.')
    .action(action(createWallet));
  serverOptions(wallet.command('import'), 'a server on another machine that finds its past')
    .description('add an account or addresses to a wallet, or labels (BIP329)')
    .argument('<name>', 'of the wallet')
    .option('--descriptor <descriptor>', 'of the account')
    .option('--change <descriptor>', 'of change, where the first has no <0;1>')
    .option('--account <name>', 'name of the account')
    .option('--address <address>', ADDRESS_HELP, collect)
    .option('--labels <file>', 'labels, one JSON document a line; - is standard input')
    .action(action(add));
  serverOptions(wallet.command('rescan'), 'a server on another machine in place of the store')
    .description('bring the wallets to the newest block from the index of the store, where its events cannot (EXPIRED)')
    .option('--from <height>', 'find anew what is in blocks from this height on (default: from the newest block that both know)')
    .action(action(rescan));
  serverOptions(wallet.command('sync'), 'a server on another machine in place of the store')
    .description('take in the blocks of the store, where no process follows the chain')
    .action(action(sync));
}

const ADDRESS_HELP =
  'on Cardano: an address to be watched, or a stake address for every address with its stake credential; may be repeated';

async function createWallet(context: Context, name: string, descriptor: string | undefined): Promise<void> {
  const { output } = context;
  const { change, account, address: addresses = [], newWords, secret }: CreateFlags = context.options;
  const isWatchOnly = newWords !== true && secret === undefined;
  const isWatching = descriptor !== undefined || addresses.length > 0;
  if (isWatchOnly !== isWatching || (newWords === true && secret !== undefined)) {
    throw new UnspentError(
      'USAGE',
      'say what it watches or which keys it has: a descriptor, --address ADDRESS, --new-words, or --secret FILE',
    );
  }
  await withWallets(
    context,
    async (wallets) => {
      const words = isWatchOnly ? undefined : await createWithSecret(context, bitcoinWallets(wallets), name);
      if (isWatchOnly) await wallets.createWatching(name, { descriptor, change, account, addresses });
      // Before anything else can go wrong.
      if (words !== undefined && !output.json) output.line(`its words, to be written down now, in this order:\n${words}`);
      const isSynced = await trySync(context, wallets);
      const wallet = await wallets.store.getWallet(name);
      if (output.json) {
        const shown = words === undefined ? {} : { words };
        const watched = await wallets.watchedJson(wallet);
        return output.document({
          ...walletJson(wallets.notation, wallet),
          ...shown,
          ...watched,
          balance: await holdingsJson(wallets, wallet),
        });
      }
      output.line(`wallet ${name} ${isWatchOnly ? 'watches' : 'signs for'} ${watchedText(await wallets.watchedLines(wallet))}`);
      if (isSynced) output.line(`it has ${holdingsText(wallets, await holdingsOf(wallets, wallet))}`);
    },
    { create: true, needs: isWatchOnly ? undefined : 'keys' },
  );
}

/** The first, and how many there are besides. */
function watchedText([first, ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first} and ${counted(others.length, 'other')}`;
}

async function add(context: Context, name: string): Promise<void> {
  const { output } = context;
  const { descriptor, change, account, address: addresses, labels }: CreateFlags = context.options;
  await withWallet(context, name, async (wallets, wallet) => {
    if (labels !== undefined) {
      const text = new TextDecoder().decode(await readOperand(labels, WALLET_LABELS_BYTES_MAX));
      const taken = await importLabels(wallets, wallet, text);
      if (output.json) output.document(taken);
      else for (const line of importedText(taken)) output.line(line);
      return;
    }
    const made = await wallets.watchMore(name, { descriptor, change, account, addresses });
    await trySync(context, wallets);
    if (output.json) output.document(made);
    else output.line(`wallet ${name} watches ${watchedText(await wallets.watchedLines(wallet))}`);
  });
}

function importedText({ labels, applied, waiting, foreign, frozen, thawed, held }: ImportedLabelsJson): string[] {
  const others = labels - applied - waiting - foreign;
  const kept = `${waiting} for transactions that may still come, ${others} of other things, ${foreign} of other wallets`;
  return [
    `${counted(applied, 'transaction')} labelled; kept: ${kept}`,
    ...frozen.map((name) => `${name} is not spent: leased without end`),
    ...thawed.map((name) => `${name} is free`),
    ...held.map((name) => `${name} is leased by somebody else, and was not frozen: take the labels in again when that has ended`),
  ];
}

async function sync(context: Context): Promise<void> {
  const { output } = context;
  await withWallets(context, async (wallets) => {
    await feedOnce(context, wallets);
    const list = await wallets.store.listWallets();
    if (output.json) return output.document({ wallets: list.map((each) => walletJson(wallets.notation, each)) });
    for (const { name, syncedTo } of list) output.line(`${name} is at ${syncedTo === null ? 'no block yet' : `height ${syncedTo.height}`}`);
  });
}

async function rescan(context: Context): Promise<void> {
  const { output } = context;
  const { from: text }: CreateFlags = context.options;
  if (text !== undefined && !/^\d{1,9}$/.test(text)) throw new UnspentError('USAGE', `--from is a height, not '${text.slice(0, 40)}'`);
  await withWallets(context, async (wallets) => {
    const height = text === undefined ? undefined : Number(text);
    const { from, to, txs, pruned } = await rescanOnce(context, wallets, height);
    if (output.json) return output.document({ from: from?.height ?? null, to: to.height, transactions: txs, pruned, not_recovered: LOST });
    output.line(`${counted(txs, 'transaction')} found in blocks ${from === null ? 0 : from.height + 1} to ${to.height}`);
    if (pruned > 0)
      output.line(`of ${counted(pruned, 'transaction')} among them the store has forgotten what they did: all they paid is spent`);
    output.line(`not recovered: ${LOST}`);
  });
}

/** From the server that is named, else from the store. */
async function rescanOnce(context: Context, wallets: FamilyWallets, height: number | undefined): Promise<RescanResult> {
  const server = await walletServer(context);
  if (server !== null) {
    needFeature(familyOfNetwork(wallets.network.name).wallets, 'follows');
    await checkServer(wallets, server, context.stop);
    return bitcoinWallets(wallets).rescanFrom({ ...server, onLost: giveUp, signal: context.stop }, height);
  }
  return context.withStore((store) => {
    checkSameNetwork(wallets, store);
    return wallets.rescan(store, height);
  });
}

/** Up to the newest block: of the server that is named, else of the store. */
async function feedOnce(context: Context, wallets: FamilyWallets): Promise<void> {
  const server = await walletServer(context);
  if (server === null) return context.withStore((store) => feedWallets(wallets, store));
  needFeature(familyOfNetwork(wallets.network.name).wallets, 'follows');
  await followServer(wallets, { ...server, onLost: giveUp });
}

/** A command that ends by itself waits for no server. */
function giveUp(error: UnspentError): never {
  throw error;
}

/** What no index of a store can tell. */
const LOST =
  'what was in no block that the store has now: transactions that only the mempool saw meanwhile, blocks that came and went, and when transactions were first seen';

/** False: another process has the store, and does it; or there is none yet. */
async function trySync(context: Context, wallets: FamilyWallets): Promise<boolean> {
  try {
    await feedOnce(context, wallets);
    return true;
  } catch (error) {
    if (isUnspentError(error, 'SOURCE_UNREACHABLE')) {
      context.output.remark(`${error.message}; its past is found by \`unspent wallet follow\` or \`sync\`, when the server answers`);
      return false;
    }
    if (isUnspentError(error, 'STORE_LOCKED')) context.output.remark('the process that has the store open finds its past now');
    else if (isUnspentError(error, 'STORE_MISSING')) context.output.remark('there is no store yet; its past is found when there is one');
    else throw error;
    return false;
  }
}
