/**
 * The two short encodings of a CSMT inclusion proof, for a verifier that knows
 * the key and the value already: compact CBOR, and Plutus data for scripts.
 * The compact one is exact (definite lengths, shortest integers, nothing behind
 * it); Plutus data is read in any well-formed encoding, and paths inside it
 * must still be packed in the one right way.
 */
import { equalBytes, readU16 } from '../../util/bytes.ts';
import { Cursor } from '../../util/cbor.ts';
import { CborWriter } from '../../util/cbor-write.ts';
import { readConstructor, readCount, readPlutusBytes, startConstructor, writePlutusBytes } from '../../util/plutus.ts';
import { type Bits, isBits } from '../bits.ts';
import { decoding, HASH_BYTES, malformed } from '../verdict.ts';
import { KEY_BITS_MAX, serializePath } from './hash.ts';
import type { InclusionProof, Leaf, Step } from './proof.ts';

const CONSTRUCTOR = 0;
const PATH_BYTES_MIN = 2;

/** A proof in CBOR for a verifier that knows key and value already. */
export function encodeCompact(proof: InclusionProof): Uint8Array {
  const w = new CborWriter().array(1 + proof.steps.length).bytes(serializePath(proof.rootJump));
  for (const { consumed, sibling } of proof.steps) {
    w.array(3).uint(consumed).bytes(serializePath(sibling.jump)).bytes(sibling.value);
  }
  return w.take();
}

/** Reads that; key and value are the verifier's. Throws USAGE. */
export function decodeCompact(bytes: Uint8Array, { key, value }: Leaf): InclusionProof {
  const what = 'a compact inclusion proof';
  return decoding(what, () => {
    const c = new Cursor(bytes);
    const count = c.array();
    if (count < 1) c.fail('a compact proof begins with the root jump', 0);
    const rootJump = readPath(c, c.byteString());
    const steps: Step[] = [];
    for (let i = 1; i < count; i++) {
      c.tuple(3, 'a step');
      const consumed = c.uint();
      const jump = readPath(c, c.byteString());
      c.span(HASH_BYTES);
      steps.push({ consumed, sibling: { jump, value: bytes.slice(c.start, c.stop) } });
    }
    const proof = { key, value, rootJump, steps };
    if (!equalBytes(encodeCompact(proof), bytes)) malformed(`${what} that is not in its one encoding, or has bytes behind it`);
    return proof;
  });
}

/** The same as Plutus data, for scripts on chain. */
export function encodePlutus(proof: InclusionProof): Uint8Array {
  const w = startConstructor(new CborWriter(), CONSTRUCTOR);
  writePlutusBytes(w, serializePath(proof.rootJump));
  for (const { consumed, sibling } of proof.steps) {
    startConstructor(w, CONSTRUCTOR).uint(consumed);
    writePlutusBytes(w, serializePath(sibling.jump)).bytes(sibling.value).end();
  }
  return w.end().take();
}

/** Reads that; key and value are the verifier's. Throws USAGE. */
export function decodePlutus(bytes: Uint8Array, { key, value }: Leaf): InclusionProof {
  return decoding('an inclusion proof in Plutus data', () => {
    const c = new Cursor(bytes);
    const proof = readConstructor(c, (alternative, fields) => {
      if (alternative !== CONSTRUCTOR) c.fail('a proof is constructor 0');
      const rootJump = readPath(c, readPlutusBytes(fields.next()));
      const steps: Step[] = [];
      while (fields.more()) steps.push(readStep(c));
      return { key, value, rootJump, steps };
    });
    if (c.at !== bytes.length) c.fail('bytes behind the proof');
    return proof;
  });
}

function readStep(c: Cursor): Step {
  return readConstructor(c, (alternative, fields) => {
    if (alternative !== CONSTRUCTOR) c.fail('a step is constructor 0');
    const consumed = readCount(fields.next());
    const jump = readPath(c, readPlutusBytes(fields.next()));
    const value = readPlutusBytes(fields.next(), HASH_BYTES);
    fields.end();
    return { consumed, sibling: { jump, value } };
  });
}

/** `u16 bits, packed path`, exactly. */
function readPath(c: Cursor, serialized: Uint8Array): Bits {
  if (serialized.length < PATH_BYTES_MIN) c.fail('a path is cut');
  const bits = { bytes: serialized.slice(PATH_BYTES_MIN), length: readU16(serialized, 0) };
  if (!isBits(bits, KEY_BITS_MAX)) c.fail(`a path is not packed right, or longer than ${KEY_BITS_MAX} bits`);
  return bits;
}
