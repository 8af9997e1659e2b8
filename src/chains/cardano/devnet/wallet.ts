/**
 * A key pair made from the seed, with its address: somebody for a newcomer to
 * look at and to fund, and a key a wallet or `cardano-cli` can load. Anyone who
 * knows the seed has the key.
 */
import { createPrivateKey, createPublicKey, type JsonWebKey } from 'node:crypto';
import { blake2b224 } from '../../../crypto/hash.ts';
import { concatBytes, toHex } from '../../../util/bytes.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { Random } from '../../random.ts';

/** PKCS #8 of an Ed25519 key, up to its 32 bytes (RFC 8410). */
const PKCS8_LEAD = Uint8Array.of(0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20);
/** An address of a key alone, on a test network (CIP-19). */
const ENTERPRISE_TESTNET = 0x60;
const WALLET_STREAM = 0x77a1;

export interface Wallet {
  readonly signingKey: Uint8Array;
  readonly verificationKey: Uint8Array;
  readonly address: Uint8Array;
}

export function makeWallet(seed: number): Wallet {
  const signingKey = new Random(seed, WALLET_STREAM).bytes(32);
  const key = createPrivateKey({ key: Buffer.from(concatBytes(PKCS8_LEAD, signingKey)), format: 'der', type: 'pkcs8' });
  const { x } = createPublicKey(key).export({ format: 'jwk' }) as JsonWebKey;
  const verificationKey = new Uint8Array(Buffer.from(x!, 'base64url'));
  const address = concatBytes(Uint8Array.of(ENTERPRISE_TESTNET), blake2b224(verificationKey));
  return { signingKey, verificationKey, address };
}

/** The two key files as `cardano-cli` writes them. */
export function keyFiles({ signingKey, verificationKey }: Wallet): { readonly skey: string; readonly vkey: string } {
  const file = (kind: string, description: string, key: Uint8Array): string =>
    `${JSON.stringify({ type: `Payment${kind}KeyShelley_ed25519`, description, cborHex: toHex(new CborWriter().bytes(key).take()) }, null, 2)}\n`;
  return {
    skey: file('Signing', 'Payment Signing Key', signingKey),
    vkey: file('Verification', 'Payment Verification Key', verificationKey),
  };
}
