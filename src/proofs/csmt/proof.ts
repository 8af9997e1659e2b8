/**
 * Proofs of a compact sparse Merkle tree, and how they are made: that a key has
 * a value, that a key is not there, that these are all entries with a prefix.
 */
import { UnspentError } from '../../util/errors.ts';
import type { Bits } from '../bits.ts';
import type { NodeReader } from '../node-store.ts';
import { jumpOf, type TreeNode, valueBytes } from '../radix/record.ts';
import { descend, eachLeaf, firstLeaf, isFound, type Level, loadBelow, pathOf } from '../radix/walk.ts';
import { CSMT_RULE, type Reference } from './hash.ts';

/** A step of a proof: bits of the key, and the child beside the way. */
export interface Step {
  /** One, and the length of the jump of the child on our path. */
  readonly consumed: number;
  /** The other child. */
  readonly sibling: Reference;
}

/** That an entry is in the tree. */
export interface InclusionProof {
  /** Its key. */
  readonly key: Bits;
  /** Its value. */
  readonly value: Uint8Array;
  /** The bits from the root to its first branch. */
  readonly rootJump: Bits;
  /** From the leaf up to the root. */
  readonly steps: readonly Step[];
  /** Only in the oldest encoding: the root the proof was made for. It is compared, never trusted. */
  readonly statedRoot?: Uint8Array;
}

/** A witness is an entry that leaves the path of the target inside a jump, where nothing branches off. */
export type ExclusionProof =
  | { readonly type: 'empty' }
  | { readonly type: 'witness'; readonly target: Bits; readonly witness: InclusionProof };

/** An entry of the tree. */
export interface Leaf {
  /** Its key. */
  readonly key: Bits;
  /** Its value: 32 bytes. */
  readonly value: Uint8Array;
}

/** The leaves are given apart, in ascending order. A merge `[i, j]` joins two neighbours into entry i. */
export type CompletenessProof =
  | { readonly type: 'witness'; readonly merges: readonly (readonly [number, number])[]; readonly steps: readonly Step[] }
  | { readonly type: 'empty'; readonly exclusion: ExclusionProof };

/** All entries below a prefix, with the proof that there are no others. */
export interface CompleteSet {
  /** In the order of their keys. */
  readonly leaves: readonly Leaf[];
  /** That they are all. */
  readonly proof: CompletenessProof;
}

const { width } = CSMT_RULE;

/** Null: the key is not there. */
export function proveInclusion(nodes: NodeReader, key: Bits): InclusionProof | null {
  const descent = descend(nodes, width, key);
  return isFound(descent, key) ? inclusion(descent.levels, key, descent.node!) : null;
}

/** Null: the key is there. A key that begins an entry, or goes on behind one, can be neither proven nor excluded. */
export function proveExclusion(nodes: NodeReader, target: Bits): ExclusionProof | null {
  const descent = descend(nodes, width, target);
  const { node, depth, shared } = descent;
  if (node === undefined) return { type: 'empty' };
  if (isFound(descent, target)) return null;
  if (shared === node.jumpBits || depth + shared === target.length) {
    throw new UnspentError('USAGE', 'the key begins a key of the tree, or goes on behind one');
  }
  const { levels, leaf, key } = firstLeaf(nodes, width, target, { ...descent, node });
  return { type: 'witness', target, witness: inclusion(levels, key, leaf) };
}

/** All entries whose key begins with the prefix, and the proof that there are no others. More than `leavesMax` are refused (LIMIT). */
export function proveCompleteness(nodes: NodeReader, prefix: Bits, leavesMax = Number.MAX_SAFE_INTEGER): CompleteSet {
  const descent = descend(nodes, width, prefix);
  const { node, depth, shared, levels } = descent;
  if (node === undefined) return { leaves: [], proof: { type: 'empty', exclusion: { type: 'empty' } } };
  if (depth + shared < prefix.length) {
    const exclusion = proveExclusion(nodes, prefix)!;
    return { leaves: [], proof: { type: 'empty', exclusion } };
  }
  const path = pathOf(prefix, depth, node);
  loadBelow(nodes, width, node, path, leavesMax);
  const leaves: Leaf[] = [];
  eachLeaf(node, path, width, (key, leaf) => leaves.push({ key, value: valueBytes(leaf) }));
  const merges: [number, number][] = [];
  mergesOf(node, 0, merges);
  return { leaves, proof: { type: 'witness', merges, steps: stepsOf(levels, node) } };
}

function inclusion(levels: readonly Level[], key: Bits, leaf: TreeNode): InclusionProof {
  const top = levels.length === 0 ? leaf : levels[0].node;
  return { key, value: valueBytes(leaf), rootJump: jumpOf(top), steps: stepsOf(levels, leaf) };
}

function stepsOf(levels: readonly Level[], end: TreeNode): Step[] {
  const steps: Step[] = [];
  let child = end;
  for (let i = levels.length - 1; i >= 0; i--) {
    const { node, branch, slot } = levels[i];
    const sibling = branch.kids[1 - slot]!;
    steps.push({ consumed: 1 + child.jumpBits, sibling: { jump: jumpOf(sibling), value: valueBytes(sibling) } });
    child = node;
  }
  return steps;
}

/** Left part, right part, then both: the order of the reference. Returns the number of leaves. */
function mergesOf(node: TreeNode, first: number, merges: [number, number][]): number {
  if (node.leaf) return 1;
  const left = mergesOf(node.branch!.kids[0]!, first, merges);
  const right = mergesOf(node.branch!.kids[1]!, first + left, merges);
  merges.push([first, first + left]);
  return left + right;
}
