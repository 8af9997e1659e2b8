/**
 * `wallet send|bump|sign|broadcast|cancel`: from a payment to the network. What
 * is made here is a PSBT; who has the keys signs it, and it comes back.
 */
import type { Command } from 'commander';
import { formatId } from '../../../ledgers/bitcoin/index.ts';
import { fromHex, isHex, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { PSBT_BYTES_MAX, SECRET_BYTES_MAX } from '../../../util/limits.ts';
import { broadcastTx } from '../../../wallet/bitcoin/operations/broadcast.ts';
import { prepareChild, prepareReplacement } from '../../../wallet/bitcoin/operations/bump.ts';
import { type PreparedPayment, preparePayment } from '../../../wallet/bitcoin/operations/payment.ts';
import { readFee } from '../../../wallet/bitcoin/operations/payment-text.ts';
import type { WalletContext } from '../../../wallet/bitcoin/operations/wallet-context.ts';
import { paymentJson } from '../../../wallet/bitcoin/operations/wallet-json.ts';
import { txJson } from '../../../wallet/documents.ts';
import { action, type Context } from '../../context.ts';
import { readOperand } from '../../read-operand.ts';
import { withWallet } from './open-wallets.ts';
import { checkNewFile, collect, feeFlags, type PayFlags, paymentRequest, satoshi, txId, writeNewFile } from './operands.ts';
import { submitTo } from './submit.ts';
import { selectionText } from './wallet-text.ts';

interface SendFlags extends PayFlags {
  readonly psbt?: string;
  readonly cpfp?: boolean;
  readonly parentFee?: string;
  readonly label?: string;
  readonly replace?: boolean;
  readonly server?: string;
  readonly secret?: string;
}

export function registerPay(wallet: Command): void {
  payOptions(wallet.command('send').description('a payment, as a PSBT to be signed; its coins are leased'))
    .option('--psbt <file>', 'write the PSBT to this new file (default: standard output)')
    .action(action(send));
  feeOptions(wallet.command('bump').description('a transaction that waits pays more: a replacement (BIP125) as a PSBT, or a child'))
    .argument('<name>', 'of the wallet')
    .argument('<txid>', 'of the transaction')
    .option('--cpfp', 'a child that pays for both, instead of a replacement')
    .option('--parent-fee <satoshi>', 'with --cpfp: what the parent pays, where the wallet cannot know')
    .option('--psbt <file>', 'write the PSBT to this new file (default: standard output)')
    .action(action(bump));
  wallet
    .command('sign')
    .description('sign a PSBT with keys from a file, which the wallet does not keep')
    .argument('<name>', 'of the wallet')
    .argument('<psbt>', 'file with the PSBT; - is standard input')
    .requiredOption('--secret <file>', 'file with the words of a mnemonic (BIP39), or descriptors with private keys, one a line')
    .option('--psbt <file>', 'write the PSBT to this new file (default: standard output)')
    .action(action(sign));
  wallet
    .command('broadcast')
    .description('a signed PSBT or transaction: recorded, and handed to a node')
    .argument('<name>', 'of the wallet')
    .argument('<file>', 'with the PSBT, or the transaction in hex; - is standard input')
    .option('--server <url>', 'an unspent or Esplora server that hands it on, such as http://127.0.0.1:8437; without it, send it yourself')
    .option('--replace', 'it may take the place of transactions that spend the same')
    .option('--label <text>', 'of the transaction')
    .action(action(broadcast));
  wallet
    .command('cancel')
    .description('give up a transaction that waits: its coins are free again, unless the network confirms it after all')
    .argument('<name>', 'of the wallet')
    .argument('<txid>', 'of the transaction')
    .action(action(cancel));
}

/** Of commands that choose coins. */
export function payOptions(command: Command): Command {
  return feeOptions(command)
    .argument('<name>', 'of the wallet')
    .option('--pay <address=satoshi>', 'who is paid, and how much; may be repeated', collect)
    .option('--subtract-fee', 'receivers bear the fee')
    .option('--account <name>', 'spend only from this account')
    .option('--coin <outpoint>', 'spend this coin (TXID#INDEX), and only those named; may be repeated', collect)
    .option('--coin-order <order>', 'waste (default), largest-first or oldest-first')
    .option('--unsafe', 'spend unconfirmed coins of others too');
}

/** Of commands that make a transaction. */
function feeOptions(command: Command): Command {
  return command
    .option('--fee-rate <rate>', 'in sat/vB, with up to three decimals')
    .option('--max-fee <satoshi>', 'what it may cost at most (default: wallet.feeMax)')
    .option('--max-fee-rate <rate>', 'the highest rate that may be asked for, in sat/vB (default: wallet.feeRateMax)')
    .option('--minutes <n>', 'coins are leased for so long (default: 60)');
}

function send(context: Context, name: string): Promise<void> {
  checkNewFile((context.options as SendFlags).psbt);
  return withWallet(context, name, async (wallets, wallet) => {
    const payment = await preparePayment(wallets, wallet, paymentRequest(wallets.network, context.options));
    showPayment(context, wallets, payment);
  });
}

function bump(context: Context, name: string, id: string): Promise<void> {
  const flags: SendFlags = context.options;
  checkNewFile(flags.psbt);
  return withWallet(context, name, async (wallets, wallet) => {
    const request = { txId: txId(id), ...readFee(feeFlags(flags)) };
    const parentFee = flags.parentFee === undefined ? undefined : satoshi(flags.parentFee);
    const payment =
      flags.cpfp === true
        ? await prepareChild(wallets, wallet, { ...request, parentFee })
        : await prepareReplacement(wallets, wallet, request);
    showPayment(context, wallets, payment);
  });
}

function showPayment({ output, options }: Context, wallets: WalletContext, payment: PreparedPayment): void {
  const { psbt: file }: SendFlags = options;
  const text = wallets.keys.formatPsbt(payment.psbt);
  if (file !== undefined) writeNewFile(file, `${text}\n`);
  if (output.json) output.document(paymentJson(wallets, payment));
  else if (file === undefined) {
    output.remark(selectionText(payment, wallets.notation));
    output.line(text);
  } else output.line(`${selectionText(payment, wallets.notation)}\nto be signed: ${file}`);
}

function sign(context: Context, name: string, operand: string): Promise<void> {
  const { output } = context;
  const { secret, psbt: target }: SendFlags = context.options;
  return withWallet(context, name, async ({ keys, network }) => {
    const psbt = keys.parsePsbt(await readOperand(operand, PSBT_BYTES_MAX));
    const ring = keys.openKeyRing(network, readSecret(keys, await readOperand(secret ?? '', SECRET_BYTES_MAX)));
    try {
      const signed = keys.signPsbt(psbt, ring);
      const text = keys.formatPsbt(signed.psbt);
      const { isComplete } = keys.inspectPsbt(signed.psbt);
      if (target !== undefined) writeNewFile(target, `${text}\n`);
      if (output.json) return output.document({ psbt: text, signatures: signed.signatures, complete: isComplete });
      output.remark(`${signed.signatures} signatures added; ${isComplete ? 'it has all it needs' : 'others are still missing'}`);
      if (target === undefined) output.line(text);
    } finally {
      ring.wipe();
    }
  });
}

function readSecret(keys: WalletContext['keys'], bytes: Uint8Array): ReturnType<WalletContext['keys']['parseMnemonic']> {
  const text = new TextDecoder().decode(bytes).trim();
  if (!text.includes('(')) return keys.parseMnemonic(text);
  return { kind: 'descriptors', texts: text.split('\n').map((line) => line.trim()) };
}

function broadcast(context: Context, name: string, operand: string): Promise<void> {
  const { output } = context;
  const { server, replace, label }: SendFlags = context.options;
  return withWallet(context, name, async (wallets, wallet) => {
    const raw = signedTx(wallets, await readOperand(operand, PSBT_BYTES_MAX));
    const submit = server === undefined ? undefined : submitTo(server);
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

function cancel(context: Context, name: string, id: string): Promise<void> {
  const { output } = context;
  return withWallet(context, name, async ({ store, notation }, wallet) => {
    await store.invalidateTx(wallet.id, txId(id));
    const detail = await store.getTxDetail(wallet.id, txId(id));
    if (output.json) return output.document(txJson(notation, wallet, detail, []));
    output.line(`transaction ${id} is ${detail.status}: its coins are free again`);
  });
}
