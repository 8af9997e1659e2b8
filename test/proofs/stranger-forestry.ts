/**
 * A verifier of forestries, written from docs/proofs.md ("mpf: a forestry") alone,
 * with none of our own code. A proof is given in the JSON of the public library.
 */
import { blake2b } from '@noble/hashes/blake2.js';

export type ForestryStep =
  | { readonly type: 'branch'; readonly skip: number; readonly neighbors: string }
  | {
      readonly type: 'fork';
      readonly skip: number;
      readonly neighbor: { readonly nibble: number; readonly prefix: string; readonly root: string };
    }
  | { readonly type: 'leaf'; readonly skip: number; readonly neighbor: { readonly key: string; readonly value: string } };

const H = (...parts: Uint8Array[]): Buffer => Buffer.from(blake2b(Buffer.concat(parts), { dkLen: 32 }));
const ZEROS = Buffer.alloc(32);
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const nibblesOf = (bytes: Uint8Array): number[] => [...bytes].flatMap((byte) => [byte >> 4, byte & 15]);

function packed(suffix: readonly number[]): Buffer {
  const isOdd = suffix.length % 2 === 1;
  const head = isOdd ? [0x00, suffix[0]] : [0xff];
  const rest = isOdd ? suffix.slice(1) : suffix;
  const pairs = Array.from({ length: rest.length / 2 }, (_, i) => (rest[2 * i] << 4) | rest[2 * i + 1]);
  return Buffer.from([...head, ...pairs]);
}

const leaf = (suffix: readonly number[], valueHash: Uint8Array): Buffer => H(packed(suffix), valueHash);
const branch = (prefix: readonly number[], R: Uint8Array): Buffer => H(Buffer.from(prefix), R);

/** The root of a tree over as many slots as there are. */
function slotRoot(slots: readonly Buffer[]): Buffer {
  if (slots.length === 1) return slots[0];
  const half = slots.length / 2;
  return H(slotRoot(slots.slice(0, half)), slotRoot(slots.slice(half)));
}

const emptySlots = (count: number): Buffer => slotRoot(Array.from({ length: count }, () => ZEROS));

function twoSlots(ours: number, acc: Buffer, other: number, neighbor: Buffer): Buffer {
  return slotRoot(Array.from({ length: 16 }, (_, i) => (i === ours ? acc : i === other ? neighbor : ZEROS)));
}

/** `value` null: the key is absent. */
export function forestryHolds(root: Uint8Array, key: Uint8Array, value: Uint8Array | null, steps: readonly ForestryStep[]): boolean {
  const path = nibblesOf(H(key));
  const places: { readonly step: ForestryStep; readonly cursor: number; readonly next: number }[] = [];
  let cursor = 0;
  for (const step of steps) {
    const next = cursor + step.skip;
    if (next >= 64 || !isSound(step, path, next)) return false;
    places.push({ step, cursor, next });
    cursor = next + 1;
  }
  let acc = value === null ? ZEROS : leaf(path.slice(cursor), H(value));
  const last = places.at(-1);
  if (value === null && last !== undefined && last.step.type !== 'branch') {
    const { step, cursor: from, next } = places.pop()!;
    if (step.type === 'leaf') acc = leaf(nibblesOf(hex(step.neighbor.key)).slice(from), hex(step.neighbor.value));
    else if (step.type === 'fork')
      acc = branch([...path.slice(from, next), step.neighbor.nibble, ...hex(step.neighbor.prefix)], hex(step.neighbor.root));
  }
  for (const { step, cursor: from, next } of places.toReversed()) acc = branch(path.slice(from, next), slotsOf(step, path, next, acc));
  return acc.equals(root);
}

function isSound(step: ForestryStep, path: readonly number[], next: number): boolean {
  if (step.type === 'branch') {
    const neighbors = hex(step.neighbors);
    return neighbors.length === 128 && ![8, 4, 2].every((slots, i) => neighbors.subarray(32 * i, 32 * i + 32).equals(emptySlots(slots)));
  }
  if (step.type === 'leaf') {
    const common = nibblesOf(hex(step.neighbor.key)).findIndex((nibble, i) => nibble !== path[i]);
    return common === next;
  }
  const { nibble, prefix } = step.neighbor;
  return nibble < 16 && nibble !== path[next] && hex(prefix).every((digit) => digit < 16) && next + 1 + hex(prefix).length < 64;
}

function slotsOf(step: ForestryStep, path: readonly number[], next: number, acc: Buffer): Buffer {
  const slot = path[next];
  if (step.type === 'fork')
    return twoSlots(slot, acc, step.neighbor.nibble, branch([...hex(step.neighbor.prefix)], hex(step.neighbor.root)));
  if (step.type === 'leaf') {
    const other = nibblesOf(hex(step.neighbor.key));
    return twoSlots(slot, acc, other[next], leaf(other.slice(next + 1), hex(step.neighbor.value)));
  }
  let R = acc;
  for (let bit = 0; bit < 4; bit++) {
    const other = hex(step.neighbors).subarray(32 * (3 - bit), 32 * (4 - bit));
    R = ((slot >> bit) & 1) === 0 ? H(R, other) : H(other, R);
  }
  return R;
}
