/**
 * What a wallet that can sign keeps in its box: a mnemonic (BIP39), a seed, an
 * extended private key, or descriptors with private keys. As bytes it is one byte
 * of kind and the content.
 *
 * JavaScript strings cannot be overwritten, so a mnemonic is kept as its entropy
 * and becomes words only when it is shown.
 */
import { entropyToMnemonic, mnemonicToEntropy, mnemonicToSeedSync } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { concatBytes, toHex, utf8 } from '../../../util/bytes.ts';
import { assert, UnspentError } from '../../../util/errors.ts';
import { type Account, type AccountPurpose, accountDescriptor, parseAccount } from './account.ts';
import { parseDescriptor } from './descriptor.ts';
import { type HDKey, hasPrivateKey, masterKey, parseExtendedKey } from './extended-key.ts';
import { KeyRing } from './key-ring.ts';

export type WalletSecret =
  /** 16 to 32 bytes, and the passphrase of BIP39, which is not that of the box. */
  | { readonly kind: 'mnemonic'; readonly entropy: Uint8Array; readonly passphrase: string }
  | { readonly kind: 'seed'; readonly seed: Uint8Array }
  | { readonly kind: 'extended'; readonly key: string }
  | { readonly kind: 'descriptors'; readonly texts: readonly string[] };

const KINDS = ['mnemonic', 'seed', 'extended', 'descriptors'] as const satisfies readonly WalletSecret['kind'][];

/** Of 12, 15, 18, 21 and 24 words. */
const ENTROPY_BYTES: readonly number[] = [16, 20, 24, 28, 32];

/** The words of BIP39's English list, in any spacing and case. Throws SECRET_INVALID. */
export function parseMnemonic(words: string, passphrase = ''): WalletSecret {
  const text = words.normalize('NFKD').trim().toLowerCase().split(/\s+/).join(' ');
  try {
    return { kind: 'mnemonic', entropy: mnemonicToEntropy(text, wordlist), passphrase };
  } catch {
    // The cause is left out: its message may have the words.
    throw new UnspentError(
      'SECRET_INVALID',
      'not a mnemonic: 12 to 24 words of the English list of BIP39, the last of which checks the others',
    );
  }
}

/** What to write down: the words, a seed in hex, an extended private key, or descriptors, one a line. */
export function secretText(secret: WalletSecret): string {
  switch (secret.kind) {
    case 'mnemonic':
      return entropyToMnemonic(secret.entropy, wordlist);
    case 'seed':
      return toHex(secret.seed);
    case 'extended':
      return secret.key;
    case 'descriptors':
      return secret.texts.join('\n');
  }
}

/**
 * The account that a wallet with this secret begins with: the first of that purpose, or the one that the descriptors
 * say. Throws SECRET_INVALID, which quotes nothing of the secret.
 */
export function secretAccount(network: BitcoinNetwork, secret: WalletSecret, purpose: AccountPurpose): Account {
  if (secret.kind === 'descriptors') return descriptorAccount(network, secret.texts);
  const master = masterOf(network, secret);
  assert(master !== null, 'a secret without a master key is descriptors');
  try {
    return parseAccount(network, accountDescriptor(network, master, { purpose, account: 0 }));
  } finally {
    master.wipePrivateData();
  }
}

function descriptorAccount(network: BitcoinNetwork, [external, change, ...others]: readonly string[]): Account {
  if (others.length > 0) throw new UnspentError('SECRET_INVALID', 'give one descriptor, and a second one of change, and no more');
  let account: Account;
  try {
    account = parseAccount(network, external, change);
  } catch {
    // The cause is left out: its message may have parts of the keys.
    throw new UnspentError('SECRET_INVALID', `the text is no descriptor of ${network.name} with private keys`);
  }
  const descriptors = account.change === null ? [account.external] : [account.external, account.change];
  if (descriptors.every(({ privateKeys }) => privateKeys.length === 0)) {
    throw new UnspentError('SECRET_INVALID', 'the descriptors have no private keys');
  }
  // Those of the text that is stored: without private keys, and what is hardened is derived.
  const [first, second] = descriptors.map((descriptor) => `${descriptor}`);
  for (const descriptor of descriptors) descriptor.wipe();
  return parseAccount(network, first, second);
}

