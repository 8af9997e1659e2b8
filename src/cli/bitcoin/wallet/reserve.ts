/** `wallet select|lease|release`: coins are reserved, for this process or another. */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { UnspentError } from '../../../util/errors.ts';
import { selectPayment } from '../../../wallet/bitcoin/operations/payment.ts';
import { leaseMs } from '../../../wallet/bitcoin/operations/payment-text.ts';
import { selectionJson } from '../../../wallet/bitcoin/operations/wallet-json.ts';
import { coinName, leaseJson } from '../../../wallet/documents.ts';
import { action, type Context } from '../../context.ts';
import type { CommandOptions } from '../../options.ts';
import { withWallet } from './open-wallets.ts';
import { leaseId, leaseMinutes, outpoint, paymentRequest } from './operands.ts';
import { payOptions } from './pay.ts';
import { leaseText, selectionText } from './wallet-text.ts';

interface LeaseFlags extends CommandOptions {
  readonly id?: string;
  readonly minutes?: string;
  readonly forever?: boolean;
  readonly untilConfs?: string;
}

export function registerReserve(wallet: Command): void {
  payOptions(wallet.command('select').description('choose coins for a payment, and lease them')).action(action(select));
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
}

function select(context: Context, name: string): Promise<void> {
  const { output } = context;
  return withWallet(context, name, async (wallets, wallet) => {
    const chosen = await selectPayment(wallets, wallet, paymentRequest(wallets.network, context.options));
    if (output.json) output.document(selectionJson(wallets, chosen));
    else output.line(selectionText(chosen, wallets.notation));
  });
}

function lease(context: Context, name: string, text: string): Promise<void> {
  const { output } = context;
  const flags: LeaseFlags = context.options;
  const coin = outpoint(text);
  const request = {
    id: flags.id === undefined ? randomBytes(32) : leaseId(flags.id),
    durationMs: flags.forever === true ? null : leaseMs(leaseMinutes(flags.minutes)),
    releaseAfterSpendConfs: flags.untilConfs === undefined ? undefined : confs(flags.untilConfs),
  };
  return withWallet(context, name, async ({ store, notation, now }, wallet) => {
    const [made] = await store.leaseCoins(wallet.id, [coin], { ...request, now: now() });
    if (output.json) output.document({ outpoint: coinName(notation, coin), lease: leaseJson(made) });
    else output.line(`${coinName(notation, coin)} is leased ${leaseText(made)}; id ${Buffer.from(made.id).toString('hex')}`);
  });
}

function release(context: Context, name: string, text: string): Promise<void> {
  const { output } = context;
  const { id }: LeaseFlags = context.options;
  const coin = outpoint(text);
  return withWallet(context, name, async ({ store, notation, now }, wallet) => {
    await store.releaseCoin(wallet.id, coin, leaseId(id), now());
    if (output.json) output.document({ outpoint: coinName(notation, coin), lease: null });
    else output.line(`${coinName(notation, coin)} is free`);
  });
}

function confs(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 100_000) return value;
  throw new UnspentError('USAGE', `--until-confs is a whole number from 1 on, not '${text.slice(0, 40)}'`);
}
