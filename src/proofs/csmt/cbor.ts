/**
 * CSMT proofs as CBOR, in the form of the public service: arrays, with paths as
 * arrays of zeros and ones. One proof has one encoding: what is not exactly what
 * we would write (definite lengths, shortest integers, nothing behind it) is
 * refused. The oldest form of an inclusion proof, with the root as third of five
 * elements, is read too.
 */
import { equalBytes } from '../../util/bytes.ts';
import { Cursor } from '../../util/cbor.ts';
import { CborWriter } from '../../util/cbor-write.ts';
import { type Bits, bitAt } from '../bits.ts';
import { decoding, HASH_BYTES, malformed } from '../verdict.ts';
import { KEY_BITS_MAX } from './hash.ts';
import type { CompletenessProof, ExclusionProof, InclusionProof, Step } from './proof.ts';

const WITNESS_EXCLUSION = 1;
const EMPTY_EXCLUSION = 0;
const WITNESS_COMPLETENESS = 0;
const EMPTY_COMPLETENESS = 1;

/** A proof that an entry is there, in CBOR. */
export function encodeInclusion(proof: InclusionProof): Uint8Array {
  return writeInclusion(new CborWriter(), proof).take();
}

/** Reads that. Throws USAGE. */
export function decodeInclusion(bytes: Uint8Array): InclusionProof {
  return decodeWhole(bytes, 'an inclusion proof', readInclusion, encodeInclusion);
}

/** A proof that an entry is not there, in CBOR. */
export function encodeExclusion(proof: ExclusionProof): Uint8Array {
  return writeExclusion(new CborWriter(), proof).take();
}

/** Reads that. Throws USAGE. */
export function decodeExclusion(bytes: Uint8Array): ExclusionProof {
  return decodeWhole(bytes, 'an exclusion proof', readExclusion, encodeExclusion);
}

/** A proof that a set is complete, in CBOR. */
export function encodeCompleteness(proof: CompletenessProof): Uint8Array {
  const w = new CborWriter();
  if (proof.type === 'empty') return writeExclusion(w.array(2).uint(EMPTY_COMPLETENESS), proof.exclusion).take();
  w.array(3).uint(WITNESS_COMPLETENESS).array(proof.merges.length);
  for (const [i, j] of proof.merges) w.array(2).uint(i).uint(j);
  return writeSteps(w, proof.steps).take();
}

/** Reads that. Throws USAGE. */
export function decodeCompleteness(bytes: Uint8Array): CompletenessProof {
  return decodeWhole(bytes, 'a completeness proof', readCompleteness, encodeCompleteness);
}

function decodeWhole<T>(bytes: Uint8Array, what: string, read: (c: Cursor) => T, encode: (proof: T) => Uint8Array): T {
  return decoding(what, () => {
    const proof = read(new Cursor(bytes));
    if (!equalBytes(encode(proof), bytes)) malformed(`${what} that is not in its one encoding, or has bytes behind it`);
    return proof;
  });
}

function writeBits(w: CborWriter, bits: Bits): CborWriter {
  // A bit is an integer of one byte.
  const items = new Uint8Array(bits.length);
  for (let i = 0; i < items.length; i++) items[i] = bitAt(bits, i);
  return w.array(items.length).raw(items);
}

function readBits(c: Cursor): Bits {
  const at = c.at;
  const length = c.array();
  if (length < 0 || length > KEY_BITS_MAX) c.fail(`a path is an array of at most ${KEY_BITS_MAX} bits`, at);
  const bytes = new Uint8Array((length + 7) >> 3);
  // `array` has checked that there are as many bytes left.
  for (let i = 0; i < length; i++) {
    const bit = c.bytes[c.at + i];
    if (bit > 1) c.fail('a bit is 0 or 1', c.at + i);
    bytes[i >> 3] |= bit << (7 - (i & 7));
  }
  c.at += length;
  return { bytes, length };
}

function readHash(c: Cursor): Uint8Array {
  c.span(HASH_BYTES);
  return c.bytes.slice(c.start, c.stop);
}

function writeInclusion(w: CborWriter, proof: InclusionProof): CborWriter {
  const { key, value, rootJump, steps, statedRoot } = proof;
  writeBits(w.array(statedRoot === undefined ? 4 : 5), key).bytes(value);
  if (statedRoot !== undefined) w.bytes(statedRoot);
  return writeBits(writeSteps(w, steps), rootJump);
}

function readInclusion(c: Cursor): InclusionProof {
  const at = c.at;
  const fields = c.array();
  if (fields !== 4 && fields !== 5) c.fail('an inclusion proof has four elements', at);
  const key = readBits(c);
  const value = readHash(c);
  const stated = fields === 5 ? { statedRoot: readHash(c) } : {};
  const steps = readSteps(c);
  return { key, value, rootJump: readBits(c), steps, ...stated };
}

function writeSteps(w: CborWriter, steps: readonly Step[]): CborWriter {
  w.array(steps.length);
  for (const { consumed, sibling } of steps) writeBits(w.array(2).uint(consumed).array(2), sibling.jump).bytes(sibling.value);
  return w;
}

function readSteps(c: Cursor): Step[] {
  const steps: Step[] = [];
  for (let i = 0, n = c.array(); c.more(n, i); i++) {
    c.tuple(2, 'a step');
    const consumed = c.uint();
    c.tuple(2, 'a sibling');
    const jump = readBits(c);
    steps.push({ consumed, sibling: { jump, value: readHash(c) } });
  }
  return steps;
}

function writeExclusion(w: CborWriter, proof: ExclusionProof): CborWriter {
  if (proof.type === 'empty') return w.array(1).uint(EMPTY_EXCLUSION);
  return writeInclusion(writeBits(w.array(3).uint(WITNESS_EXCLUSION), proof.target), proof.witness);
}

function readExclusion(c: Cursor): ExclusionProof {
  const at = c.at;
  const fields = c.array();
  const kind = c.uint();
  if (kind === EMPTY_EXCLUSION && fields === 1) return { type: 'empty' };
  if (kind !== WITNESS_EXCLUSION || fields !== 3) c.fail('no kind of exclusion proof', at);
  const target = readBits(c);
  return { type: 'witness', target, witness: readInclusion(c) };
}

function readCompleteness(c: Cursor): CompletenessProof {
  const at = c.at;
  const fields = c.array();
  const kind = c.uint();
  if (kind === EMPTY_COMPLETENESS && fields === 2) return { type: 'empty', exclusion: readExclusion(c) };
  if (kind !== WITNESS_COMPLETENESS || fields !== 3) c.fail('no kind of completeness proof', at);
  const merges: [number, number][] = [];
  for (let i = 0, n = c.array(); c.more(n, i); i++) {
    c.tuple(2, 'a merge');
    merges.push([c.uint(), c.uint()]);
  }
  return { type: 'witness', merges, steps: readSteps(c) };
}
