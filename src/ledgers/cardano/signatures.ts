/**
 * Signatures of transactions: read, and put into a transaction that was built
 * without them. The body stays byte for byte what was signed.
 *
 * CDDL: cardano-ledger, conway.cddl, `transaction_witness_set`.
 */
import { concatBytes } from '../../util/bytes.ts';
import { Cursor } from '../../util/cbor.ts';
import { CborWriter } from '../../util/cbor-write.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { enterSet } from './describe.ts';

const SIGNATURES_KEY = 0;
const BOOTSTRAP_KEY = 2;
const TAG_SET = 258;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** An Ed25519 signature of a transaction's id. */
export interface TxSignature {
  /** The public key, 32 bytes. */
  readonly key: Uint8Array;
  /** 64 bytes. */
  readonly signature: Uint8Array;
}

/** The transaction with these signatures beside those that it has. Throws USAGE when it is none, or a key or a signature has another length. */
export function addSignatures(tx: Uint8Array, signatures: readonly TxSignature[]): Uint8Array {
  for (const { key, signature } of signatures) {
    if (key.length !== KEY_BYTES || signature.length !== SIGNATURE_BYTES)
      throw new UnspentError(
        'USAGE',
        `a key has ${KEY_BYTES} bytes and a signature ${SIGNATURE_BYTES}, not ${key.length} and ${signature.length}`,
      );
  }
  try {
    return withSignatures(new Cursor(tx), signatures);
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    throw new UnspentError('USAGE', `these bytes are no transaction: ${error.message}`, {}, error);
  }
}

function withSignatures(c: Cursor, signatures: readonly TxSignature[]): Uint8Array {
  c.tuple(4, 'transaction');
  c.skip();
  const before = c.bytes.subarray(0, c.at);
  const all: TxSignature[] = [];
  const others: Uint8Array[] = [];
  for (let i = 0, fields = c.map(); c.more(fields, i); i++) {
    const start = c.at;
    if (c.uint() === SIGNATURES_KEY) all.push(...readSignatures(c));
    else {
      c.skip();
      others.push(c.bytes.subarray(start, c.at));
    }
  }
  all.push(...signatures);
  const w = new CborWriter(256)
    .map(1 + others.length)
    .uint(SIGNATURES_KEY)
    .tag(TAG_SET)
    .array(all.length);
  for (const { key, signature } of all) w.array(2).bytes(key).bytes(signature);
  return concatBytes(before, w.take(), ...others, c.bytes.subarray(c.at));
}

/** The entry of a witness set at the cursor: a list, or since Conway a set. Throws BLOCK_INVALID with the position. */
export function readSignatures(c: Cursor): TxSignature[] {
  const found: TxSignature[] = [];
  for (let i = 0, count = enterSet(c); c.more(count, i); i++) {
    const pair = c.tuple(2, 'a signature');
    const [key, signature] = [c.byteString(), c.byteString()];
    if (key.length !== KEY_BYTES || signature.length !== SIGNATURE_BYTES) c.fail('a key or a signature of another length');
    c.close(pair);
    found.push({ key, signature });
  }
  return found;
}

/** Who signed: with a key, or for an address of Byron, whose chain code and attributes are then beside it. */
export interface Signatory extends TxSignature {
  readonly chainCode: Uint8Array | null;
  readonly attributes: Uint8Array | null;
}

/** Of a witness set from Shelley on, those for addresses of Byron first. Throws BLOCK_INVALID. */
export function readSignatories(witnesses: Uint8Array): Signatory[] {
  const c = new Cursor(witnesses);
  const [byron, others]: Signatory[][] = [[], []];
  for (let i = 0, fields = c.map(); c.more(fields, i); i++) {
    const key = c.uint();
    if (key === SIGNATURES_KEY) others.push(...readSignatures(c).map((each) => ({ ...each, chainCode: null, attributes: null })));
    else if (key === BOOTSTRAP_KEY) byron.push(...readBootstrap(c));
    else c.skip();
  }
  return [...byron, ...others];
}

function readBootstrap(c: Cursor): Signatory[] {
  const found: Signatory[] = [];
  for (let i = 0, count = enterSet(c); c.more(count, i); i++) {
    const fields = c.tuple(4, 'a bootstrap witness');
    found.push({ key: c.byteString(), signature: c.byteString(), chainCode: c.byteString(), attributes: c.byteString() });
    c.close(fields);
  }
  return found;
}
