/** Signs transactions with the key of a wallet, as its owner would. */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Wallet } from '../../src/chains/cardano/devnet/wallet.ts';
import { blake2b256 } from '../../src/crypto/hash.ts';
import { addSignatures } from '../../src/ledgers/cardano/signatures.ts';
import { Cursor } from '../../src/util/cbor.ts';

export function privateKeyOf({ signingKey, verificationKey }: Wallet): KeyObject {
  const [d, x] = [signingKey, verificationKey].map((bytes) => Buffer.from(bytes).toString('base64url'));
  return createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' });
}

export function signTx(tx: Uint8Array, wallet: Wallet): Uint8Array {
  const c = new Cursor(tx);
  c.array();
  const start = c.at;
  c.skip();
  const signature = sign(null, blake2b256(tx, start, c.at), privateKeyOf(wallet));
  return addSignatures(tx, [{ key: wallet.verificationKey, signature }]);
}
