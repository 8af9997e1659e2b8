/** `wallet label|export|prune|backup|migrate`: what a wallet keeps, and how it is kept. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { UnspentError } from '../../util/errors.ts';
import { backupSqlite } from '../../wallet/backup.ts';
import { walletDatabaseFile, walletDatabaseUrl } from '../../wallet/database-url.ts';
import { walletJson } from '../../wallet/documents.ts';
import { exportLabels, importLabels } from '../../wallet/labels.ts';
import { passphraseOptions } from '../bitcoin/wallet/passphrase.ts';
import { showSecret } from '../bitcoin/wallet/secrets.ts';
import { action, type Context } from '../context.ts';
import { counted } from '../format.ts';
import type { CommandOptions } from '../options.ts';
import { withWallet, withWallets } from './open-wallets.ts';
import { txId } from './operands.ts';

const DAY_MS = 86_400_000;

interface KeepFlags extends CommandOptions {
  readonly labels?: boolean;
  readonly secret?: boolean;
  readonly days?: string;
}

export function registerKeep(wallet: Command): void {
  wallet
    .command('label')
    .description('say what a transaction, an output or an address is for')
    .argument('<name>', 'of the wallet')
    .argument('<ref>', 'id of the transaction, TXID:INDEX of the output, or the address')
    .argument('<text>', 'the label; empty: none')
    .action(action(label));
  passphraseOptions(
    wallet
      .command('export')
      .description('its descriptors or addresses, from which it can be made again anywhere; or its labels (BIP329), or its secret'),
  )
    .argument('<name>', 'of the wallet')
    .option('--labels', 'labels, one JSON document a line')
    .option('--secret', 'the words or keys that it was made with; nothing else ever shows them')
    .action(action(exportWallet));
  wallet
    .command('prune')
    .description('forget transactions that were replaced or failed, and that nothing needs')
    .argument('<name>', 'of the wallet')
    .option('--days <n>', 'older than so many days (default: 30)')
    .action(action(prune));
  wallet
    .command('backup')
    .description('a copy of the database as it is now, in a new file; others go on meanwhile (SQLite)')
    .argument('<file>', 'a new file')
    .action(action(backup));
  wallet.command('migrate').description('bring the database to the schema of this version').action(action(migrate));
}

function label(context: Context, name: string, ref: string, text: string): Promise<void> {
  const { output } = context;
  return withWallet(context, name, async (wallets, wallet) => {
    const { store, notation } = wallets;
    if (/^[0-9a-f]+$/i.test(ref)) {
      await store.updateTx(wallet.id, txId(notation, ref), { label: text });
      if (output.json) return output.document({ txid: ref, label: text });
      return output.line(text === '' ? `transaction ${ref} has no label` : `transaction ${ref}: ${text}`);
    }
    const type = /[:#]\d+$/.test(ref) ? 'output' : 'addr';
    const named = type === 'output' ? ref.replace('#', ':') : ref;
    await importLabels(wallets, wallet, JSON.stringify({ type, ref: named, label: text }));
    if (output.json) output.document({ type, ref: named, label: text });
    else output.line(text === '' ? `${named} has no label` : `${named}: ${text}`);
  });
}

function exportWallet(context: Context, name: string): Promise<void> {
  const { output } = context;
  const { labels, secret }: KeepFlags = context.options;
  if (secret === true) return showSecret(context, name);
  return withWallet(context, name, async (wallets, wallet) => {
    const text = await exportLabels(wallets, wallet);
    if (output.json) {
      const lines = text.split('\n').filter((line) => line !== '');
      return output.document({
        network: wallets.network.name,
        ...walletJson(wallets.notation, wallet),
        ...(await wallets.watchedJson(wallet)),
        labels: lines.map((line) => JSON.parse(line) as unknown),
      });
    }
    if (labels === true) {
      if (text !== '') output.line(text.trimEnd());
      return;
    }
    for (const line of await wallets.watchedLines(wallet)) output.line(line);
  });
}

function prune(context: Context, name: string): Promise<void> {
  const { output } = context;
  const { days = '30' }: KeepFlags = context.options;
  if (!/^\d{1,5}$/.test(days)) throw new UnspentError('USAGE', `--days is a whole number, not '${days.slice(0, 40)}'`);
  return withWallet(context, name, async ({ store, notation, now }, wallet) => {
    const gone = await store.pruneDead(wallet.id, now() - Number(days) * DAY_MS);
    if (output.json) output.document({ pruned: gone.map(notation.formatId) });
    else output.line(`${counted(gone.length, 'transaction')} forgotten`);
  });
}

function backup(context: Context, target: string): void {
  const { output, settings } = context;
  const { config } = settings;
  const file = walletDatabaseFile(walletDatabaseUrl(config.wallet.database, config.data));
  if (file === null) throw new UnspentError('UNSUPPORTED', 'a database of PostgreSQL is backed up with its own tools, such as pg_dump');
  if (!existsSync(file)) throw new UnspentError('WALLETS_MISSING', `there is no wallet database ${file}`, { file });
  backupSqlite(file, target);
  if (output.json) output.document({ file: target });
  else output.line(`the wallets are in ${target}`);
}

/** Opening it does it. */
function migrate(context: Context): Promise<void> {
  const { output } = context;
  return withWallets(context, async ({ store }) => {
    const wallets = await store.listWallets();
    if (output.json) output.document({ wallets: wallets.length });
    else output.line(`the schema is up to date; ${counted(wallets.length, 'wallet')}`);
  });
}
