/**
 * CSMT proofs as JSON values: paths as text of zeros and ones, hashes as hex.
 */
import { toHex } from '../../util/bytes.ts';
import { type Bits, bitsToText } from '../bits.ts';
import { arrayAt, bitsAt, countAt, hexAt, kindOf, objectAt } from '../json.ts';
import { HASH_BYTES, malformed } from '../verdict.ts';
import { KEY_BITS_MAX } from './hash.ts';
import type { CompletenessProof, ExclusionProof, InclusionProof, Step } from './proof.ts';

/** A step from an entry up to the root. */
export interface StepJson {
  /** Bits of the key that this step accounts for. */
  readonly consumed: number;
  /** The bits on the way to the other child, as text. */
  readonly siblingJump: string;
  /** The hash of the other child, in hex. */
  readonly siblingValue: string;
}

/** A proof that an entry is there, as JSON. */
export interface InclusionJson {
  /** The key, as text of `0` and `1`. */
  readonly key: string;
  /** The value, in hex. */
  readonly value: string;
  /** The bits from the root to its first branch, as text. */
  readonly rootJump: string;
  /** From the root's branch down to the entry. */
  readonly steps: readonly StepJson[];
}

/** A proof that an entry is not there, as JSON. */
export type ExclusionJson =
  | { readonly type: 'empty' }
  | { readonly type: 'witness'; readonly target: string; readonly witness: InclusionJson };

/** A proof that a set is complete, as JSON. */
export type CompletenessJson =
  | { readonly type: 'witness'; readonly merges: readonly (readonly [number, number])[]; readonly steps: readonly StepJson[] }
  | { readonly type: 'empty'; readonly exclusion: ExclusionJson };

const KINDS = ['witness', 'empty'] as const;

/** Writes a proof as JSON. */
export function inclusionToJson(proof: InclusionProof): InclusionJson {
  const { key, value, rootJump, steps } = proof;
  return { key: bitsToText(key), value: toHex(value), rootJump: bitsToText(rootJump), steps: stepsToJson(steps) };
}

/** Reads a proof from JSON; `at` names it in messages. Throws USAGE. */
export function inclusionFromJson(json: unknown, at = 'proof'): InclusionProof {
  const { key, value, rootJump, steps } = objectAt(json, at, ['key', 'value', 'rootJump', 'steps']);
  return {
    key: pathAt(key, `${at}.key`),
    value: hexAt(value, `${at}.value`, HASH_BYTES),
    rootJump: pathAt(rootJump, `${at}.rootJump`),
    steps: stepsFromJson(steps, `${at}.steps`),
  };
}

/** Writes a proof as JSON. */
export function exclusionToJson(proof: ExclusionProof): ExclusionJson {
  if (proof.type === 'empty') return { type: 'empty' };
  return { type: 'witness', target: bitsToText(proof.target), witness: inclusionToJson(proof.witness) };
}

/** Reads a proof from JSON; `at` names it in messages. Throws USAGE. */
export function exclusionFromJson(json: unknown, at = 'proof'): ExclusionProof {
  if (kindOf(json, at, KINDS) === 'empty') {
    objectAt(json, at, ['type']);
    return { type: 'empty' };
  }
  const { target, witness } = objectAt(json, at, ['type', 'target', 'witness']);
  return { type: 'witness', target: pathAt(target, `${at}.target`), witness: inclusionFromJson(witness, `${at}.witness`) };
}

/** Writes a proof as JSON. */
export function completenessToJson(proof: CompletenessProof): CompletenessJson {
  if (proof.type === 'empty') return { type: 'empty', exclusion: exclusionToJson(proof.exclusion) };
  return { type: 'witness', merges: proof.merges, steps: stepsToJson(proof.steps) };
}

/** Reads a proof from JSON; `at` names it in messages. Throws USAGE. */
export function completenessFromJson(json: unknown, at = 'proof'): CompletenessProof {
  if (kindOf(json, at, KINDS) === 'empty') {
    const { exclusion } = objectAt(json, at, ['type', 'exclusion']);
    return { type: 'empty', exclusion: exclusionFromJson(exclusion, `${at}.exclusion`) };
  }
  const { merges, steps } = objectAt(json, at, ['type', 'merges', 'steps']);
  const pairs = arrayAt(merges, `${at}.merges`).map((pair, i) => pairAt(pair, `${at}.merges[${i}]`));
  return { type: 'witness', merges: pairs, steps: stepsFromJson(steps, `${at}.steps`) };
}

function pairAt(value: unknown, at: string): [number, number] {
  const pair = arrayAt(value, at);
  if (pair.length !== 2) malformed(`${at} is not a pair`);
  return [countAt(pair[0], at), countAt(pair[1], at)];
}

function pathAt(value: unknown, at: string): Bits {
  return bitsAt(value, at, KEY_BITS_MAX);
}

function stepsToJson(steps: readonly Step[]): StepJson[] {
  return steps.map(({ consumed, sibling }) => ({
    consumed,
    siblingJump: bitsToText(sibling.jump),
    siblingValue: toHex(sibling.value),
  }));
}

function stepsFromJson(json: unknown, at: string): Step[] {
  return arrayAt(json, at).map((step, i) => {
    const place = `${at}[${i}]`;
    const { consumed, siblingJump, siblingValue } = objectAt(step, place, ['consumed', 'siblingJump', 'siblingValue']);
    return {
      consumed: countAt(consumed, `${place}.consumed`),
      sibling: { jump: pathAt(siblingJump, `${place}.siblingJump`), value: hexAt(siblingValue, `${place}.siblingValue`, HASH_BYTES) },
    };
  });
}
