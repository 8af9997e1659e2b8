/**
 * `wallet send|bump|broadcast`: from a payment to the network. What
 * is made here is a PSBT; who has the keys signs it, and it comes back.
 */
import type { Command } from 'commander';
import { formatId } from '../../../ledgers/bitcoin/index.ts';
import { fromHex, isHex, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { PSBT_BYTES_MAX } from '../../../util/limits.ts';
import { broadcastTx } from '../../../wallet/bitcoin/operations/broadcast.ts';
import { prepareChild, prepareReplacement } from '../../../wallet/bitcoin/operations/bump.ts';
import type { FeeAllowance } from '../../../wallet/bitcoin/operations/fee-guard.ts';
import { type PreparedPayment, preparePayment } from '../../../wallet/bitcoin/operations/payment.ts';
import { readChoice, readFee } from '../../../wallet/bitcoin/operations/payment-text.ts';
import { openSigner } from '../../../wallet/bitcoin/operations/signing-wallet.ts';
import type { WalletContext } from '../../../wallet/bitcoin/operations/wallet-context.ts';
import { paymentJson } from '../../../wallet/bitcoin/operations/wallet-json.ts';
import { txJson } from '../../../wallet/documents.ts';
import type { WalletInfo } from '../../../wallet/records.ts';
import { SELECTION_ORDERS } from '../../../wallet/selection/bitcoin/coin.ts';
import { action, type Context } from '../../context.ts';
import { readOperand } from '../../read-operand.ts';
import { checkNewFile, collect, txId, writeNewFile } from '../../wallet/operands.ts';
import { serverOptions, walletServer } from '../../wallet/wallet-server.ts';
import { withBitcoinWallet } from './open-bitcoin-wallets.ts';
import { passphraseOptions, readPassphrase } from './passphrase.ts';
import { choiceFlags, feeFlags, type PayFlags, paymentRequest, satoshi } from './payment-operands.ts';
import { selectionText } from './selection-text.ts';
import { submitTo } from './submit.ts';

interface SendFlags extends PayFlags {
  readonly psbt?: string;
  readonly cpfp?: boolean;
  readonly needsSignal?: boolean;
  readonly parentFee?: string;
  readonly label?: string;
  readonly replace?: boolean;
  readonly sign?: boolean;
}

export function registerPay(wallet: Command): void {
  signOptions(payOptions(wallet.command('send').description('a payment, as a PSBT to be signed; its coins are leased')))
    .option('--psbt <file>', 'write the PSBT to this new file (default: standard output)')
    .action(action(send));
  signOptions(
    choiceOptions(
      feeOptions(wallet.command('bump').description('a transaction that waits pays more: a replacement (BIP125) as a PSBT, or a child')),
    ),
  )
    .argument('<name>', 'of the wallet')
    .argument('<txid>', 'of the transaction')
    .option('--cpfp', 'a child that pays for both, instead of a replacement')
    .option('--needs-signal', 'only if it says that it may be replaced (BIP125), for nodes that replace no others')
    .option('--parent-fee <satoshi>', 'with --cpfp: what the parent pays, where the wallet cannot know')
    .option('--psbt <file>', 'write the PSBT to this new file (default: standard output)')
    .action(action(bump));
  serverOptions(wallet.command('broadcast'), 'an unspent or Esplora server that hands it on; without one, send it yourself')
    .description('a signed PSBT or transaction: recorded, and handed to a node')
    .argument('<name>', 'of the wallet')
    .argument('<file>', 'with the PSBT, or the transaction in hex; - is standard input')
    .option('--replace', 'it may take the place of transactions that spend the same')
    .option('--label <text>', 'of the transaction')
    .action(action(broadcast));
}

/** Of commands that pay. */
export function payOptions(command: Command): Command {
  return choiceOptions(feeOptions(command))
    .argument('<name>', 'of the wallet')
    .option('--pay <address=satoshi>', 'who is paid, and how much; may be repeated', collect)
    .option('--subtract-fee', 'all receivers bear the fee')
    .option('--subtract-fee-from <address>', 'this one bears it, in equal parts with others that do; may be repeated', collect)
    .option('--account <name>', 'spend only from this account')
    .option('--coin <outpoint>', 'spend this coin (TXID#INDEX), and only those named; may be repeated', collect)
    .option('--include <outpoint>', 'spend this coin, and others as needed; may be repeated', collect)
    .option('--unsafe', 'spend unconfirmed coins of others too')
    .option('--no-unconfirmed-change', 'spend no unconfirmed change of the wallet itself')
    .option('--long-chains', 'spend coins of unconfirmed chains as long as nodes relay, too')
    .option('--change-account <name>', 'where change goes (default: --account, or the first)')
    .option('--change-address <address>', 'the same as an address (default on Cardano: the first that is watched)');
}

/** Of commands that choose coins; how is in docs/wallets.md. */
function choiceOptions(command: Command): Command {
  return command
    .option('--exclude <outpoint>', 'do not spend this coin; may be repeated', collect)
    .option('--min-confs <n>', 'spend only coins with so many confirmations at least')
    .option('--max-confs <n>', 'and at most')
    .option('--coin-order <order>', `${SELECTION_ORDERS.join(', ')} (default: waste, which tries all and takes the best)`)
    .option('--avoid-partial-spends', 'spend all coins of an address or none, up to 100 of them')
    .option('--max-weight <n>', 'weight units that the transaction may have (default: 400000)')
    .option('--change-position <n>', 'where change is put among the outputs, from 0 (default: at random)')
    .option('--long-term-fee-rate <rate>', 'at which coins are expected to be spent some other day, in sat/vB (default: 10)')
    .option('--discard-fee-rate <rate>', 'change that is not worth spending at this rate is not made, in sat/vB (default: 10)');
}

function signOptions(command: Command): Command {
  return passphraseOptions(command.option('--sign', 'sign it, with the keys of the wallet'));
}

/** Of commands that make a transaction. */
function feeOptions(command: Command): Command {
  return command
    .option('--fee-rate <rate>', 'in sat/vB, with up to three decimals')
    .option('--max-fee <satoshi>', 'what it may cost at most (default: wallet.feeMax)')
    .option('--max-fee-rate <rate>', 'the highest rate that may be asked for, in sat/vB (default: wallet.feeRateMax)')
    .option('--minutes <n>', 'coins are leased for so long (default: 60)');
}

async function send(context: Context, name: string): Promise<void> {
  checkNewFile((context.options as SendFlags).psbt);
  await withBitcoinWallet(context, 'payments', name, (wallets, wallet) => {
    const request = paymentRequest(wallets.network, context.options);
    return makePayment(context, wallets, wallet, request, () => preparePayment(wallets, wallet, request));
  });
}

async function bump(context: Context, name: string, id: string): Promise<void> {
  const flags: SendFlags = context.options;
  checkNewFile(flags.psbt);
  await withBitcoinWallet(context, 'bumps', name, (wallets, wallet) => {
    const fee = readFee(feeFlags(flags));
    const request = { txId: txId(wallets.notation, id), needsSignal: flags.needsSignal, ...fee, ...readChoice(choiceFlags(flags)) };
    const parentFee = flags.parentFee === undefined ? undefined : satoshi(flags.parentFee);
    return makePayment(context, wallets, wallet, request, () =>
      flags.cpfp === true ? prepareChild(wallets, wallet, { ...request, parentFee }) : prepareReplacement(wallets, wallet, request),
    );
  });
}

/** With --sign the keys are opened first: a wrong passphrase leases no coins. */
async function makePayment(
  context: Context,
  wallets: WalletContext,
  wallet: WalletInfo,
  allowance: FeeAllowance,
  prepare: () => Promise<PreparedPayment>,
): Promise<void> {
  const { sign }: SendFlags = context.options;
  if (sign !== true) return showPayment(context, wallets, await prepare(), 'to be signed');
  const signer = await openSigner(wallets, wallet, await readPassphrase(context));
  try {
    const payment = await prepare();
    showPayment(context, wallets, { ...payment, psbt: signer.sign(payment.psbt, allowance).psbt }, 'signed');
  } finally {
    signer.wipe();
  }
}

function showPayment({ output, options }: Context, wallets: WalletContext, payment: PreparedPayment, state: string): void {
  const { psbt: file }: SendFlags = options;
  const text = wallets.keys.formatPsbt(payment.psbt);
  if (file !== undefined) writeNewFile(file, `${text}\n`);
  if (output.json) output.document(paymentJson(wallets, payment));
  else if (file === undefined) {
    output.remark(selectionText(payment, wallets.notation));
    output.line(text);
  } else output.line(`${selectionText(payment, wallets.notation)}\n${state}: ${file}`);
}

function broadcast(context: Context, name: string, operand: string): Promise<void> {
  const { output } = context;
  const { replace, label }: SendFlags = context.options;
  return withBitcoinWallet(context, 'broadcasts', name, async (wallets, wallet) => {
    const raw = signedTx(wallets, await readOperand(operand, PSBT_BYTES_MAX));
    const server = await walletServer(context);
    const submit = server === null ? undefined : submitTo(server.url, server.token);
    const detail = await broadcastTx(wallets, wallet, { raw, label, replace, submit });
    if (output.json) return output.document({ hex: toHex(raw), ...txJson(wallets.notation, wallet, detail, []) });
    output.line(`transaction ${formatId(detail.tx.id)} is ${detail.status}`);
    if (submit === undefined) output.line(toHex(raw));
  });
}

/** Of a PSBT that has its signatures, or the transaction itself in hex. */
function signedTx({ keys }: WalletContext, bytes: Uint8Array): Uint8Array {
  const text = new TextDecoder().decode(bytes.subarray(0, 64)).trim();
  const isTx = /^0[12]000000/.test(text);
  if (!isTx) return keys.extractTx(keys.parsePsbt(bytes)).raw;
  const hex = new TextDecoder().decode(bytes).trim();
  if (!isHex(hex)) throw new UnspentError('USAGE', 'the transaction is not in hex');
  return fromHex(hex);
}
