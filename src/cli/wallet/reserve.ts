/** `wallet lease|release|cancel`: coins are reserved, for this process or another, and set free. */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { UnspentError } from '../../util/errors.ts';
import { coinName, leaseJson, txJson } from '../../wallet/documents.ts';
import { leaseMs } from '../../wallet/lease-time.ts';
import { action, type Context } from '../context.ts';
import type { CommandOptions } from '../options.ts';
import { withWallet } from './open-wallets.ts';
import { leaseId, leaseMinutes, outpoint, txId } from './operands.ts';
import { leaseText } from './wallet-text.ts';

interface LeaseFlags extends CommandOptions {
  readonly id?: string;
  readonly minutes?: string;
  readonly forever?: boolean;
  readonly untilConfs?: string;
}

export function registerReserve(wallet: Command): void {
  wallet
    .command('lease')
    .description('reserve a coin, so that nobody else spends it; or renew a lease')
    .argument('<name>', 'of the wallet')
    .argument('<outpoint>', 'TXID#INDEX')
    .option('--id <hex>', 'whose lease it is, 64 hex digits (default: a new one)')
    .option('--minutes <n>', 'for so long (default: 60)')
    .option('--forever', 'until it is released')
    .option('--until-confs <n>', 'outlives a spend, and ends with so many confirmations of it')
    .action(action(lease));
  wallet
    .command('release')
    .description('end a lease')
    .argument('<name>', 'of the wallet')
    .argument('<outpoint>', 'TXID#INDEX')
    .requiredOption('--id <hex>', 'whose lease it is')
    .action(action(release));
  wallet
    .command('cancel')
    .description('give up a transaction that waits: its coins are free again, unless the network confirms it after all')
    .argument('<name>', 'of the wallet')
    .argument('<txid>', 'of the transaction')
    .action(action(cancel));
}

function lease(context: Context, name: string, text: string): Promise<void> {
  const { output } = context;
  const flags: LeaseFlags = context.options;
  const request = {
    id: flags.id === undefined ? randomBytes(32) : leaseId(flags.id),
    durationMs: flags.forever === true ? null : leaseMs(leaseMinutes(flags.minutes)),
    releaseAfterSpendConfs: flags.untilConfs === undefined ? undefined : confs(flags.untilConfs),
  };
  return withWallet(context, name, async ({ store, notation, now }, wallet) => {
    const coin = outpoint(notation, text);
    const [made] = await store.leaseCoins(wallet.id, [coin], { ...request, now: now() });
    if (output.json) output.document({ outpoint: coinName(notation, coin), lease: leaseJson(made) });
    else output.line(`${coinName(notation, coin)} is leased ${leaseText(made)}; id ${Buffer.from(made.id).toString('hex')}`);
  });
}

function release(context: Context, name: string, text: string): Promise<void> {
  const { output } = context;
  const { id }: LeaseFlags = context.options;
  return withWallet(context, name, async ({ store, notation, now }, wallet) => {
    const coin = outpoint(notation, text);
    await store.releaseCoin(wallet.id, coin, leaseId(id), now());
    if (output.json) output.document({ outpoint: coinName(notation, coin), lease: null });
    else output.line(`${coinName(notation, coin)} is free`);
  });
}

function cancel(context: Context, name: string, id: string): Promise<void> {
  const { output } = context;
  return withWallet(context, name, async ({ store, notation }, wallet) => {
    await store.invalidateTx(wallet.id, txId(notation, id));
    const detail = await store.getTxDetail(wallet.id, txId(notation, id));
    if (output.json) return output.document(txJson(notation, wallet, detail, []));
    output.line(`transaction ${id} is ${detail.status}: its coins are free again`);
  });
}

function confs(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 100_000) return value;
  throw new UnspentError('USAGE', `--until-confs is a whole number from 1 on, not '${text.slice(0, 40)}'`);
}
