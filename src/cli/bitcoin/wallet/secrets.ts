/** `wallet sign|passphrase`, `wallet export --secret`: what takes the secret of a wallet, or one that it does not keep. */
import type { Command } from 'commander';
import { PSBT_BYTES_MAX } from '../../../util/limits.ts';
import {
  changePassphrase,
  openSigner,
  revealSecret,
  signerWith,
  type WalletSigner,
} from '../../../wallet/bitcoin/operations/signing-wallet.ts';
import type { WalletContext } from '../../../wallet/bitcoin/operations/wallet-context.ts';
import type { WalletInfo } from '../../../wallet/records.ts';
import { action, type Context } from '../../context.ts';
import type { CommandOptions } from '../../options.ts';
import { readOperand } from '../../read-operand.ts';
import { checkNewFile, writeNewFile } from '../../wallet/operands.ts';
import { withBitcoinWallet } from './open-bitcoin-wallets.ts';
import { passphraseOptions, readNextPassphrase, readPassphrase, readWordsPassphrase, wordsPassphraseOptions } from './passphrase.ts';
import { satoshi } from './payment-operands.ts';
import { readSecretFile } from './secret-file.ts';

interface SignFlags extends CommandOptions {
  readonly secret?: string;
  readonly psbt?: string;
  readonly maxFee?: string;
}

export function registerSecrets(wallet: Command): void {
  wordsPassphraseOptions(
    passphraseOptions(wallet.command('sign').description('sign a PSBT, with the keys of the wallet or with those of a file')),
  )
    .argument('<name>', 'of the wallet')
    .argument('<psbt>', 'file with the PSBT; - is standard input')
    .option(
      '--secret <file>',
      'keys that the wallet does not keep: words (BIP39), an extended private key, or descriptors with private keys',
    )
    .option('--max-fee <satoshi>', 'what it may cost at most (default: wallet.feeMax)')
    .option('--psbt <file>', 'write the PSBT to this new file (default: standard output)')
    .action(action(sign));
  passphraseOptions(wallet.command('passphrase').description('another passphrase for the secret of a wallet'))
    .argument('<name>', 'of the wallet')
    .option('--new-passphrase-file <file>', 'file with the new one (default: UNSPENT_NEW_PASSPHRASE, or asked for)')
    .action(action(passphrase));
}

function sign(context: Context, name: string, operand: string): Promise<void> {
  const { output } = context;
  const { psbt: target, maxFee }: SignFlags = context.options;
  checkNewFile(target);
  return withBitcoinWallet(context, 'keys', name, async (wallets, wallet) => {
    const { keys } = wallets;
    const psbt = keys.parsePsbt(await readOperand(operand, PSBT_BYTES_MAX));
    const signer = await signerOf(context, wallets, wallet);
    try {
      const signed = signer.sign(psbt, { feeMax: maxFee === undefined ? undefined : satoshi(maxFee) });
      const text = keys.formatPsbt(signed.psbt);
      const { isComplete } = keys.inspectPsbt(signed.psbt);
      if (target !== undefined) writeNewFile(target, `${text}\n`);
      if (output.json) return output.document({ psbt: text, signatures: signed.signatures, complete: isComplete });
      output.remark(`${signed.signatures} signatures added; ${isComplete ? 'it has all it needs' : 'others are still missing'}`);
      if (target === undefined) output.line(text);
    } finally {
      signer.wipe();
    }
  });
}

async function signerOf(context: Context, wallets: WalletContext, wallet: WalletInfo): Promise<WalletSigner> {
  const { secret: file }: SignFlags = context.options;
  if (file === undefined) return openSigner(wallets, wallet, await readPassphrase(context));
  const secret = await readSecretFile(wallets.keys, file, await readWordsPassphrase(context, false));
  try {
    return signerWith(wallets, secret);
  } finally {
    wallets.keys.wipeSecret(secret);
  }
}

function passphrase(context: Context, name: string): Promise<void> {
  const { output } = context;
  return withBitcoinWallet(context, 'keys', name, async (wallets, wallet) => {
    const before = await readPassphrase(context);
    await changePassphrase(wallets, wallet, before, await readNextPassphrase(context));
    if (output.json) output.document({ wallet: name, changed: true });
    else output.line(`wallet ${name} has its new passphrase; backups from before still open with the old one`);
  });
}

/** `wallet export --secret`: what the wallet was made with. Throws WATCH_ONLY, PASSPHRASE_WRONG. */
export function showSecret(context: Context, name: string): Promise<void> {
  const { output } = context;
  return withBitcoinWallet(context, 'keys', name, async (wallets, wallet) => {
    const { text, wordsPassphrase } = await revealSecret(wallets, wallet, await readPassphrase(context));
    const own = wordsPassphrase === '' ? {} : { words_passphrase: wordsPassphrase };
    if (output.json) return output.document({ secret: text, ...own });
    output.line(text);
    if (wordsPassphrase !== '') output.line(`passphrase of these words (BIP39): ${wordsPassphrase}`);
  });
}
