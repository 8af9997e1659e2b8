/**
 * MPF proofs as Plutus data in CBOR, byte for byte as the public libraries and
 * the scripts on chain have them. Read in any well-formed encoding of the data:
 * the author of a transaction chooses one.
 */
import { Cursor } from '../../util/cbor.ts';
import { CborWriter } from '../../util/cbor-write.ts';
import { readConstructor, readCount, readPlutusBytes, startConstructor, writePlutusBytes } from '../../util/plutus.ts';
import { decoding, HASH_BYTES } from '../verdict.ts';
import type { Proof, Step } from './proof.ts';

const BRANCH = 0;
const FORK = 1;
const LEAF = 2;
const NEIGHBOR = 0;

/** An empty proof is `9fff` on its own and `80` inside a redeemer. */
export function encode(proof: Proof, where: 'alone' | 'redeemer' = 'alone'): Uint8Array {
  const w = new CborWriter();
  if (proof.length === 0 && where === 'redeemer') return w.array(0).take();
  w.startArray();
  for (const step of proof) writeStep(w, step);
  return w.end().take();
}

function writeStep(w: CborWriter, step: Step): void {
  if (step.type === 'branch') {
    writePlutusBytes(startConstructor(w, BRANCH).uint(step.skip), step.neighbors).end();
  } else if (step.type === 'fork') {
    const { nibble, prefix, root } = step.neighbor;
    startConstructor(startConstructor(w, FORK).uint(step.skip), NEIGHBOR).uint(nibble);
    writePlutusBytes(w, prefix).bytes(root).end().end();
  } else startConstructor(w, LEAF).uint(step.skip).bytes(step.neighbor.key).bytes(step.neighbor.value).end();
}

/** Reads a proof from Plutus data in CBOR. Throws USAGE. */
export function decode(bytes: Uint8Array): Proof {
  return decoding('a forestry proof', () => {
    const c = new Cursor(bytes);
    const proof = readProof(c);
    if (c.at !== bytes.length) c.fail('bytes behind the proof');
    return proof;
  });
}

function readProof(c: Cursor): Step[] {
  const steps: Step[] = [];
  for (let i = 0, n = c.array(); c.more(n, i); i++) steps.push(readStep(c));
  return steps;
}

function readStep(c: Cursor): Step {
  const at = c.at;
  return readConstructor<Step>(c, (alternative, fields) => {
    if (alternative > LEAF) c.fail('no kind of step', at);
    const skip = readCount(fields.next());
    let step: Step;
    if (alternative === BRANCH) step = { type: 'branch', skip, neighbors: readPlutusBytes(fields.next(), 4 * HASH_BYTES) };
    else if (alternative === FORK) step = { type: 'fork', skip, neighbor: readNeighbor(fields.next()) };
    else {
      const key = readPlutusBytes(fields.next(), HASH_BYTES);
      step = { type: 'leaf', skip, neighbor: { key, value: readPlutusBytes(fields.next(), HASH_BYTES) } };
    }
    fields.end();
    return step;
  });
}

function readNeighbor(c: Cursor): { nibble: number; prefix: Uint8Array; root: Uint8Array } {
  const at = c.at;
  return readConstructor(c, (alternative, fields) => {
    if (alternative !== NEIGHBOR) c.fail('no neighbor', at);
    const nibble = readCount(fields.next());
    const prefix = readPlutusBytes(fields.next());
    const root = readPlutusBytes(fields.next(), HASH_BYTES);
    fields.end();
    return { nibble, prefix, root };
  });
}
