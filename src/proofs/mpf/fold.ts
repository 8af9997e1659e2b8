/**
 * Folding a proof to a root, from the last step up. Every step is checked
 * before anything is hashed: sizes, ranges, and that a neighbour is really
 * another way than ours. Without the last two a present key can be shown to be
 * absent, which earlier verifiers accept.
 */
import { equalBytes } from '../../util/bytes.ts';
import { type Bits, bitsOf, commonBits } from '../bits.ts';
import { check, checkHash, HASH_BYTES } from '../verdict.ts';
import {
  branchHash,
  branchHashRaw,
  EMPTY_PARTS,
  foldSlot,
  leafHash,
  NIBBLE_BITS,
  NULL_HASH,
  nibbleAt,
  PATH_NIBBLES,
  SLOTS,
} from './hash.ts';
import type { Proof, Step } from './proof.ts';
import { slotRoot } from './slots.ts';

const NEIGHBORS_BYTES = 4 * HASH_BYTES;

/** A step and the nibbles it spans: its prefix from `cursor` to `next`, then the slot. */
export interface Placed {
  readonly step: Step;
  readonly cursor: number;
  readonly next: number;
}

/** Where each step stands; the form of each is checked. */
export function placed(steps: Proof): Placed[] {
  let cursor = 0;
  return steps.map((step) => {
    const { skip } = step;
    check(Number.isInteger(skip) && skip >= 0 && cursor + skip < PATH_NIBBLES, 'a step skips too far');
    const next = cursor + skip;
    checkForm(step, next);
    const place = { step, cursor, next };
    cursor = next + 1;
    return place;
  });
}

function checkForm(step: Step, next: number): void {
  if (step.type === 'branch') {
    check(step.neighbors.length === NEIGHBORS_BYTES, `neighbors are not ${NEIGHBORS_BYTES} bytes`);
  } else if (step.type === 'fork') {
    const { nibble, prefix, root } = step.neighbor;
    check(Number.isInteger(nibble) && nibble >= 0 && nibble < SLOTS, 'a nibble is not between 0 and 15');
    check(
      prefix.every((digit) => digit < SLOTS),
      'a prefix is not of nibbles',
    );
    // The neighbour branches below, so a nibble must be left for its slots.
    check(next + 1 + prefix.length < PATH_NIBBLES, 'a prefix is too long');
    checkHash(root, 'the root of a neighbor');
  } else {
    checkHash(step.neighbor.key, 'the key of a neighbor');
    checkHash(step.neighbor.value, 'the value of a neighbor');
  }
}

/** That a neighbour leaves our path exactly where the step says. */
function checkApart(path: Bits, { step, next }: Placed): void {
  if (step.type === 'fork') check(step.neighbor.nibble !== nibbleAt(path, next), 'a neighbor is on our own path');
  if (step.type === 'leaf') {
    const common = commonBits(bitsOf(step.neighbor.key), 0, path, 0);
    check(Math.floor(common / NIBBLE_BITS) === next, 'a neighbor does not leave our path where the step says');
  }
  if (step.type === 'branch') checkBranch(step.neighbors);
}

/** A branch step has two other children at least; where all parts but the single slot are empty, it has one at most. */
function checkBranch(neighbors: Uint8Array): void {
  const empty = [3, 2, 1].every((height, i) => equalBytes(neighborAt(neighbors, i), EMPTY_PARTS[height]));
  check(!empty, 'a branch step with fewer than two neighbors');
}

function neighborAt(neighbors: Uint8Array, i: number): Uint8Array {
  return neighbors.subarray(HASH_BYTES * i, HASH_BYTES * (i + 1));
}

/** The root of a trie where the path has this value (its hash); null: where it is absent. */
export function fold(path: Bits, valueHash: Uint8Array | null, steps: Proof): Uint8Array {
  const places = placed(steps);
  for (const place of places) checkApart(path, place);
  const last = places.at(-1);
  if (valueHash !== null) return foldUp(path, places, leafHash(path, last === undefined ? 0 : last.next + 1, valueHash));
  if (last === undefined) return NULL_HASH;
  const { step, cursor, next } = last;
  if (step.type === 'branch') return foldUp(path, places, NULL_HASH);
  // Without us the neighbour alone stands in the place of that branch.
  const alone =
    step.type === 'leaf' ? leafHash(bitsOf(step.neighbor.key), cursor, step.neighbor.value) : mergedFork(path, cursor, next, step.neighbor);
  return foldUp(path, places.slice(0, -1), alone);
}

function mergedFork(
  path: Bits,
  cursor: number,
  next: number,
  { nibble, prefix, root }: { readonly nibble: number; readonly prefix: Uint8Array; readonly root: Uint8Array },
): Uint8Array {
  const whole = new Uint8Array(next - cursor + 1 + prefix.length);
  for (let i = cursor; i < next; i++) whole[i - cursor] = nibbleAt(path, i);
  whole[next - cursor] = nibble;
  whole.set(prefix, next - cursor + 1);
  return branchHashRaw(whole, root);
}

/** From the node below the last of these steps to the root. */
function foldUp(path: Bits, places: readonly Placed[], node: Uint8Array): Uint8Array {
  let me = node;
  for (let i = places.length - 1; i >= 0; i--) me = foldStep(path, places[i], me);
  return me;
}

function foldStep(path: Bits, place: Placed, me: Uint8Array): Uint8Array {
  const { step, next } = place;
  if (step.type === 'branch') return foldBranch(path, place, me, step.neighbors);
  if (step.type === 'fork') {
    const { nibble, prefix, root } = step.neighbor;
    return foldPair(path, place, me, nibble, branchHashRaw(prefix, root));
  }
  const neighbor = bitsOf(step.neighbor.key);
  return foldPair(path, place, me, nibbleAt(neighbor, next), leafHash(neighbor, next + 1, step.neighbor.value));
}

export function foldBranch(path: Bits, { cursor, next }: Placed, me: Uint8Array, neighbors: Uint8Array): Uint8Array {
  const slot = nibbleAt(path, next);
  let root = me;
  for (let height = 0; height < 4; height++) root = foldSlot(root, neighborAt(neighbors, 3 - height), (slot >> height) & 1);
  return branchHash(path, cursor, next, root);
}

/** A branch with two children: us, and a neighbour in its slot. */
export function foldPair(path: Bits, { cursor, next }: Placed, me: Uint8Array, nibble: number, neighbor: Uint8Array): Uint8Array {
  const slots: (Uint8Array | undefined)[] = new Array(SLOTS).fill(undefined);
  slots[nibbleAt(path, next)] = me;
  slots[nibble] = neighbor;
  return branchHash(path, cursor, next, slotRoot(slots));
}
