/**
 * MPF proofs as JSON, in the form of the public JavaScript library. Key and
 * value of the proven entry are not a part of it.
 */
import { toHex } from '../../util/bytes.ts';
import { arrayAt, countAt, hexAt, kindOf, objectAt } from '../json.ts';
import { HASH_BYTES } from '../verdict.ts';
import type { Proof, Step } from './proof.ts';

/** A step of a proof as the public library writes it. */
export type StepJson =
  | { readonly type: 'branch'; readonly skip: number; readonly neighbors: string }
  | {
      readonly type: 'fork';
      readonly skip: number;
      readonly neighbor: { readonly nibble: number; readonly prefix: string; readonly root: string };
    }
  | { readonly type: 'leaf'; readonly skip: number; readonly neighbor: { readonly key: string; readonly value: string } };

const KINDS = ['branch', 'fork', 'leaf'] as const;

/** Writes a proof as JSON. */
export function toJson(proof: Proof): StepJson[] {
  return proof.map((step) => {
    const { skip } = step;
    if (step.type === 'branch') return { type: 'branch', skip, neighbors: toHex(step.neighbors) };
    if (step.type === 'fork') {
      const { nibble, prefix, root } = step.neighbor;
      return { type: 'fork', skip, neighbor: { nibble, prefix: toHex(prefix), root: toHex(root) } };
    }
    const { key, value } = step.neighbor;
    return { type: 'leaf', skip, neighbor: { key: toHex(key), value: toHex(value) } };
  });
}

/** Reads a proof from JSON. Throws USAGE. */
export function fromJson(json: unknown): Proof {
  return arrayAt(json, 'proof').map((step, i) => stepFromJson(step, `proof[${i}]`));
}

function stepFromJson(json: unknown, at: string): Step {
  const type = kindOf(json, at, KINDS);
  if (type === 'branch') {
    const { skip, neighbors } = objectAt(json, at, ['type', 'skip', 'neighbors']);
    return { type, skip: countAt(skip, `${at}.skip`), neighbors: hexAt(neighbors, `${at}.neighbors`, 4 * HASH_BYTES) };
  }
  const fields = objectAt(json, at, ['type', 'skip', 'neighbor']);
  const skip = countAt(fields['skip'], `${at}.skip`);
  const place = `${at}.neighbor`;
  if (type === 'leaf') {
    const { key, value } = objectAt(fields['neighbor'], place, ['key', 'value']);
    return { type, skip, neighbor: { key: hexAt(key, `${place}.key`, HASH_BYTES), value: hexAt(value, `${place}.value`, HASH_BYTES) } };
  }
  const { nibble, prefix, root } = objectAt(fields['neighbor'], place, ['nibble', 'prefix', 'root']);
  return {
    type,
    skip,
    neighbor: {
      nibble: countAt(nibble, `${place}.nibble`),
      prefix: hexAt(prefix, `${place}.prefix`),
      root: hexAt(root, `${place}.root`, HASH_BYTES),
    },
  };
}
