/**
 * `wallet create|import|sync`: wallets are made, given more accounts, and told
 * of the chain.
 */
import type { Command } from 'commander';
import { feedWallets, rescanFrom } from '../../../server/bitcoin/wallets/feed-wallets.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { WALLET_LABELS_BYTES_MAX } from '../../../util/limits.ts';
import type { AccountPurpose } from '../../../wallet/bitcoin/keys/index.ts';
import { createWatchOnlyWallet, importDescriptor } from '../../../wallet/bitcoin/operations/create-wallet.ts';
import { importLabels } from '../../../wallet/bitcoin/operations/labels.ts';
import { createSigningWallet, newMnemonic } from '../../../wallet/bitcoin/operations/signing-wallet.ts';
import type { WalletContext } from '../../../wallet/bitcoin/operations/wallet-context.ts';
import { accountJson } from '../../../wallet/bitcoin/operations/wallet-json.ts';
import { balanceJson, walletJson } from '../../../wallet/documents.ts';
import { action, type Context } from '../../context.ts';
import { counted } from '../../format.ts';
import type { CommandOptions } from '../../options.ts';
import { readOperand } from '../../read-operand.ts';
import { withWallet, withWallets } from './open-wallets.ts';
import { passphraseOptions, readPassphrase } from './passphrase.ts';
import { readSecretFile } from './secret-file.ts';
import { coinText } from './wallet-text.ts';

const PURPOSES: readonly AccountPurpose[] = [44, 49, 84, 86];

interface CreateFlags extends CommandOptions {
  readonly newWords?: boolean;
  readonly from?: string;
  readonly secret?: string;
  readonly purpose?: string;
  readonly change?: string;
  readonly account?: string;
  readonly descriptor?: string;
  readonly labels?: string;
}

export function registerCreate(wallet: Command): void {
  passphraseOptions(wallet.command('create').description('a wallet, from a descriptor with public keys, or with keys of its own'))
    .argument('<name>', 'of the wallet')
    .argument('[descriptor]', "such as \"wpkh([fingerprint/84'/0'/0']xpub.../<0;1>/*)#checksum\": it watches, and others sign")
    .option('--change <descriptor>', 'of change, where the first has no <0;1>')
    .option('--account <name>', 'name of its account (default: default)')
    .option('--new-words', 'instead: it signs, with 24 new words, which are shown once and kept under a passphrase')
    .option(
      '--secret <file>',
      'instead: it signs, with words (BIP39), an extended private key or descriptors with private keys; - is standard input',
    )
    .option('--purpose <n>', 'of words and extended keys: 44, 49, 84 (default) or 86, for P2PKH, P2SH-P2WPKH, P2WPKH or P2TR')
    .addHelpText('after', '\nIts past is found in the index of the store: at once, or by the process that follows the chain.')
    .action(action(create));
  wallet
    .command('import')
    .description('add an account to a wallet, or labels (BIP329)')
    .argument('<name>', 'of the wallet')
    .option('--descriptor <descriptor>', 'of the account')
    .option('--change <descriptor>', 'of change, where the first has no <0;1>')
    .option('--account <name>', 'name of the account')
    .option('--labels <file>', 'labels, one JSON document a line; - is standard input')
    .action(action(add));
  wallet
    .command('rescan')
    .description('bring the wallets to the newest block from the index of the store, where its events cannot (EXPIRED)')
    .option('--from <height>', 'find anew what is in blocks from this height on (default: from the newest block that both know)')
    .action(action(rescan));
  wallet.command('sync').description('take in the blocks of the store, where no process follows the chain').action(action(sync));
}

