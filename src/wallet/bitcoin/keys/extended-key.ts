/**
 * Keys in base58 as descriptors and wallets have them: extended keys (BIP32) and
 * single private keys (WIF), of one network. The library derives; here are the
 * versions of the networks, and the rule for the few children that do not exist.
 */
import { createBase58check } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { sha256 } from '../../../crypto/sha256.ts';
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { readU32 } from '../../../util/bytes.ts';
import { assert, UnspentError } from '../../../util/errors.ts';
import { formatStep, isHardened, PATH_STEPS_MAX } from './key-path.ts';

export type { HDKey } from '@scure/bip32';

const base58check = createBase58check((bytes: Uint8Array) => sha256(bytes));
const EXTENDED_BYTES = 78;
/** Base58 of 78 bytes and a checksum. Decoding is quadratic: what is longer is not tried. */
const EXTENDED_CHARS_MAX = 112;
const SECRET_KEY_BYTES = 32;
const COMPRESSED_MARK = 1;

/** What wallets write instead of `xpub` to say for which scripts a key is (SLIP132): a descriptor says that itself. */
const SLIP132 = /^(?:[yzuv](?:pub|prv)|[YZUV](?:pub|prv)|Ltub|Ltpv|Mtub|Mtpv|ttub|ttpv)/;

function versionsOf({ keys }: BitcoinNetwork): { public: number; private: number } {
  return { public: keys.extendedPublic, private: keys.extendedPrivate };
}

/** The master key of a seed of 16 to 64 bytes. Throws SECRET_INVALID. */
export function masterKey(network: BitcoinNetwork, seed: Uint8Array): HDKey {
  try {
    return HDKey.fromMasterSeed(seed, versionsOf(network));
  } catch (cause) {
    throw new UnspentError('SECRET_INVALID', `a seed has 16 to 64 bytes, this one ${seed.length}`, { bytes: seed.length }, cause);
  }
}

/** An extended key, public or private. `fail` makes the error of whatever it stands in. */
export function parseExtendedKey(network: BitcoinNetwork, text: string, fail: (reason: string, cause?: unknown) => UnspentError): HDKey {
  // The text may be a private key: it is never repeated in a message.
  if (text.length > EXTENDED_CHARS_MAX) throw fail('the extended key is too long');
  const raw = base58(text, fail);
  if (raw.length !== EXTENDED_BYTES) throw fail(`an extended key has ${EXTENDED_BYTES} bytes, this one ${raw.length}`);
  const { extendedPublic, extendedPrivate } = network.keys;
  const version = readU32(raw, 0);
  if (version !== extendedPublic && version !== extendedPrivate) throw fail(otherVersion(network, text));
  try {
    return HDKey.fromExtendedKey(text, versionsOf(network));
  } catch (cause) {
    throw fail('the extended key is not sound', cause);
  }
}

function otherVersion(network: BitcoinNetwork, text: string): string {
  const wanted = network.keys.extendedPublic === 0x0488b21e ? 'xpub or xprv' : 'tpub or tprv';
  if (SLIP132.test(text)) return `write '${text.slice(0, 4)}...' as ${wanted}: in a descriptor the script says what the key is for`;
  return `an extended key of ${network.name} begins with ${wanted}, this one with '${text.slice(0, 4)}'`;
}

/** A private key as wallets write single ones. */
export interface WifKey {
  readonly secret: Uint8Array;
  /** Whether its public key is written in 33 bytes rather than 65. */
  readonly isCompressed: boolean;
}

export function parseWif(network: BitcoinNetwork, text: string, fail: (reason: string, cause?: unknown) => UnspentError): WifKey {
  if (text.length > EXTENDED_CHARS_MAX) throw fail('the private key is too long');
  const raw = base58(text, fail);
  const isCompressed = raw.length === SECRET_KEY_BYTES + 2 && raw[SECRET_KEY_BYTES + 1] === COMPRESSED_MARK;
  if (!isCompressed && raw.length !== SECRET_KEY_BYTES + 1) throw fail('neither a public key nor a private key of a known form');
  if (raw[0] !== network.keys.wif) throw fail(`the private key is not one of ${network.name}`);
  return { secret: raw.slice(1, 1 + SECRET_KEY_BYTES), isCompressed };
}

function base58(text: string, fail: (reason: string, cause?: unknown) => UnspentError): Uint8Array {
  try {
    return base58check.decode(text);
  } catch (cause) {
    throw fail('expected a key in hex or base58; its characters or its checksum are wrong', cause);
  }
}

/** Whether it can take hardened steps and sign. */
export function hasPrivateKey(key: HDKey): boolean {
  const copy = key.privateKey;
  copy?.fill(0);
  return copy !== null;
}

/** The key without its private part. */
export function publicCopy(key: HDKey): HDKey {
  return HDKey.fromExtendedKey(key.publicExtendedKey, key.versions);
}

/**
 * One step down. Throws DERIVATION_FAILED where the private key is needed, and
 * for the about one index in 2^127 that has no key (BIP32): the library gives
 * the next one instead, which would be a key twice under two names.
 */
export function childKey(key: HDKey, step: number): HDKey {
  if (isHardened(step) && !hasPrivateKey(key)) {
    const message = `step ${formatStep(step)} is hardened: it needs the private key`;
    throw new UnspentError('DERIVATION_FAILED', message, { reason: 'hardened', step: formatStep(step) });
  }
  if (key.depth >= PATH_STEPS_MAX) {
    const message = `a key can be at most ${PATH_STEPS_MAX} steps from its master key`;
    throw new UnspentError('DERIVATION_FAILED', message, { reason: 'depth' });
  }
  const child = key.deriveChild(step);
  if (child.index === step) return child;
  child.wipePrivateData();
  const message = `BIP32 has no key at step ${formatStep(step)} here: take the next one`;
  throw new UnspentError('DERIVATION_FAILED', message, { reason: 'no-key', step: formatStep(step) });
}

/** All steps of a path down. The private keys of those between are wiped. */
export function descendantKey(key: HDKey, path: readonly number[]): HDKey {
  let at = key;
  for (const step of path) {
    const next = childKey(at, step);
    if (at !== key) at.wipePrivateData();
    at = next;
  }
  return at;
}

/** The bytes of its public key: 33. */
export function publicKeyOf(key: HDKey): Uint8Array {
  const { publicKey } = key;
  assert(publicKey !== null, 'an extended key has a public key');
  return publicKey;
}
