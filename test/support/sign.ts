/** Signs transactions with the key of a wallet, as its owner would. */
import { createPrivateKey, sign } from 'node:crypto';
import type { Wallet } from '../../src/chains/cardano/devnet/wallet.ts';
import { blake2b256 } from '../../src/crypto/hash.ts';
import { addSignatures } from '../../src/ledgers/cardano/signatures.ts';
import { Cursor } from '../../src/util/cbor.ts';

export function signTx(tx: Uint8Array, { signingKey, verificationKey }: Wallet): Uint8Array {
  const [d, x] = [signingKey, verificationKey].map((bytes) => Buffer.from(bytes).toString('base64url'));
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' });
  const c = new Cursor(tx);
  c.array();
  const start = c.at;
  c.skip();
  const signature = sign(null, blake2b256(tx, start, c.at), key);
  return addSignatures(tx, [{ key: verificationKey, signature }]);
}
