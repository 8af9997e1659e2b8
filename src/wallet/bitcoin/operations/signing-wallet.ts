/**
 * Wallets that keep their secret, encrypted under a passphrase: made, asked to
 * sign, given another passphrase, and asked for the secret itself. The database
 * has the box only (secret-box.ts); what is inside is in memory while a function
 * here runs, and overwritten after that.
 */
import { randomBytes } from 'node:crypto';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import type { WalletInfo } from '../../records.ts';
import { refusal } from '../../rules/failures.ts';
import { type BoxBinding, type BoxOptions, openSecret, resealSecret, sealSecret } from '../../secret-box.ts';
import type { WalletSecrets } from '../../store.ts';
import type { AccountPurpose, SignedPsbt, WalletSecret } from '../keys/index.ts';
import type { Keys } from '../load-keys.ts';
import { newAccounts } from './create-wallet.ts';
import { checkFee, type FeeAllowance } from './fee-guard.ts';
import type { WalletContext } from './wallet-context.ts';

/** Of 24 words. */
const ENTROPY_BYTES = 32;
const PURPOSE: AccountPurpose = 84;

export interface NewSigningWallet {
  readonly name: string;
  readonly secret: WalletSecret;
  readonly passphrase: string;
  /** Which scripts its account has; of a secret that is descriptors they say it. Default 84: P2WPKH. */
  readonly purpose?: AccountPurpose | undefined;
  /** Name of its account; default `default`. */
  readonly account?: string | undefined;
}

/** Throws WALLET_EXISTS, SECRET_INVALID. The caller wipes the secret. */
export async function createSigningWallet(context: WalletContext, wallet: NewSigningWallet, options?: BoxOptions): Promise<WalletInfo> {
  const { store, keys, network } = context;
  const { name, secret, passphrase, purpose = PURPOSE } = wallet;
  const accounts = keys.splitCombo(network, keys.secretAccount(network, secret, purpose));
  if ((await store.listWallets()).some((known) => known.name === name)) throw refusal.walletExists(name);
  const bytes = keys.encodeSecret(secret);
  try {
    const box = await sealSecret(bytes, passphrase, bindingOf(name), options);
    // In one transaction: a wallet without accounts would have words that nobody was shown, and could not be finished.
    return await store.createWallet({
      name,
      isWatchOnly: false,
      secrets: secretsOf(box),
      accounts: newAccounts(context, accounts, wallet.account),
    });
  } finally {
    bytes.fill(0);
  }
}

/** 24 new words, with a passphrase of their own (BIP39) or without. */
export function newMnemonic(wordsPassphrase = ''): WalletSecret {
  return { kind: 'mnemonic', entropy: Uint8Array.from(randomBytes(ENTROPY_BYTES)), passphrase: wordsPassphrase };
}

/**
 * The words of a mnemonic, an extended private key, or descriptors with private keys, one a line. Only words have a
 * passphrase of their own; empty: none. Throws SECRET_INVALID, which quotes nothing of it.
 */
export function readSecretText(keys: Keys, text: string, wordsPassphrase = ''): WalletSecret {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const isExtended = lines.length === 1 && /^[xt]prv\w+$/.test(lines[0]);
  const hasDescriptors = lines.some((line) => line.includes('('));
  if (!isExtended && !hasDescriptors) return keys.parseMnemonic(text, wordsPassphrase);
  if (wordsPassphrase !== '') throw new UnspentError('SECRET_INVALID', 'only words have a passphrase of their own, and these are no words');
  return isExtended ? { kind: 'extended', key: lines[0] } : { kind: 'descriptors', texts: lines };
}

/** Private keys at hand. Whoever opens it wipes it. */
export interface WalletSigner {
  /** Throws PSBT_INVALID, FEE_TOO_HIGH where the PSBT says what it pays. */
  sign(psbt: Uint8Array, allowance?: FeeAllowance): SignedPsbt;
  wipe(): void;
}

/** The keys of the wallet. Throws WATCH_ONLY, PASSPHRASE_WRONG, SECRET_INVALID. */
export function openSigner(context: WalletContext, wallet: WalletInfo, passphrase: string): Promise<WalletSigner> {
  return withSecret(context, wallet, passphrase, (secret) => signerWith(context, secret));
}

/** The keys of a secret, which the caller wipes. Throws SECRET_INVALID. */
export function signerWith(context: WalletContext, secret: WalletSecret): WalletSigner {
  const { keys, network } = context;
  const ring = keys.openKeyRing(network, secret);
  return {
    sign(psbt, allowance = {}) {
      const { fee } = keys.inspectPsbt(psbt);
      if (fee !== null) checkFee(context, fee, allowance);
      return keys.signPsbt(psbt, ring);
    },
    wipe: () => ring.wipe(),
  };
}

/** Throws WATCH_ONLY, PASSPHRASE_WRONG, SECRET_INVALID. */
export async function changePassphrase(
  { store }: WalletContext,
  wallet: WalletInfo,
  passphrase: string,
  newPassphrase: string,
  options?: BoxOptions,
): Promise<void> {
  const box = await resealSecret(await boxOf({ store }, wallet), passphrase, newPassphrase, bindingOf(wallet.name), options);
  await store.setSecrets(wallet.id, secretsOf(box));
}

export interface RevealedSecret {
  /** The words, the extended key or the descriptors, as they can be read in again. */
  readonly text: string;
  /** Of words, their own (BIP39); empty: they have none. */
  readonly wordsPassphrase: string;
}

/** Throws WATCH_ONLY, PASSPHRASE_WRONG, SECRET_INVALID. */
export function revealSecret(context: WalletContext, wallet: WalletInfo, passphrase: string): Promise<RevealedSecret> {
  return withSecret(context, wallet, passphrase, (secret) => ({
    text: context.keys.secretText(secret),
    wordsPassphrase: secret.kind === 'mnemonic' ? secret.passphrase : '',
  }));
}

async function withSecret<T>(
  context: WalletContext,
  wallet: WalletInfo,
  passphrase: string,
  body: (secret: WalletSecret) => T,
): Promise<T> {
  const { keys } = context;
  const bytes = await openSecret(await boxOf(context, wallet), passphrase, bindingOf(wallet.name));
  let secret: WalletSecret | undefined;
  try {
    secret = keys.decodeSecret(bytes);
    return body(secret);
  } catch (error) {
    // Descriptors with private keys were sound when they were stored; a failure must not quote them now.
    if (isUnspentError(error, 'DESCRIPTOR_INVALID')) throw new UnspentError('SECRET_INVALID', 'the descriptors in the box are not sound');
    throw error;
  } finally {
    bytes.fill(0);
    if (secret !== undefined) keys.wipeSecret(secret);
  }
}

async function boxOf({ store }: Pick<WalletContext, 'store'>, { id, name }: WalletInfo): Promise<Uint8Array> {
  const secrets = await store.getSecrets(id);
  if (secrets === null) throw refusal.watchOnly(name);
  return secrets.masterPrivateKey;
}

/** The box has all that opening it takes; the columns for keys in between, which other forms of wallets have, stay empty. */
function secretsOf(box: Uint8Array): WalletSecrets {
  const none = new Uint8Array(0);
  return { masterParams: none, cryptoPrivateKey: none, cryptoScriptKey: null, masterPrivateKey: box };
}

/** The name of a wallet never changes, and is known before its row is. */
function bindingOf(name: string): BoxBinding {
  return { walletId: name, purpose: 'master secret' };
}
