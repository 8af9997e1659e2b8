/**
 * Spending by key: whether the signature of an input that spends P2WPKH is one
 * (BIP143). With it a wallet can spend on a chain of this process what it was
 * paid there, as on any other. Other scripts with keys are not spent here.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256, sha256d } from '../../../crypto/sha256.ts';
import { p2pkhScript } from '../../../ledgers/bitcoin/address.ts';
import type { DescribedTx } from '../../../ledgers/bitcoin/describe.ts';
import { concatBytes, equalBytes, fromHex } from '../../../util/bytes.ts';
import type { Coin } from './coins.ts';
import { run, u32, u64 } from './encode.ts';

const SIGHASH_ALL = 1;
const KEY_BYTES = 33;
/** What stands before a compressed point of secp256k1 in a public key as DER. */
const KEY_HEAD = fromHex('3036301006072a8648ce3d020106052b8104000a032200');
const FALSE_TOP = 'Script evaluated without error but finished with a false/empty top stack element';

/** Null: it may be spent so. Else why not, in words a node would use. `program`: the hash of the key. */
export function whyKeyLocked(tx: DescribedTx, input: number, { value }: Pick<Coin, 'value'>, program: Uint8Array): string | null {
  const { scriptSig, witness } = tx.inputs[input];
  if (scriptSig.length > 0) return 'Witness requires empty scriptSig';
  if (witness.length !== 2) return 'Witness program hash mismatch';
  const [signature, key] = witness;
  if (key.length !== KEY_BYTES) return 'Using non-compressed keys in segwit';
  if (!equalBytes(ripemd160(sha256(key)), program)) return FALSE_TOP;
  if (signature.at(-1) !== SIGHASH_ALL) return 'this chain knows no signatures but those of the whole transaction';
  const publicKey = readKey(key);
  const message = sha256(signedBytes(tx, input, p2pkhScript(program), value));
  const isValid = publicKey !== null && verify('sha256', message, publicKey, signature.subarray(0, -1));
  return isValid ? null : FALSE_TOP;
}

/** Null: it is no point of the curve. */
function readKey(key: Uint8Array): KeyObject | null {
  try {
    return createPublicKey({ key: Buffer.from(concatBytes(KEY_HEAD, key)), format: 'der', type: 'spki' });
  } catch {
    return null;
  }
}

/** What a signature of the whole transaction is of (BIP143); hashed twice, of which `verify` does the second. */
function signedBytes({ version, lockTime, inputs, outputs }: DescribedTx, at: number, scriptCode: Uint8Array, value: bigint): Uint8Array {
  const outpoint = ({ txId, index }: DescribedTx['inputs'][number]): Uint8Array => concatBytes(txId, u32(index));
  return concatBytes(
    u32(version),
    sha256d(concatBytes(...inputs.map(outpoint))),
    sha256d(concatBytes(...inputs.map(({ sequence }) => u32(sequence)))),
    outpoint(inputs[at]),
    ...run(scriptCode),
    u64(value),
    u32(inputs[at].sequence),
    sha256d(concatBytes(...outputs.flatMap(({ value: amount, script }) => [u64(amount), ...run(script)]))),
    u32(lockTime),
    u32(SIGHASH_ALL),
  );
}
