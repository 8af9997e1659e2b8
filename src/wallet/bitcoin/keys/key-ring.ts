/**
 * The private keys of a wallet, found by where a key comes from: the keys of a
 * partially signed transaction say that. A key is given out only if it is the one
 * of the public key that was asked for.
 */
import { pubECDSA } from '@scure/btc-signer/utils.js';
import { equalBytes } from '../../../util/bytes.ts';
import type { PrivateKey } from './descriptor-key.ts';
import { descendantKey, type HDKey } from './extended-key.ts';
import type { KeyOrigin } from './key-path.ts';

export class KeyRing {
  // With `#`, so that no logger that prints an object prints a private key.
  readonly #keys: readonly PrivateKey[];

  constructor(keys: readonly PrivateKey[]) {
    this.#keys = keys;
  }

  /**
   * The private key (32 bytes) of a public key of 33, 65 or 32 bytes that comes
   * from there; null: it is not ours. The caller wipes it.
   */
  find(origin: KeyOrigin, publicKey: Uint8Array): Uint8Array | null {
    for (const entry of this.#keys) {
      const secret = 'key' in entry ? secretBelow(entry.key, entry.origin, origin) : Uint8Array.from(entry.secret);
      if (secret === null) continue;
      if (isSecretOf(secret, publicKey)) return secret;
      secret.fill(0);
    }
    return null;
  }

  /** Overwrites all keys, as far as the program can reach them: copies that the engine made are beyond it. */
  wipe(): void {
    for (const entry of this.#keys) {
      if ('key' in entry) entry.key.wipePrivateData();
      else entry.secret.fill(0);
    }
  }
}

/** Null: the place is not below that key. */
function secretBelow(key: HDKey, from: KeyOrigin, to: KeyOrigin): Uint8Array | null {
  if (from.fingerprint !== to.fingerprint || from.path.some((step, i) => to.path[i] !== step)) return null;
  const below = descendantKey(key, to.path.slice(from.path.length));
  const secret = below.privateKey;
  if (below !== key) below.wipePrivateData();
  return secret;
}

function isSecretOf(secret: Uint8Array, publicKey: Uint8Array): boolean {
  if (publicKey.length === 32) return equalBytes(pubECDSA(secret, true).subarray(1), publicKey);
  return equalBytes(pubECDSA(secret, publicKey.length === 33), publicKey);
}
