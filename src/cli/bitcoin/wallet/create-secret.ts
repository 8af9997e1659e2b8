/** `wallet create --new-words|--secret`: a wallet that signs, with a secret that is kept under a passphrase. */
import type { Command } from 'commander';
import { UnspentError } from '../../../util/errors.ts';
import type { AccountPurpose } from '../../../wallet/bitcoin/keys/index.ts';
import { createSigningWallet, newMnemonic } from '../../../wallet/bitcoin/operations/signing-wallet.ts';
import type { WalletContext } from '../../../wallet/bitcoin/operations/wallet-context.ts';
import type { Context } from '../../context.ts';
import type { CommandOptions } from '../../options.ts';
import { passphraseOptions, readPassphrase, readWordsPassphrase, wordsPassphraseOptions } from './passphrase.ts';
import { readSecretFile } from './secret-file.ts';

const PURPOSES: readonly AccountPurpose[] = [44, 49, 84, 86];

interface SecretFlags extends CommandOptions {
  readonly secret?: string;
  readonly purpose?: string;
  readonly account?: string;
}

export function secretOptions(create: Command): Command {
  return wordsPassphraseOptions(passphraseOptions(create))
    .option('--new-words', 'instead: it signs, with 24 new words, which are shown once and kept under a passphrase')
    .option(
      '--secret <file>',
      'instead: it signs, with words (BIP39), an extended private key or descriptors with private keys; - is standard input',
    )
    .option('--purpose <n>', 'of words and extended keys: 44, 49, 84 (default) or 86, for P2PKH, P2SH-P2WPKH, P2WPKH or P2TR');
}

/** The words, where they are new. */
export async function createWithSecret(context: Context, wallets: WalletContext, name: string): Promise<string | undefined> {
  const { keys } = wallets;
  const { account, secret: file, purpose: text }: SecretFlags = context.options;
  const purpose = PURPOSES.find((each) => `${each}` === (text ?? '84'));
  if (purpose === undefined) throw new UnspentError('USAGE', `--purpose is one of ${PURPOSES.join(', ')}, not '${text?.slice(0, 40)}'`);
  const wordsPassphrase = await readWordsPassphrase(context, true);
  const secret = file === undefined ? newMnemonic(wordsPassphrase) : await readSecretFile(keys, file, wordsPassphrase);
  try {
    const passphrase = await readPassphrase(context, { isNew: true });
    await createSigningWallet(wallets, { name, secret, passphrase, purpose, account });
    return file === undefined ? keys.secretText(secret) : undefined;
  } finally {
    keys.wipeSecret(secret);
  }
}
