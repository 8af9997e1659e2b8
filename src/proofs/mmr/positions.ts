/**
 * Where the nodes of a Merkle mountain range stand. Nodes are numbered in the
 * order they come into being: a leaf, then its parents as soon as two equal
 * mountains stand side by side. Positions go beyond 32 bits, so bit operators
 * see only one half of a number at a time; numbers are exact up to 2^53.
 */
import { assert } from '../../util/errors.ts';

/** How many leaves stand before a position, and the height of the node there. */
export interface Place {
  readonly leavesBefore: number;
  readonly height: number;
}

export function placeOf(position: number): Place {
  let mountain = 1;
  while (mountain <= position) mountain *= 2;
  let rest = position;
  let leavesBefore = 0;
  for (mountain -= 1; mountain >= 1; mountain = (mountain - 1) / 2) {
    leavesBefore *= 2;
    if (rest >= mountain) {
      rest -= mountain;
      leavesBefore += 1;
    }
  }
  return { leavesBefore, height: rest };
}

const TWO_32 = 0x1_0000_0000;

function ones(value: number): number {
  return value < TWO_32 ? ones32(value) : ones32(value % TWO_32) + ones32(Math.floor(value / TWO_32));
}

/** Bits of a 32-bit number: pairs, then fours, then bytes, which the product adds up. */
function ones32(value: number): number {
  const pairs = value - ((value >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

/** The position of a leaf, and the size of a range with so many leaves before it. */
export function leafPosition(leafIndex: number): number {
  return 2 * leafIndex - ones(leafIndex);
}

/** Nodes of a range with so many leaves. */
export function sizeOf(leaves: number): number {
  return leafPosition(leaves);
}

/** True when a whole number of insertions leads to this size. */
export function isSize(size: number): boolean {
  return Number.isSafeInteger(size) && size >= 0 && placeOf(size).height === 0;
}

export function leavesIn(size: number): number {
  const { leavesBefore, height } = placeOf(size);
  assert(height === 0, 'a size that is reached');
  return leavesBefore;
}

export interface NodeFamily {
  readonly parent: number;
  readonly sibling: number;
  /** True when the node itself is the right child. */
  readonly right: boolean;
}

export function familyOf(position: number): NodeFamily {
  const { leavesBefore, height } = placeOf(position);
  const half = 2 ** height;
  const right = Math.floor(leavesBefore / half) % 2 === 1;
  return right
    ? { parent: position + 1, sibling: position + 1 - 2 * half, right }
    : { parent: position + 2 * half, sibling: position + 2 * half - 1, right };
}

/** The tops of the mountains, the highest (leftmost) first. */
export function peaksOf(size: number): number[] {
  assert(isSize(size), 'a size that is reached');
  const peaks: number[] = [];
  let mountain = 1;
  while (mountain <= size) mountain *= 2;
  let before = 0;
  for (mountain -= 1; mountain >= 1; mountain = (mountain - 1) / 2) {
    if (size - before < mountain) continue;
    before += mountain;
    peaks.push(before - 1);
  }
  return peaks;
}

/** The way from a node up to its peak, and where that peak stands among the others. */
export interface Climb {
  readonly families: readonly NodeFamily[];
  readonly peaks: readonly number[];
  readonly peak: number;
}

export function climbFrom(position: number, size: number): Climb {
  const families: NodeFamily[] = [];
  let at = position;
  for (let family = familyOf(at); family.parent < size && family.sibling < size; family = familyOf(at)) {
    families.push(family);
    at = family.parent;
  }
  const peaks = peaksOf(size);
  return { families, peaks, peak: peaks.indexOf(at) };
}