async function create(context: Context, name: string, descriptor: string | undefined): Promise<void> {
  const { output } = context;
  const { change, account, newWords, secret }: CreateFlags = context.options;
  const isWatchOnly = newWords !== true && secret === undefined;
  if (isWatchOnly === (descriptor === undefined) || (newWords === true && secret !== undefined)) {
    throw new UnspentError('USAGE', 'say which keys it has: a descriptor, or --new-words, or --secret FILE');
  }
  await withWallets(
    context,
    async (wallets) => {
      const words = isWatchOnly ? undefined : await createWithSecret(context, wallets, name);
      if (isWatchOnly) await createWatchOnlyWallet(wallets, { name, descriptor: descriptor ?? '', change, account });
      // Before anything else can go wrong.
      if (words !== undefined && !output.json) output.line(`its words, to be written down now, in this order:\n${words}`);
      const isSynced = await trySync(context, wallets);
      const wallet = await wallets.store.getWallet(name);
      const balance = await wallets.store.balance(wallet.id, { now: wallets.now() });
      const accounts = await wallets.store.listAccounts(wallet.id);
      if (output.json) {
        const list = accounts.map((each) => accountJson(wallets, each));
        const shown = words === undefined ? {} : { words };
        return output.document({ ...walletJson(wallets.notation, wallet), ...shown, accounts: list, balance: balanceJson(balance) });
      }
      output.line(`wallet ${name} ${isWatchOnly ? 'watches' : 'signs for'} ${wallets.account(accounts[0]).external}`);
      if (isSynced) output.line(`it has ${coinText(balance.total, wallets.notation)}`);
    },
    { create: true },
  );
}

/** The words, where they are new. */
async function createWithSecret(context: Context, wallets: WalletContext, name: string): Promise<string | undefined> {
  const { keys } = wallets;
  const { account, secret: file, purpose: text }: CreateFlags = context.options;
  const purpose = PURPOSES.find((each) => `${each}` === (text ?? '84'));
  if (purpose === undefined) throw new UnspentError('USAGE', `--purpose is one of ${PURPOSES.join(', ')}, not '${text?.slice(0, 40)}'`);
  const secret = file === undefined ? newMnemonic() : await readSecretFile(keys, file);
  try {
    const passphrase = await readPassphrase(context, { isNew: true });
    await createSigningWallet(wallets, { name, secret, passphrase, purpose, account });
    return file === undefined ? keys.secretText(secret) : undefined;
  } finally {
    keys.wipeSecret(secret);
  }
}

async function add(context: Context, name: string): Promise<void> {
  const { output } = context;
  const { descriptor, change, account, labels }: CreateFlags = context.options;
  await withWallet(context, name, async (wallets, wallet) => {
    if (labels !== undefined) {
      const text = new TextDecoder().decode(await readOperand(labels, WALLET_LABELS_BYTES_MAX));
      const { applied, unknown, passedOver } = await importLabels(wallets.store, wallet, text);
      if (output.json) output.document({ applied, unknown, passed_over: passedOver });
      else
        output.line(`${counted(applied, 'label')} taken; ${unknown} of unknown transactions and ${passedOver} of other things left aside`);
      return;
    }
    const made = await importDescriptor(wallets, name, { descriptor: descriptor ?? '', change, account });
    await trySync(context, wallets);
    if (output.json) output.document(accountJson(wallets, made));
    else output.line(`account ${made.name} of wallet ${name} watches ${wallets.account(made).external}`);
  });
}

async function sync(context: Context): Promise<void> {
  const { output } = context;
  await withWallets(context, async (wallets) => {
    await context.withStore((store) => feedWallets(wallets, store));
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
    const { from, to, txs } = await context.withStore((store) => rescanFrom(wallets, store, height));
    if (output.json) return output.document({ from: from?.height ?? null, to: to.height, transactions: txs, not_recovered: LOST });
    output.line(`${counted(txs, 'transaction')} found in blocks ${from === null ? 0 : from.height + 1} to ${to.height}`);
    output.line(`not recovered: ${LOST}`);
  });
}

/** What no index of a store can tell. */
const LOST =
  'what was in no block that the store has now: transactions that only the mempool saw meanwhile, blocks that came and went, and when transactions were first seen';

/** False: another process has the store, and does it; or there is none yet. */
async function trySync(context: Context, wallets: WalletContext): Promise<boolean> {
  try {
    await context.withStore((store) => feedWallets(wallets, store));
    return true;
  } catch (error) {
    if (isUnspentError(error, 'STORE_LOCKED')) context.output.remark('the process that has the store open finds its past now');
    else if (isUnspentError(error, 'STORE_MISSING')) context.output.remark('there is no store yet; its past is found when there is one');
    else throw error;
    return false;
  }
}
