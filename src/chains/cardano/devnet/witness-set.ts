/**
 * The parts of a transaction's witness set that the devnet looks at: signatures
 * and what its scripts may use. Scripts and datums are not read.
 *
 * CDDL: cardano-ledger, conway.cddl, `transaction_witness_set`.
 */
import { createPublicKey, verify } from 'node:crypto';
import { blake2b224 } from '../../../crypto/hash.ts';
import type { ExecutionUnits } from '../../../ledgers/cardano/protocol-parameters.ts';
import { readSignatures, type TxSignature } from '../../../ledgers/cardano/signatures.ts';
import { concatBytes, toHex } from '../../../util/bytes.ts';
import { type Cursor, MAP } from '../../../util/cbor.ts';

const SIGNATURES_KEY = 0;
const REDEEMERS_KEY = 5;
/** SubjectPublicKeyInfo of an Ed25519 key, up to its 32 bytes (RFC 8410). */
const SPKI_LEAD = Uint8Array.of(0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00);

export interface WitnessSet {
  readonly signatures: readonly TxSignature[];
  /** Of all scripts together; null: none is run. */
  readonly units: ExecutionUnits | null;
}

/** Reads the set at the cursor and leaves the cursor behind it. Throws BLOCK_INVALID with the position. */
export function readWitnessSet(c: Cursor): WitnessSet {
  const signatures: TxSignature[] = [];
  let units: ExecutionUnits | null = null;
  for (let i = 0, fields = c.map(); c.more(fields, i); i++) {
    const key = c.uint();
    if (key === SIGNATURES_KEY) signatures.push(...readSignatures(c));
    else if (key === REDEEMERS_KEY) units = readUnits(c);
    else c.skip();
  }
  return { signatures, units };
}

/** A map `{[purpose, index]: [data, units]}`, or the older list `[[purpose, index, data, units]]`. */
function readUnits(c: Cursor): ExecutionUnits {
  const isMap = c.peek() === MAP;
  let [memory, steps] = [0n, 0n];
  for (let i = 0, count = isMap ? c.map() : c.array(); c.more(count, i); i++) {
    let fields = c.tuple(isMap ? 2 : 4, 'a redeemer');
    c.skip();
    c.skip();
    if (isMap) {
      c.close(fields);
      fields = c.tuple(2, 'a redeemer');
    }
    c.skip();
    const pair = c.tuple(2, 'execution units');
    memory += c.bigUint();
    steps += c.bigUint();
    c.close(pair);
    c.close(fields);
  }
  return { memory, steps };
}

/** Hashes of the keys that have signed, in hex; null: one of the signatures is not of its key. */
export function signersOf(id: Uint8Array, signatures: readonly TxSignature[]): ReadonlySet<string> | null {
  const signers = new Set<string>();
  for (const { key, signature } of signatures) {
    const publicKey = createPublicKey({ key: Buffer.from(concatBytes(SPKI_LEAD, key)), format: 'der', type: 'spki' });
    if (!verify(null, id, publicKey, signature)) return null;
    signers.add(toHex(blake2b224(key)));
  }
  return signers;
}