/** The caller wipes the bytes. */
export function encodeSecret(secret: WalletSecret): Uint8Array {
  const kind = Uint8Array.of(1 + KINDS.indexOf(secret.kind));
  switch (secret.kind) {
    case 'mnemonic':
      return concatBytes(kind, Uint8Array.of(secret.entropy.length), secret.entropy, utf8(secret.passphrase));
    case 'seed':
      return concatBytes(kind, secret.seed);
    case 'extended':
      return concatBytes(kind, utf8(secret.key));
    case 'descriptors':
      return concatBytes(kind, utf8(secret.texts.join('\n')));
  }
}

/** Throws SECRET_INVALID. */
export function decodeSecret(bytes: Uint8Array): WalletSecret {
  const [kind, ...head] = bytes.subarray(0, 2);
  const text = (from: number): string => new TextDecoder().decode(bytes.subarray(from));
  switch (KINDS[kind - 1]) {
    case 'mnemonic':
      if (!ENTROPY_BYTES.includes(head[0]) || bytes.length < 2 + head[0])
        throw new UnspentError('SECRET_INVALID', 'the mnemonic is cut off');
      return { kind: 'mnemonic', entropy: bytes.slice(2, 2 + head[0]), passphrase: text(2 + head[0]) };
    case 'seed':
      return { kind: 'seed', seed: bytes.slice(1) };
    case 'extended':
      return { kind: 'extended', key: text(1) };
    case 'descriptors':
      return { kind: 'descriptors', texts: text(1).split('\n') };
    default:
      throw new UnspentError('SECRET_INVALID', 'the secret is of no known kind');
  }
}

/** The master key of a wallet that has one; null: its keys are in descriptors. The caller wipes it. Throws SECRET_INVALID. */
export function masterOf(network: BitcoinNetwork, secret: WalletSecret): HDKey | null {
  switch (secret.kind) {
    case 'mnemonic': {
      const seed = mnemonicToSeedSync(entropyToMnemonic(secret.entropy, wordlist), secret.passphrase);
      const master = masterKey(network, seed);
      seed.fill(0);
      return master;
    }
    case 'seed':
      return masterKey(network, secret.seed);
    case 'extended':
      return extendedMaster(network, secret.key);
    case 'descriptors':
      return null;
  }
}

function extendedMaster(network: BitcoinNetwork, text: string): HDKey {
  const key = parseExtendedKey(network, text, (reason, cause) => new UnspentError('SECRET_INVALID', reason, {}, cause));
  if (hasPrivateKey(key)) return key;
  throw new UnspentError('SECRET_INVALID', 'an extended private key is needed, this one is public');
}

/** All private keys of a wallet, to sign with. The caller wipes the ring. Throws SECRET_INVALID, DESCRIPTOR_INVALID. */
export function openKeyRing(network: BitcoinNetwork, secret: WalletSecret): KeyRing {
  const master = masterOf(network, secret);
  if (master !== null) return new KeyRing([{ origin: { fingerprint: master.fingerprint, path: [] }, key: master }]);
  const texts = secret.kind === 'descriptors' ? secret.texts : [];
  const keys = texts.flatMap((text) => parseDescriptor(network, text).privateKeys);
  if (keys.length === 0) throw new UnspentError('SECRET_INVALID', 'the descriptors have no private keys');
  return new KeyRing(keys);
}

/** Overwrites the bytes of it; what is text in it cannot be. */
export function wipeSecret(secret: WalletSecret): void {
  if (secret.kind === 'mnemonic') secret.entropy.fill(0);
  if (secret.kind === 'seed') secret.seed.fill(0);
}
